// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// `codec-cpp`: rounds of a case, with a library in C++. `codec-rust` has the same command line.

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>

#include "exchange_files.hpp"
#include "options.hpp"
#include "peer.hpp"
#include "rounds.hpp"
#include "served.hpp"

namespace {

void run(const Options& options) {
  switch (options.command) {
    case Command::list:
      for (const Library& library : LIBRARIES)
        std::cout << std::boolalpha << R"({"bytes":)" << library.has_bytes << R"(,"library":")"
                  << library.name << R"(","objects":)" << library.has_objects << R"(,"packs":)"
                  << library.packs << R"(,"what":")" << library.what << "\"}\n";
      break;
    case Command::run: {
      Rounds rounds(options);
      rounds.run(options.rounds);
      std::cout << rounds.told() << '\n';
      break;
    }
    case Command::serve: {
      Rounds rounds(options);
      serve(rounds);
      break;
    }
    case Command::answer:
      answer(*options.exchange());
      break;
    case Command::write:
      write_messages(*options.exchange(), options.rounds, std::cout);
      break;
    case Command::read: {
      auto digests = read_messages(*options.exchange(), STDIN_FILENO);
      std::cout << std::hex << std::setfill('0') << R"({"requests":")" << std::setw(16)
                << digests[0].value() << R"(","responses":")" << std::setw(16) << digests[1].value()
                << "\"}\n";
      break;
    }
  }
}

}  // namespace

int main(int count, char** words) {
  // A peer that has gone is an error of `write`.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    run(Options::parse(count, words));
    return EXIT_SUCCESS;
  } catch (const std::invalid_argument& error) {
    std::cerr << "codec-cpp: " << error.what() << ": see codec-bench/README.md\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "codec-cpp: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
