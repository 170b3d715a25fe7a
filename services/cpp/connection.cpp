// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "connection.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace services {
namespace {

// There is nothing to read, or no room to write.
bool IsForLater() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Connection::Connection(Descriptor socket, Clock::duration timeout)
    : socket_(std::move(socket)), timeout_(timeout) {
  Postpone();
}

Turn Connection::Serve(std::span<char> room) {
  Turn turn{0, Need::kToClose};
  // After the last answer it is time to close, whatever still comes.
  const bool was_shut_down = is_shut_down_;
  // What was not sent is not added to: the peer has to read first.
  if (!Flush() || (output_.empty() && !ReadAndAnswer(room, turn.answered))) return turn;
  if (!was_shut_down) Postpone();
  turn.need = output_.empty() ? Need::kToRead : Need::kToWrite;
  return turn;
}

bool Connection::ReadAndAnswer(std::span<char> room, std::uint64_t& answered) {
  const auto length = recv(socket(), room.data(), room.size(), 0);
  if (length <= 0) return length < 0 && IsForLater();
  answered = echo_.Take({room.data(), static_cast<std::size_t>(length)}, output_);
  return Flush();
}

bool Connection::Flush() {
  std::string_view rest = output_;
  while (!rest.empty()) {
    const auto sent = send(socket(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && !IsForLater()) return false;
    if (sent < 0) break;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  output_.erase(0, output_.size() - rest.size());
  // Idle connections are many.
  if (output_.empty()) output_.shrink_to_fit();
  if (output_.empty() && echo_.IsLast() && !is_shut_down_) {
    is_shut_down_ = true;
    return shutdown(socket(), SHUT_WR) == 0;
  }
  return true;
}

void Connection::Postpone() {
  const bool has_to_act = echo_.IsLast() || echo_.IsPartial() || !output_.empty();
  deadline_ = Clock::now() + (has_to_act ? timeout_ : timeout_ * kIdleTimeouts);
}

void Connection::Expire(Clock::time_point now) const {
  if (now >= deadline_.load()) shutdown(socket(), SHUT_RDWR);
}

}  // namespace services
