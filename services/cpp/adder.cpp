// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Adds two numbers over HTTP/1.1, with Boost.Beast: GET /add/1/2 is answered by "1 + 2 = 3".

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/write.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "http.hpp"
#include "program.hpp"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using beast::error_code;
using services::Clock;

// So much is read at a time.
constexpr std::size_t kRoom = 4'096;

// One connection. It lives as long as a handler holds it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Clock::duration timeout, std::uint64_t& answered)
      : stream_(std::move(socket)), timeout_(timeout), answered_(answered) {}

  // Waits for a request, of which the beginning may have come.
  void Begin() {
    stream_.expires_after(buffer_.size() == 0 ? timeout_ * services::kIdleTimeouts : timeout_);
    GoOn();
  }

 private:
  void GoOn() {
    const auto bytes = buffer_.data();
    auto answer = services::Respond({static_cast<const char*>(bytes.data()), bytes.size()});
    if (!answer) return Read();
    buffer_.consume(answer->length);
    response_ = std::move(answer->response);
    ++answered_;
    Write();
  }

  void Read() {
    stream_.async_read_some(buffer_.prepare(kRoom),
                            [self = shared_from_this()](error_code error, std::size_t length) {
                              if (error) return;
                              // A request begins, and has its own time.
                              if (self->buffer_.size() == 0)
                                self->stream_.expires_after(self->timeout_);
                              self->buffer_.commit(length);
                              self->GoOn();
                            });
  }

  void Write() {
    stream_.expires_after(timeout_);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](error_code error, std::size_t /*length*/) {
                        if (error) return;
                        self->response_.keep_alive() ? self->Begin() : self->End();
                      });
  }

  // What still comes is read away, so that the peer gets the last answer and not a reset.
  void End() {
    error_code ignored;  // One that is broken is closed soon.
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(timeout_);
    Drain();
  }

  void Drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kRoom),
                            [self = shared_from_this()](error_code error, std::size_t /*length*/) {
                              if (!error) self->Drain();
                            });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::response<http::string_body> response_;
  Clock::duration timeout_;
  std::uint64_t& answered_;
};

class Adder {
 public:
  Adder(asio::io_context& context, const services::Options& options, int listener)
      : acceptor_(context, options.listen.IsV6() ? tcp::v6() : tcp::v4(), listener),
        again_(context),
        timeout_(options.timeout) {}

  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!error) {
        // What is written is complete.
        socket.set_option(tcp::no_delay(true), error);
        std::make_shared<Session>(std::move(socket), timeout_, answered_)->Begin();
        return Accept();
      }
      again_.expires_after(services::kLookEvery);
      again_.async_wait([this](error_code /*error*/) { Accept(); });
    });
  }

  std::uint64_t answered() const { return answered_; }

 private:
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  Clock::duration timeout_;
  std::uint64_t answered_ = 0;
};

std::string Serve(services::Start start) {
  asio::io_context context(1);
  asio::posix::stream_descriptor stop(context, start.stop.Release());
  stop.async_wait(stop.wait_read, [&context](error_code /*error*/) { context.stop(); });
  Adder adder(context, start.options, start.listener.Release());
  adder.Accept();
  context.run();
  return std::to_string(adder.answered()) + " requests answered";
}

}  // namespace

int main(int argc, char** argv) {
  return services::Run("adder", services::Form::kService, argc, argv, Serve);
}
