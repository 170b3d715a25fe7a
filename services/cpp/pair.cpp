// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "pair.hpp"

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

namespace services {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
namespace error = boost::asio::error;

}  // namespace

Pair::Pair(Socket client, std::span<char> room, const Report& report)
    : client_(std::move(client)), back_end_(client_.get_executor()), room_(room), report_(report) {}

void Pair::Start(const tcp::endpoint& to) {
  back_end_.async_connect(to, [self = shared_from_this()](error_code failure) {
    failure ? self->Tell(Event::kBroken) : self->Join();
  });
}

void Pair::Join() {
  is_joined_ = true;
  active_ = Clock::now();
  Tell(Event::kJoined);
  for (auto* socket : {&client_, &back_end_}) {
    error_code failure;
    // What comes is passed on at once.
    socket->set_option(tcp::no_delay(true), failure);
    if (!failure) socket->non_blocking(true, failure);
    if (failure) return Tell(Event::kBroken);
    Watch(*socket);
  }
  Wait(to_back_end_);
  Wait(to_client_);
}

// While nothing is read from a socket, only this finds out that it was reset.
void Pair::Watch(Socket& socket) {
  socket.async_wait(Socket::wait_error, [self = shared_from_this(), &socket](error_code failure) {
    if (failure) return;
    int reason = 0;
    socklen_t length = sizeof(reason);
    // The end of both directions is no error.
    if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &reason, &length) != 0 ||
        reason != 0) {
      self->Tell(Event::kBroken);
    }
  });
}

void Pair::Wait(Direction& direction) {
  direction.from.async_wait(Socket::wait_read,
                            [self = shared_from_this(), &direction](error_code failure) {
                              failure ? self->Tell(Event::kBroken) : self->Pass(direction);
                            });
}

void Pair::Pass(Direction& direction) {
  error_code failure;
  const auto length =
      direction.from.read_some(boost::asio::buffer(room_.data(), room_.size()), failure);
  if (failure == error::would_block) return Wait(direction);
  if (failure == error::eof) return PassEnd(direction);
  if (failure) return Tell(Event::kBroken);
  Send(direction, room_.first(length));
}

void Pair::Send(Direction& direction, std::span<const char> bytes) {
  active_ = Clock::now();
  error_code failure;
  const auto sent =
      direction.to.write_some(boost::asio::buffer(bytes.data(), bytes.size()), failure);
  if (failure && failure != error::would_block) return Tell(Event::kBroken);
  const auto rest = bytes.subspan(sent);
  direction.held = std::vector<char>(rest.begin(), rest.end());
  if (rest.empty()) return Wait(direction);
  direction.to.async_wait(
      Socket::wait_write, [self = shared_from_this(), &direction](error_code failure) {
        failure ? self->Tell(Event::kBroken) : self->Send(direction, direction.held);
      });
}

void Pair::PassEnd(Direction& direction) {
  active_ = Clock::now();
  direction.has_ended = true;
  error_code failure;
  direction.to.shutdown(Socket::shutdown_send, failure);
  if (failure) return Tell(Event::kBroken);
  if (to_back_end_.has_ended && to_client_.has_ended) Tell(Event::kOver);
}

void Pair::Close() {
  for (auto* socket : {&client_, &back_end_}) {
    error_code ignored;  // It is closed in any case.
    socket->close(ignored);
  }
}

void Pair::Reset() {
  for (auto* socket : {&client_, &back_end_}) {
    error_code ignored;  // The back end may not be open.
    socket->set_option(Socket::linger(true, 0), ignored);
  }
  Close();
}

}  // namespace services
