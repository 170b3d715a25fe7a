// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Strings: a client has pages, and the server ranks those about cats above all others, and those
// about dogs below.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../random.hpp"

namespace catrank {

// A request has fewer pages than this.
inline constexpr std::uint32_t MOST_PAGES = 1'000;
// A page with a higher score is about cats.
inline constexpr double GOOD = 1'001.0;
inline constexpr const char* PREFIX = "http://example.com/";
inline constexpr std::uint32_t MOST_LETTERS = 100;
inline constexpr std::uint32_t MOST_WORDS = 20;
// Of so many pages one is about cats, and one about dogs.
inline constexpr std::uint32_t RARE = 8;
inline constexpr double FACTOR = 10'000.0;
inline constexpr std::array<const char*, 14> WORDS{
    "foo ",    "bar ",   "baz ",  "qux ",   "quux ",  "corge ", "grault ",
    "garply ", "waldo ", "fred ", "plugh ", "xyzzy ", "thud ",  "wibble "};

// A page before it is in a message. Its buffers are used for all pages.
struct Page {
  std::string url;
  // How good it is before it is ranked: 1,000 less its number.
  double score = 0;
  std::string snippet;

  // The next page. Returns whether it will be good.
  bool draw(std::uint32_t number, Random& random) {
    url.assign(PREFIX);
    for (std::uint32_t left = random.below(MOST_LETTERS); left > 0; --left)
      url.push_back(static_cast<char>('a' + random.below(26)));
    score = 1'000.0 - number;
    bool cat = random.once_in(RARE);
    bool dog = random.once_in(RARE);
    snippet.assign(" ");
    add_words(random);
    snippet.append(cat ? "cat " : "");
    snippet.append(dog ? "dog " : "");
    add_words(random);
    return cat && !dog;
  }

 private:
  void add_words(Random& random) {
    for (std::uint32_t left = random.below(MOST_WORDS); left > 0; --left)
      snippet.append(WORDS[random.below(WORDS.size())]);
  }
};

// By hand, and so in Rust: what people take for it here and there differs more than the libraries
// that are compared.
inline bool contains_word(std::string_view text, const char (&word)[5]) {
  for (std::size_t place = 0; place + 5 <= text.size(); ++place)
    if (text[place] == ' ' && std::memcmp(text.data() + place + 1, word, 4) == 0) return true;
  return false;
}

// The score of a page by what its snippet has.
inline double ranked(double score, std::string_view snippet) {
  if (contains_word(snippet, "cat ")) score *= FACTOR;
  if (contains_word(snippet, "dog ")) score /= FACTOR;
  return score;
}

// Sorts by the score, which is the first of a pair, from the highest to the lowest.
template <typename T>
void sort(std::vector<std::pair<double, T>>& pages) {
  std::sort(pages.begin(), pages.end(),
            [](const auto& left, const auto& right) { return left.first > right.first; });
}

// Counts the good ones of ranked scores, and finds out whether one comes after another that is not.
class GoodPages {
 public:
  void add(double score) {
    if (score <= GOOD)
      worse_ = true;
    else if (worse_)
      in_order_ = false;
    else
      ++good_;
  }

  std::optional<std::uint32_t> count() const {
    return in_order_ ? std::optional(good_) : std::nullopt;
  }

 private:
  std::uint32_t good_ = 0;
  bool worse_ = false;
  bool in_order_ = true;
};

}  // namespace catrank
