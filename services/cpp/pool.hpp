// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Threads that serve connections, each for a turn.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "connection.hpp"

namespace services {

class Pool {
 public:
  // Gives a connection a turn, with room for what it reads.
  using Serve = std::function<void(Connection&, std::span<char>)>;

  Pool(int threads, Serve serve);
  Pool(const Pool&) = delete;
  Pool(Pool&&) = delete;
  Pool& operator=(const Pool&) = delete;
  Pool& operator=(Pool&&) = delete;
  ~Pool();

  // The next thread that has time serves it.
  void Add(Connection& connection);

 private:
  void Work();
  // Waits for one. Null: the pool ends.
  Connection* Next();

  Serve serve_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Connection*> queue_;
  bool has_ended_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace services
