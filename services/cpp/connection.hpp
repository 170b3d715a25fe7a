// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// One client of the echo server.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "descriptor.hpp"
#include "message.hpp"
#include "program.hpp"

namespace services {

// What a connection waits for.
enum class Need { kToRead, kToWrite, kToClose };

struct Turn {
  std::uint64_t answered;  // So many messages.
  Need need;
};

class Connection {
 public:
  // The socket does not block.
  Connection(Descriptor socket, Clock::duration timeout);

  int socket() const { return socket_.get(); }

  // Locked for a turn, until epoll watches the connection again: C++ does not know that epoll hands
  // it from thread to thread.
  std::mutex& mutex() { return mutex_; }

  // Sends what is to be sent, and reads and answers once.
  Turn Serve(std::span<char> room);

  // Shuts down if the peer has done nothing for too long, which a turn then finds out. Any thread
  // may call it.
  void Expire(Clock::time_point now) const;

 private:
  bool ReadAndAnswer(std::span<char> room, std::uint64_t& answered);
  // Sends what the peer has room for. False: the connection is broken.
  bool Flush();
  void Postpone();

  std::mutex mutex_;
  Descriptor socket_;
  Clock::duration timeout_;
  Echo echo_;
  std::string output_;
  bool is_shut_down_ = false;  // Towards the peer.
  std::atomic<Clock::time_point> deadline_;
};

}  // namespace services
