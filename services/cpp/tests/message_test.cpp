// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "message.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

namespace services {
namespace {

using namespace std::literals;  // NOLINT(google-build-using-namespace)

BOOST_AUTO_TEST_CASE(messages_come_back_in_any_pieces) {
  const auto sent = "\x01\0\0\0\0\0\0\0\x02hi\x02\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0late"sv;
  for (std::size_t size = 1; size <= sent.size(); ++size) {
    Echo echo;
    std::string output;
    std::uint64_t answered = 0;
    for (std::size_t at = 0; at < sent.size(); at += size) {
      answered += echo.Take(sent.substr(at, size), output);
    }
    BOOST_TEST(output == "\x81\0\0\0\0\0\0\0\x02hi\x82\0\0\0\0\0\0\0\0\x83\0\0\0\0\0\0\0\0"s);
    BOOST_TEST(answered == 3U);
    BOOST_TEST(echo.IsLast());
    BOOST_TEST(!echo.IsPartial());
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_message_is_refused) {
  for (const auto& sent : {"\x04\0\0\0\0\0\0\0\0"s, "\x03\0\0\0\0\0\0\0\x01"s}) {
    Echo echo;
    std::string output;
    BOOST_TEST(echo.Take(sent, output) == 0U);
    BOOST_TEST(output.starts_with('\x84'));
    BOOST_TEST(output.ends_with('.'));
    BOOST_TEST(echo.IsLast());
  }
}

}  // namespace
}  // namespace services
