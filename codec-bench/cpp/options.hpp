// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// The command line.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "contract.hpp"

// What is to be done: name the libraries; rounds, and what they took; rounds when stdin says so;
// the server of another process; messages to stdout, and from stdin.
enum class Command { list, run, serve, answer, write, read };

// How a request comes to its server: as it was built, as bytes in memory, by a pipe or a TCP
// connection to another process.
enum class Mode { object, bytes, pipe, tcp };

struct Options {
  Command command = Command::list;
  const Library* library = &LIBRARIES[0];
  Case which = Case::carsales;
  std::string_view case_name;
  Mode mode = Mode::bytes;
  Form form;
  std::uint64_t rounds = 0;
  // The CPU of the other process.
  std::optional<std::string> peer_cpu;

  // COMMAND [LIBRARY CASE [MODE]] [--packed] [--reuse] [--rounds N] [--peer-cpu N]. Throws
  // `std::invalid_argument`.
  static Options parse(int count, char** words);

  // The case with this library.
  std::unique_ptr<Exchange> exchange() const { return library->exchange(which, form); }
};
