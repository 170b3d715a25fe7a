// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "frames.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace {

std::size_t read_some(int input, std::span<Byte> bytes) {
  for (;;) {
    ssize_t many = read(input, bytes.data(), bytes.size());
    if (many >= 0) return static_cast<std::size_t>(many);
    if (errno != EINTR)
      throw Failure(std::string("cannot read a message: ") + std::strerror(errno));
  }
}

}  // namespace

void put_length(Bytes& message) {
  std::size_t length = message.size() - PREFIX;
  for (std::size_t place = 0; place < PREFIX; ++place, length >>= 8)
    message[place] = static_cast<Byte>(length & 0xff);
}

bool Frames::next(Bytes& message) {
  if (begin_ == end_ && fill() == 0) return false;
  std::array<Byte, PREFIX> prefix{};
  take(prefix);
  std::size_t length = 0;
  for (std::size_t place = PREFIX; place > 0; --place) length = length << 8 | prefix[place - 1];
  message.resize(length);
  take(message);
  return true;
}

std::size_t Frames::fill() {
  begin_ = 0;
  end_ = read_some(input_, buffer_);
  return end_;
}

void Frames::take(std::span<Byte> bytes) {
  while (!bytes.empty()) {
    if (begin_ == end_ && bytes.size() >= buffer_.size()) {
      // Past the buffer.
      std::size_t many = read_some(input_, bytes);
      if (many == 0) throw Failure("the last message is not complete");
      bytes = bytes.subspan(many);
      continue;
    }
    if (begin_ == end_ && fill() == 0) throw Failure("the last message is not complete");
    std::size_t many = std::min(end_ - begin_, bytes.size());
    std::memcpy(bytes.data(), buffer_.data() + begin_, many);
    begin_ += many;
    bytes = bytes.subspan(many);
  }
}
