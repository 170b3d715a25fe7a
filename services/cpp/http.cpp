// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "http.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <iterator>
#include <utility>

#include "sums.hpp"

namespace services {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

using Request = http::request<http::empty_body>;

// The maximum length of a head in bytes.
constexpr std::size_t kLongest = 8'192;
constexpr std::ptrdiff_t kMostFields = 64;
constexpr beast::string_view kScheme = "http://";

Page Malformed() { return {400, "This is no request of HTTP/1.1.\n"}; }
Page HasBody() { return {400, "The request has a body: send none.\n"}; }
Page NoSuchPage() { return {404, "There is no such page.\n"}; }
Page NotGet() { return {405, "Only GET is answered.\n"}; }
Page TooLong() { return {431, "The head is too long: 8192 bytes, 64 fields.\n"}; }

Answer Make(std::size_t length, Page page, bool keeps_alive) {
  Answer answer{length, {http::int_to_status(page.status), 11, std::move(page.content)}};
  auto& response = answer.response;
  response.set(http::field::content_type, "text/plain");
  if (page.status == 405) response.set(http::field::allow, "GET");
  response.keep_alive(keeps_alive);
  response.prepare_payload();
  return answer;
}

// The last answer of a connection: where the next request begins is not known.
Answer Refuse(Page page) { return Make(0, std::move(page), false); }

// A line feed alone is the end of a line for some, and not for others. Beast waits for another end,
// and joins folded fields.
bool IsAmbiguous(std::string_view head) {
  for (auto at = head.find('\n'); at != std::string_view::npos; at = head.find('\n', at + 1)) {
    if (at == 0 || head[at - 1] != '\r') return true;
    const auto next = head.substr(at + 1, 1);
    if (next == " " || next == "\t") return true;
  }
  return false;
}

std::optional<Page> WhyNot(const Request& request) {
  if (std::distance(request.begin(), request.end()) > kMostFields) return TooLong();
  const auto lengths = request.count(http::field::content_length);
  if (request.count(http::field::transfer_encoding) > 0 || lengths > 1 ||
      (lengths == 1 && request[http::field::content_length] != "0")) {
    return HasBody();
  }
  // RFC 9112, section 3.2.
  const auto hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() > 10)) return Malformed();
  // Beast takes these letters.
  if (std::ranges::any_of(request.target(), [](unsigned char byte) { return byte > 127; })) {
    return Malformed();
  }
  if (request.method() != http::verb::get) return NotGet();
  return std::nullopt;
}

// Of `/path`, or of `http://host/path` (RFC 9112, section 3.2.2).
Page PageAt(beast::string_view target) {
  if (beast::iequals(target.substr(0, kScheme.size()), kScheme)) {
    const auto path = target.find('/', kScheme.size());
    if (path == beast::string_view::npos) return NoSuchPage();
    target.remove_prefix(path);
  }
  return Sum({target.data(), target.size()});
}

}  // namespace

std::optional<Answer> Respond(std::string_view bytes) {
  // RFC 9112, section 2.2: empty lines before a request are ignored.
  auto rest = bytes;
  while (rest.starts_with("\r\n")) rest.remove_prefix(2);
  const auto empty = bytes.size() - rest.size();
  const auto end = rest.find("\r\n\r\n");
  const bool is_complete = end != std::string_view::npos;
  const auto head = is_complete ? rest.substr(0, end + 4) : rest;
  if (IsAmbiguous(head)) return Refuse(Malformed());
  if (head.size() > kLongest || empty > kLongest) return Refuse(TooLong());
  if (!is_complete) return std::nullopt;
  http::request_parser<http::empty_body> parser;
  beast::error_code error;
  parser.put(boost::asio::buffer(head), error);
  if (error) return Refuse(Malformed());
  const auto& request = parser.get();
  if (auto refusal = WhyNot(request)) {
    auto answer = Refuse(std::move(*refusal));
    // RFC 9110, section 9.3.2.
    if (request.method() == http::verb::head) answer.response.body().clear();
    return answer;
  }
  const bool keeps_alive = parser.keep_alive();
  auto answer = Make(empty + head.size(), PageAt(request.target()), keeps_alive);
  if (keeps_alive && request.version() == 10) {
    answer.response.set(http::field::connection, "keep-alive");
  }
  return answer;
}

}  // namespace services
