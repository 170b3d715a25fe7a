// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// The random numbers of all libraries and languages: `src/random.rs` draws the same.

#pragma once

#include <array>
#include <cstdint>
#include <limits>

// Xorshift with 128 bits of state (G. Marsaglia, "Xorshift RNGs", 2003), from the seeds of Cap'n
// Proto's benchmark.
class Random {
 public:
  // The next number.
  std::uint32_t number() {
    std::uint32_t mixed = state_[0] ^ (state_[0] << 11);
    std::uint32_t last = state_[3];
    std::uint32_t next = last ^ (last >> 19) ^ mixed ^ (mixed >> 8);
    state_ = {state_[1], state_[2], last, next};
    return next;
  }

  // A number below this one, which is not 0.
  std::uint32_t below(std::uint32_t limit) { return number() % limit; }

  // A number of at least 0 and at most this one.
  double real(double most) { return number() * most / std::numeric_limits<std::uint32_t>::max(); }

  // True once in so many times.
  bool once_in(std::uint32_t times) { return below(times) == 0; }

 private:
  std::array<std::uint32_t, 4> state_{0x1d2acd47, 0x58ca3e14, 0xf563f232, 0x0bc76199};
};
