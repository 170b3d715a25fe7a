// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Messages with their length before them, in four bytes, little endian: for formats that do not
// tell their length, and for the files of the gate.

#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "contract.hpp"

// How many bytes the length has.
inline constexpr std::size_t PREFIX = 4;

// Writes the length of what follows into the first bytes of a message.
void put_length(Bytes& message);

// What a peer sends, or a file has, read through a buffer.
class Frames {
 public:
  explicit Frames(int input) : input_(input) {}

  // The next message; false at the end of all. Throws a `Failure`.
  bool next(Bytes& message);

 private:
  std::size_t fill();
  void take(std::span<Byte> bytes);

  int input_;
  std::array<Byte, 8'192> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};
