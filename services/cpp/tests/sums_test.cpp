// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "sums.hpp"

#include <boost/test/unit_test.hpp>

namespace services {
namespace {

BOOST_AUTO_TEST_CASE(numbers_are_added) {
  BOOST_TEST(Sum("/add/1/2").content == "1 + 2 = 3\n");
  BOOST_TEST(Sum("/add/-007/-0").content == "-7 + 0 = -7\n");
  BOOST_TEST(Sum("/add/9223372036854775807/-9223372036854775808").content ==
             "9223372036854775807 + -9223372036854775808 = -1\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_added_is_refused) {
  for (const auto* path : {"/add//1", "/add/+1/1", "/add/1/1x", "/add/9223372036854775807/1",
                           "/add/1/9223372036854775808", "/add/1/99999999999999999999x"}) {
    BOOST_TEST(Sum(path).status == 400, path);
  }
  for (const auto* path : {"", "/add", "/add/1", "/add/1/2/", "/ADD/1/2"}) {
    BOOST_TEST(Sum(path).status == 404, path);
  }
}

}  // namespace
}  // namespace services
