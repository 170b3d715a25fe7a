// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Answers GET requests of HTTP/1.1, one after the other.

#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <optional>
#include <string_view>

namespace services {

// What answers the first request of a connection.
struct Answer {
  std::size_t length;  // Of the request.
  boost::beast::http::response<boost::beast::http::string_body> response;
};

// Answers the request that these bytes begin with. Nothing: its head is not complete.
std::optional<Answer> Respond(std::string_view bytes);

}  // namespace services
