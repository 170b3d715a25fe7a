// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "sums.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace services {
namespace {

constexpr std::string_view kPrefix = "/add/";

Page NoNumber() { return {400, "This is no number: give /add/A/B, such as /add/1/-2.\n"}; }
Page TooLarge() { return {400, "A number or the sum does not fit into 64 bits.\n"}; }
Page NoSuchPage() { return {404, "There is no such page: ask for /add/A/B.\n"}; }

// Digits, and a minus before them for a negative number.
std::errc Number(std::string_view text, std::int64_t& number) {
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return rest == end ? error : std::errc::invalid_argument;
}

}  // namespace

Page Sum(std::string_view path) {
  if (!path.starts_with(kPrefix)) return NoSuchPage();
  const auto words = path.substr(kPrefix.size());
  const auto slash = words.find('/');
  if (slash == std::string_view::npos || words.find('/', slash + 1) != std::string_view::npos) {
    return NoSuchPage();
  }
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t sum = 0;
  for (const auto error : {Number(words.substr(0, slash), a), Number(words.substr(slash + 1), b)}) {
    if (error != std::errc()) {
      return error == std::errc::result_out_of_range ? TooLarge() : NoNumber();
    }
  }
  if (__builtin_add_overflow(a, b, &sum)) return TooLarge();
  return {200, std::to_string(a) + " + " + std::to_string(b) + " = " + std::to_string(sum) + "\n"};
}

}  // namespace services
