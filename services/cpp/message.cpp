// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "message.hpp"

#include <algorithm>
#include <cstddef>

namespace services {
namespace {

constexpr std::size_t kHeaderLength = 9;
constexpr int kLengthBits = 64;

constexpr std::uint8_t kText = 1;
constexpr std::uint8_t kBytes = 2;
// There is no content, and no further message.
constexpr std::uint8_t kEnd = 3;
// The content is text that says what is wrong, and there is no further message.
constexpr std::uint8_t kError = 4;
// Added to the kind of a message that is sent back.
constexpr std::uint8_t kReply = 0x80;

void WriteHeader(std::uint8_t kind, std::uint64_t length, std::string& output) {
  output += static_cast<char>(kind | kReply);
  for (int shift = kLengthBits - 8; shift >= 0; shift -= 8) {
    output += static_cast<char>(length >> shift);
  }
}

}  // namespace

std::uint64_t Echo::Take(std::string_view bytes, std::string& output) {
  std::uint64_t answered = 0;
  while (!bytes.empty() && !is_last_) {
    if (left_ > 0) {
      const auto length = std::min<std::uint64_t>(left_, bytes.size());
      output += bytes.substr(0, length);
      bytes.remove_prefix(length);
      left_ -= length;
      answered += left_ == 0 ? 1 : 0;
      continue;
    }
    const auto length = std::min(kHeaderLength - header_.size(), bytes.size());
    header_ += bytes.substr(0, length);
    bytes.remove_prefix(length);
    if (header_.size() == kHeaderLength) {
      answered += TakeHeader(output) ? 1 : 0;
      header_.clear();
    }
  }
  return answered;
}

bool Echo::TakeHeader(std::string& output) {
  const auto kind = static_cast<std::uint8_t>(header_[0]);
  std::uint64_t length = 0;
  for (const char byte : header_.substr(1)) length = length << 8 | static_cast<std::uint8_t>(byte);
  if (kind == kEnd && length > 0) {
    Refuse("An end has no content.", output);
    return false;
  }
  if (kind != kText && kind != kBytes && kind != kEnd) {
    Refuse("This is no kind of message: send 1 (text), 2 (bytes) or 3 (end).", output);
    return false;
  }
  WriteHeader(kind, length, output);
  left_ = length;
  is_last_ = kind == kEnd;
  return length == 0;
}

void Echo::Refuse(std::string_view sentence, std::string& output) {
  WriteHeader(kError, sentence.size(), output);
  output += sentence;
  is_last_ = true;
}

}  // namespace services
