// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// What the gate compares: a digest of values, whatever the library, the language and the bytes.

#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

// FNV-1a with 64 bits, over values in little endian, and texts with their length before them.
class Digest {
 public:
  // Bytes as they are.
  void bytes(std::string_view bytes) {
    for (unsigned char byte : bytes) value_ = (value_ ^ byte) * 0x00000100000001b3;
  }

  // A text.
  void text(std::string_view text) {
    number(text.size());
    bytes(text);
  }

  // A number of any width.
  void number(std::uint64_t number) {
    for (int place = 0; place < 8; ++place, number >>= 8)
      value_ = (value_ ^ (number & 0xff)) * 0x00000100000001b3;
  }

  // A floating-point number, by its bits.
  void real(double number) { this->number(std::bit_cast<std::uint64_t>(number)); }

  // What has been seen so far.
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};
