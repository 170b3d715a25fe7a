// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "exchange_files.hpp"

#include <istream>
#include <ostream>

namespace {

void put(std::ostream& output, const Bytes& message) {
  std::size_t length = message.size();
  for (int place = 0; place < 4; ++place, length >>= 8)
    output.put(static_cast<char>(length & 0xff));
  output.write(reinterpret_cast<const char*>(
                   message.data()),  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
               static_cast<std::streamsize>(message.size()));
}

std::optional<Bytes> next(std::istream& input) {
  if (input.peek() == std::istream::traits_type::eof()) return std::nullopt;
  std::uint32_t length = 0;
  for (int place = 0; place < 4; ++place)
    length |= static_cast<std::uint32_t>(input.get() & 0xff) << (8 * place);
  Bytes message;
  for (; input && message.size() < length;) {
    int byte = input.get();
    if (byte == std::istream::traits_type::eof()) break;
    message.push_back(static_cast<Byte>(byte));
  }
  if (message.size() < length) throw Failure("the last message is not complete");
  return message;
}

}  // namespace

void write_messages(Exchange& exchange, std::uint64_t rounds, std::ostream& output) {
  Random random;
  for (; rounds > 0; --rounds) {
    Bytes request = exchange.request(random);
    put(output, request);
    put(output, exchange.response(request));
  }
  if (!output.flush()) throw Failure("cannot write the messages");
}

std::array<Digest, 2> read_messages(Exchange& exchange, std::istream& input) {
  std::array<Digest, 2> digests;
  while (auto request = next(input)) {
    auto response = next(input);
    if (!response) throw Failure("a response is missing at the end");
    exchange.see(Part::request, *request, digests[0]);
    exchange.see(Part::response, *response, digests[1]);
    std::array<Digest, 2> seen;
    exchange.see(Part::response, *response, seen[0]);
    exchange.see(Part::response, exchange.response(*request), seen[1]);
    judge(seen[0].value() == seen[1].value());
  }
  return digests;
}
