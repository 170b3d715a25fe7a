// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Sends back messages of any size, marked as replies, with the standard library and sockets, and a
// pool of threads.
//
// One thread waits for all connections by epoll, and gives those that are ready to the pool. With
// EPOLLONESHOT, epoll does not name a connection again before its turn has ended.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "connection.hpp"
#include "descriptor.hpp"
#include "pool.hpp"
#include "program.hpp"

namespace {

using services::Clock;
using services::Connection;
using services::Descriptor;
using services::Need;

constexpr int kEvents = 256;

class EchoServer {
 public:
  explicit EchoServer(services::Start start)
      : start_(std::move(start)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        pool_(start_.options.threads,
              [this](Connection& connection, std::span<char> room) { Serve(connection, room); }) {
    // With edges, what cannot be accepted now is not named again and again.
    Watch(EPOLL_CTL_ADD, start_.listener.get(), EPOLLIN | EPOLLET, &start_.listener);
    Watch(EPOLL_CTL_ADD, start_.stop.get(), EPOLLIN, &start_.stop);
  }

  // Until it is stopped.
  void Run() {
    auto looked = Clock::now();
    std::array<epoll_event, kEvents> events{};
    for (;;) {
      const int count =
          epoll_wait(epoll_.get(), events.data(), kEvents, services::kLookEvery.count());
      if (count < 0 && errno != EINTR) Fail();
      for (int number = 0; number < count; ++number) {
        void* source = events.at(number).data.ptr;
        if (source == &start_.stop) return;
        if (source == &start_.listener) {
          Accept();
        } else {
          pool_.Add(*static_cast<Connection*>(source));
        }
      }
      const auto now = Clock::now();
      if (now - looked >= services::kLookEvery) {
        looked = now;
        LookForSlowPeers(now);
        // Files may be free again.
        Accept();
      }
    }
  }

  std::uint64_t answered() const { return answered_; }

 private:
  [[noreturn]] static void Fail() {
    throw std::system_error(errno, std::generic_category(), "epoll");
  }

  void Watch(int operation, int fd, std::uint32_t events, void* source) {
    epoll_event event{.events = events, .data = {.ptr = source}};
    if (epoll_ctl(epoll_.get(), operation, fd, &event) != 0) Fail();
  }

  void Accept() {
    for (;;) {
      Descriptor socket(
          accept4(start_.listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.get() < 0 && (errno == ECONNABORTED || errno == EINTR)) continue;
      if (socket.get() < 0) return;
      const int on = 1;
      setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      const int fd = socket.get();
      const std::lock_guard lock(mutex_);
      auto& connection =
          connections_.try_emplace(fd, std::move(socket), start_.options.timeout).first->second;
      Watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, &connection);
    }
  }

  // On a thread of the pool.
  void Serve(Connection& connection, std::span<char> room) {
    std::unique_lock has_turn(connection.mutex());
    const auto turn = connection.Serve(room);
    answered_ += turn.answered;
    if (turn.need == Need::kToClose) {
      has_turn.unlock();
      const std::lock_guard lock(mutex_);
      connections_.erase(connection.socket());
      return;
    }
    const std::uint32_t events = turn.need == Need::kToRead ? EPOLLIN : EPOLLOUT;
    Watch(EPOLL_CTL_MOD, connection.socket(), events | EPOLLONESHOT, &connection);
  }

  void LookForSlowPeers(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    for (const auto& [fd, connection] : connections_) connection.Expire(now);
  }

  services::Start start_;
  Descriptor epoll_;
  std::atomic<std::uint64_t> answered_ = 0;
  std::mutex mutex_;
  std::unordered_map<int, Connection> connections_;  // By their sockets.
  services::Pool pool_;                              // Ends before what it works on.
};

std::string Serve(services::Start start) {
  EchoServer server(std::move(start));
  server.Run();
  return std::to_string(server.answered()) + " requests answered";
}

}  // namespace

int main(int argc, char** argv) {
  return services::Run("echo", services::Form::kPool, argc, argv, Serve);
}
