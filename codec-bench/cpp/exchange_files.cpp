// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "exchange_files.hpp"

#include <ostream>

#include "frames.hpp"

namespace {

void put(std::ostream& output, const Bytes& content) {
  Bytes message(PREFIX);
  message.insert(message.end(), content.begin(), content.end());
  put_length(message);
  output.write(reinterpret_cast<const char*>(message.data()),
               static_cast<std::streamsize>(message.size()));
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

std::array<Digest, 2> read_messages(Exchange& exchange, int input) {
  std::array<Digest, 2> digests;
  Frames frames(input);
  Bytes request;
  Bytes response;
  while (frames.next(request)) {
    if (!frames.next(response)) throw Failure("a response is missing at the end");
    exchange.see(Part::request, request, digests[0]);
    exchange.see(Part::response, response, digests[1]);
    std::array<Digest, 2> seen;
    exchange.see(Part::response, response, seen[0]);
    exchange.see(Part::response, exchange.response(request), seen[1]);
    judge(seen[0].value() == seen[1].value());
  }
  return digests;
}
