// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "program.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace services {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::optional<Options> Words(const std::string& text, Form form) {
  std::istringstream words(text);
  return Parse({std::istream_iterator<std::string>(words), {}}, form);
}

BOOST_AUTO_TEST_CASE(each_form_is_understood) {
  const auto service = Words("kernel ::0001 80", Form::kService).value();
  BOOST_TEST(service.listen.ToString() == "[::1]:80");
  BOOST_TEST((service.timeout == seconds(10)));
  const auto pool = Words("--timeout=0.5 kernel 127.0.0.1 80 --threads 3", Form::kPool).value();
  BOOST_TEST((pool.timeout == milliseconds(500)));
  BOOST_TEST(pool.threads == 3);
  const auto proxy = Words("kernel ::1 80 [2001:db8::2]:81 --limit 7", Form::kProxy).value();
  BOOST_TEST(proxy.to.ToString() == "[2001:db8::2]:81");
  BOOST_TEST(proxy.limit == 7U);
  BOOST_TEST(!Words("--help", Form::kProxy));
  BOOST_TEST(Usage("adder", Form::kService).starts_with("usage: adder kernel ADDRESS PORT"));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_named) {
  struct Case {
    std::string text;
    Form form;
    std::string told;
  };
  for (const auto& [text, form, told] : std::vector<Case>{
           {"", Form::kService, "see --help"},
           {"kernel 127.0.0.1", Form::kService, "see --help"},
           {"kernel localhost 80", Form::kService, "'localhost' is no address"},
           {"kernel 127.1 80", Form::kService, "'127.1' is no address"},
           {"kernel 127.0.0.1 0", Form::kService, "port '0'"},
           {"kernel 127.0.0.1 65536", Form::kService, "port '65536'"},
           {"kernel 127.0.0.1 8o", Form::kService, "port '8o'"},
           {"dpdk 192.0.2.1/24 80", Form::kService, "'dpdk' is no kind of sockets"},
           {"kernel 127.0.0.1 80 --timeout 0", Form::kService, "a timeout of 0 s"},
           {"kernel 127.0.0.1 80 --timeout -1", Form::kService, "a timeout of -1 s"},
           {"kernel 127.0.0.1 80 --timeout nan", Form::kService, "a timeout of nan s"},
           {"kernel 127.0.0.1 80 --timeout 1e10", Form::kService, "a timeout of 1e10 s"},
           {"kernel 127.0.0.1 80 --timeout 1e-10", Form::kService, "a timeout of 1e-10 s"},
           {"kernel 127.0.0.1 80 --timeout", Form::kService, "option '--timeout'"},
           {"kernel 127.0.0.1 80 -15", Form::kService, "option '-15'"},
           {"kernel 127.0.0.1 80 --limit 5", Form::kService, "option '--limit'"},
           {"kernel 127.0.0.1 80 127.0.0.1:81", Form::kService, "see --help"},
           {"kernel 127.0.0.1 80 --threads 0", Form::kPool, "a pool of 0 threads"},
           {"kernel 127.0.0.1 80", Form::kProxy, "where to connect to"},
           {"kernel 127.0.0.1 80 localhost:81", Form::kProxy, "'localhost:81' is nothing"},
           {"kernel 127.0.0.1 80 127.0.0.1:0", Form::kProxy, "'127.0.0.1:0' is nothing"},
           {"kernel 127.0.0.1 80 127.0.0.1", Form::kProxy, "'127.0.0.1' is nothing"},
           {"kernel 127.0.0.1 80 ::1:80", Form::kProxy, "'::1:80' is nothing"},
           {"kernel 127.0.0.1 80 [127.0.0.1]:80", Form::kProxy, "'[127.0.0.1]:80' is nothing"},
           {"kernel 127.0.0.1 80 127.0.0.1:81 --limit 0", Form::kProxy, "a limit of 0"},
           {"kernel 127.0.0.1 80 127.0.0.1:81 --limit -1", Form::kProxy, "a limit of -1"},
       }) {
    BOOST_CHECK_EXCEPTION(Words(text, form), ProgramError, [&told = told](const auto& error) {
      return std::string(error.what()).find(told) != std::string::npos;
    });
  }
}

}  // namespace
}  // namespace services
