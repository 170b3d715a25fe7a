// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Two connections that are joined.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "program.hpp"

namespace services {

// It lives as long as its owner or a handler holds it. After Close or Reset, handlers only report
// that it is broken.
class Pair : public std::enable_shared_from_this<Pair> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  // It is joined, both directions have ended, or a connection is broken.
  enum class Event { kJoined, kOver, kBroken };
  using Report = std::function<void(const std::shared_ptr<Pair>&, Event)>;

  // All pairs read into the same room, and report to the same function.
  Pair(Socket client, std::span<char> room, const Report& report);

  // Connects to the back end, and passes on what comes from both.
  void Start(const boost::asio::ip::tcp::endpoint& to);
  void Close();
  // Resets both connections.
  void Reset();

  bool is_joined() const { return is_joined_; }
  // When something happened last.
  Clock::time_point active() const { return active_; }

 private:
  // From one connection to the other.
  struct Direction {
    Socket& from;
    Socket& to;
    std::vector<char> held;  // Nothing is read before this is sent.
    bool has_ended;
  };

  void Join();
  void Watch(Socket& socket);
  void Wait(Direction& direction);
  void Pass(Direction& direction);
  void Send(Direction& direction, std::span<const char> bytes);
  void PassEnd(Direction& direction);
  void Tell(Event event) { report_(shared_from_this(), event); }

  Socket client_;
  Socket back_end_;
  Direction to_back_end_{client_, back_end_, {}, false};
  Direction to_client_{back_end_, client_, {}, false};
  std::span<char> room_;
  const Report& report_;
  Clock::time_point active_ = Clock::now();
  bool is_joined_ = false;
};

}  // namespace services
