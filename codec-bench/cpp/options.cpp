// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace {

struct Verb {
  std::string_view name;
  Command command;
  std::size_t words;
};

constexpr Verb VERBS[] = {
    {"list", Command::list, 0},     {"run", Command::run, 3},     {"serve", Command::serve, 3},
    {"answer", Command::answer, 2}, {"write", Command::write, 2}, {"read", Command::read, 2},
};

struct Named {
  std::string_view name;
  Case which;
  // The rounds of the article.
  std::uint64_t rounds;
};

constexpr Named CASES[] = {{"carsales", Case::carsales, 10'000},
                           {"catrank", Case::catrank, 1'000},
                           {"eval", Case::eval, 200'000}};

struct Way {
  std::string_view name;
  Mode mode;
};

constexpr Way MODES[] = {
    {"object", Mode::object}, {"bytes", Mode::bytes}, {"pipe", Mode::pipe}, {"tcp", Mode::tcp}};

template <typename Table>
const auto& find(const Table& table, std::string_view name, const char* what) {
  auto found = std::find_if(std::begin(table), std::end(table),
                            [name](const auto& row) { return row.name == name; });
  if (found == std::end(table))
    throw std::invalid_argument("unknown " + std::string(what) + " '" + std::string(name) + "'");
  return *found;
}

std::uint64_t number(std::string_view option, std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument(std::string(option) + ": '" + std::string(text) +
                                "' is not a number");
  return value;
}

}  // namespace

Options Options::parse(int count, char** words) {
  Options options;
  std::vector<std::string_view> given;
  std::optional<std::uint64_t> rounds;
  for (int place = 1; place < count; ++place) {
    std::string_view word = words[place];
    if (word == "--packed") {
      options.form.packed = true;
    } else if (word == "--reuse") {
      options.form.reuse = true;
    } else if (word == "--rounds" || word == "--peer-cpu") {
      if (++place == count) throw std::invalid_argument(std::string(word) + " needs a number");
      std::uint64_t value = number(word, words[place]);
      if (word == "--rounds")
        rounds = value;
      else
        options.peer_cpu = std::to_string(value);
    } else if (word.starts_with("-")) {
      throw std::invalid_argument("unknown option '" + std::string(word) + "'");
    } else {
      given.push_back(word);
    }
  }
  const Verb& verb = find(VERBS, given.empty() ? "" : given[0], "command");
  if (given.size() != verb.words + 1)
    throw std::invalid_argument("'" + std::string(verb.name) + "' takes " +
                                std::to_string(verb.words) + " words after it, and has " +
                                std::to_string(given.size() - 1));
  options.command = verb.command;
  if (verb.words > 0) {
    options.library = &find(LIBRARIES, given[1], "library");
    const Named& named = find(CASES, given[2], "case");
    options.which = named.which;
    options.case_name = named.name;
    options.rounds = rounds.value_or(named.rounds);
  }
  if (verb.words > 2) options.mode = find(MODES, given[3], "mode").mode;
  if (options.form.packed && !options.library->packs)
    throw std::invalid_argument("'" + std::string(options.library->name) +
                                "' has no packed form: omit --packed");
  return options;
}
