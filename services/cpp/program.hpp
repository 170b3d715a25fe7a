// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// What the programs have in common: their command lines, where they listen, and when they end.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor.hpp"

namespace services {

using Clock = std::chrono::steady_clock;

// Slow peers are looked for so often. If all files are in use, accepting is tried again after this.
inline constexpr std::chrono::milliseconds kLookEvery{100};
// A connection on which nothing moves is closed after so many time-outs.
inline constexpr int kIdleTimeouts = 6;

// Which words a program takes: where it listens, with how many threads, and where it connects to.
enum class Form { kService, kPool, kProxy };

// Why a program does not run: a sentence with the value and the remedy.
class ProgramError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A numeric address and a port.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;

  bool IsV6() const { return address.find(':') != std::string::npos; }
  std::string ToString() const;
};

// The command line, checked.
struct Options {
  Endpoint listen;
  Endpoint to;  // Where a proxy connects to.
  Clock::duration timeout{};
  std::size_t limit = 0;  // So many connections a proxy passes on at a time.
  int threads = 0;        // So many threads a pool has.
};

// Reads the command line. Nothing: the usage is asked for. Throws ProgramError.
std::optional<Options> Parse(const std::vector<std::string>& arguments, Form form);

// The text that --help prints.
std::string Usage(std::string_view name, Form form);

// What a service gets.
struct Start {
  Options options;
  Descriptor listener;
  Descriptor stop;  // Becomes readable on SIGINT or SIGTERM.
};

// Runs a service, which returns when it is stopped, and says what it has done. Returns the exit
// status.
int Run(std::string_view name, Form form, int argc, char** argv,
        const std::function<std::string(Start)>& serve);

}  // namespace services
