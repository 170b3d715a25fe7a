// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "served.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace {

// Words are looked for after so long.
constexpr std::chrono::milliseconds BATCH{1};

// The lines of stdin.
class Words {
 public:
  // The next one, if there is one or if it is to be waited for. Nothing at the end, too.
  std::optional<std::string> next(bool wait) {
    for (;;) {
      if (std::size_t end = text_.find('\n'); end != std::string::npos) {
        std::string word = text_.substr(0, end);
        text_.erase(0, end + 1);
        return word;
      }
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (at_end_ || poll(&input, 1, wait ? -1 : 0) <= 0) return std::nullopt;
      char part[256];
      ssize_t many = read(STDIN_FILENO, part, sizeof part);
      at_end_ = many <= 0;
      text_.append(part, static_cast<std::size_t>(std::max<ssize_t>(many, 0)));
    }
  }

  bool at_end() const { return at_end_; }

 private:
  std::string text_;
  bool at_end_ = false;
};

}  // namespace

void serve(Rounds& rounds) {
  Words words;
  // As many as take about a batch.
  std::uint64_t batch = 1;
  bool going = false;
  std::cout << R"({"type":"ready"})" << std::endl;
  for (;;) {
    std::optional<std::string> word = words.next(!going);
    if (!word && words.at_end()) return;
    if (word == "go") {
      going = true;
    } else if (word == "stop") {
      going = false;
    } else if (word == "read") {
      std::cout << rounds.told() << std::endl;
    } else if (word) {
      throw Failure("unknown word '" + *word + "' on stdin");
    } else if (going) {
      auto start = std::chrono::steady_clock::now();
      rounds.run(batch);
      auto taken = std::chrono::steady_clock::now() - start;
      if (taken < BATCH / 2)
        batch *= 2;
      else if (taken > 2 * BATCH)
        batch = std::max<std::uint64_t>(batch / 2, 1);
    }
  }
}
