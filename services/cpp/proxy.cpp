// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Joins each connection to one of its own to a back end, with Boost.Asio, and passes the bytes of
// both on.

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pair.hpp"
#include "program.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using services::Clock;
using services::Pair;

// So much is read at a time.
constexpr std::size_t kRoom = 65'536;

// What has become of connections.
struct Counters {
  std::uint64_t connections;
  std::uint64_t refused;
  std::uint64_t over_limit;
  std::uint64_t broken;
};

class Proxy {
 public:
  Proxy(asio::io_context& context, services::Start start)
      : options_(std::move(start.options)),
        to_(asio::ip::make_address(options_.to.address), options_.to.port),
        context_(context),
        acceptor_(context, options_.listen.IsV6() ? tcp::v6() : tcp::v4(),
                  start.listener.Release()),
        stop_(context, start.stop.Release()),
        again_(context),
        look_(context),
        last_(context) {}

  void Start() {
    stop_.async_wait(stop_.wait_read, [this](error_code /*error*/) { Stop(); });
    Accept();
    LookForSlowPairs();
  }

  std::string Summary() const {
    std::ostringstream text;
    text << counters_.connections << " connections, " << counters_.refused << " refused, "
         << counters_.over_limit << " over the limit, " << counters_.broken << " broken";
    return text.str();
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket client) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        Join(std::move(client));
        return Accept();
      }
      again_.expires_after(services::kLookEvery);
      again_.async_wait([this](error_code /*error*/) { Accept(); });
    });
  }

  void Join(tcp::socket client) {
    if (pairs_.size() >= options_.limit) {
      ++counters_.over_limit;
      error_code ignored;  // It is closed in any case.
      client.set_option(tcp::socket::linger(true, 0), ignored);
      // The destructor would not reset it.
      client.close(ignored);
      return;
    }
    const auto pair = std::make_shared<Pair>(std::move(client), room_, report_);
    pairs_.insert(pair);
    pair->Start(to_);
  }

  void Note(const std::shared_ptr<Pair>& pair, Pair::Event event) {
    if (event == Pair::Event::kJoined) {
      ++counters_.connections;
      return;
    }
    // One that has ended may still report that it is broken.
    if (pairs_.erase(pair) == 0) return;
    if (event == Pair::Event::kOver) {
      pair->Close();
    } else {
      ++(pair->is_joined() ? counters_.broken : counters_.refused);
      pair->Reset();
    }
    if (!acceptor_.is_open() && pairs_.empty()) context_.stop();
  }

  void LookForSlowPairs() {
    look_.expires_after(services::kLookEvery);
    look_.async_wait([this](error_code /*error*/) {
      const auto now = Clock::now();
      const auto& timeout = options_.timeout;
      Break([now, timeout](const Pair& pair) {
        return now - pair.active() >=
               (pair.is_joined() ? timeout * services::kIdleTimeouts : timeout);
      });
      LookForSlowPairs();
    });
  }

  template <typename Condition>
  void Break(Condition condition) {
    std::vector<std::shared_ptr<Pair>> broken;
    for (const auto& pair : pairs_) {
      if (condition(*pair)) broken.push_back(pair);
    }
    for (const auto& pair : broken) Note(pair, Pair::Event::kBroken);
  }

  // Pairs may go on until they end, for a time-out at most.
  void Stop() {
    acceptor_.close();
    if (pairs_.empty()) return context_.stop();
    last_.expires_after(options_.timeout);
    last_.async_wait([this](error_code /*error*/) { Break([](const Pair&) { return true; }); });
  }

  services::Options options_;
  tcp::endpoint to_;
  asio::io_context& context_;
  tcp::acceptor acceptor_;
  asio::posix::stream_descriptor stop_;
  asio::steady_timer again_;
  asio::steady_timer look_;
  asio::steady_timer last_;
  std::vector<char> room_ = std::vector<char>(kRoom);
  Pair::Report report_ = [this](const auto& pair, Pair::Event event) { Note(pair, event); };
  std::unordered_set<std::shared_ptr<Pair>> pairs_;
  Counters counters_{};
};

std::string Serve(services::Start start) {
  asio::io_context context(1);
  Proxy proxy(context, std::move(start));
  proxy.Start();
  context.run();
  return proxy.Summary();
}

}  // namespace

int main(int argc, char** argv) {
  return services::Run("proxy", services::Form::kProxy, argc, argv, Serve);
}
