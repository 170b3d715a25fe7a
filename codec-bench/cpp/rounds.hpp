// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Rounds, one after the other, and what they take.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "peer.hpp"

class Rounds {
 public:
  // Starts the server too, if the mode has one.
  explicit Rounds(const Options& options);

  // So many.
  void run(std::uint64_t rounds);

  // Counters since the start as JSON: rounds, the bytes of messages that this process has made,
  // time, and the CPU time of both processes.
  std::string told() const;

 private:
  std::size_t round();

  std::unique_ptr<Exchange> exchange_;
  Random random_;
  Mode mode_;
  std::optional<Server> server_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t rounds_ = 0;
  std::uint64_t bytes_ = 0;
};
