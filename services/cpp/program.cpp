// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "program.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace services {
namespace {

constexpr std::string_view kService = R"(usage: NAME kernel ADDRESS PORT [--timeout SECONDS]

Serves a TCP port, on the kernel's sockets, until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  -h, --help         print this text
)";

constexpr std::string_view kPool =
    R"(usage: NAME kernel ADDRESS PORT [--timeout SECONDS] [--threads N]

Serves a TCP port, on the kernel's sockets, until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  --threads N        so many threads serve; default: 8
  -h, --help         print this text
)";

constexpr std::string_view kProxy =
    R"(usage: NAME kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]

Passes the connections to a TCP port on to another one, on the kernel's sockets, until SIGINT or SIGTERM, and then until
all of them have ended.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80
  --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10
  --limit N          so many connections are passed on at a time; default: 10000
  -h, --help         print this text
)";

// The largest number of seconds of which six times as many are a duration.
constexpr double kLongestTimeout = 1e9;
constexpr int kMostThreads = 1'000;

// All of a text as a number.
template <typename T>
std::optional<T> Number(std::string_view text) {
  T number{};
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

std::optional<std::string> NumericAddress(const std::string& text) {
  const int family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
  in6_addr address{};  // Has room for either.
  std::array<char, INET6_ADDRSTRLEN> normal{};
  if (inet_pton(family, text.c_str(), &address) != 1) return std::nullopt;
  return inet_ntop(family, &address, normal.data(), normal.size());
}

std::optional<std::uint16_t> Port(std::string_view text) {
  const auto port = Number<std::uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

Endpoint BackEnd(const std::string& text) {
  const auto colon = text.rfind(':');
  auto host = text.substr(0, colon);
  const bool is_v6 = host.starts_with('[') && host.ends_with(']');
  if (is_v6) host = host.substr(1, host.size() - 2);
  const auto address = NumericAddress(host);
  const auto port = colon == std::string::npos ? std::nullopt : Port(text.substr(colon + 1));
  if (!address || !port || is_v6 != Endpoint{*address}.IsV6()) {
    throw ProgramError("'" + text +
                       "' is nothing to connect to: give an address and a port such as "
                       "127.0.0.1:80 or [::1]:80");
  }
  return {*address, *port};
}

Clock::duration Timeout(const std::string& text) {
  const auto seconds = Number<double>(text);
  // Not a number is neither above nor below.
  if (seconds && *seconds > 0 && *seconds <= kLongestTimeout) {
    const auto timeout =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
    if (timeout > Clock::duration::zero()) return timeout;
  }
  throw ProgramError("a timeout of " + text + " s: give more than 0, and at most 1000000000");
}

std::size_t Limit(const std::string& text) {
  const auto limit = Number<std::size_t>(text);
  if (!limit || limit == 0) {
    throw ProgramError("a limit of " + text + " connections: give 1 or more");
  }
  return *limit;
}

int Threads(const std::string& text) {
  const auto threads = Number<int>(text);
  if (!threads || threads < 1 || threads > kMostThreads) {
    throw ProgramError("a pool of " + text + " threads: give 1 to 1000");
  }
  return *threads;
}

Descriptor Listen(const Endpoint& endpoint) {
  const auto fail = [&endpoint](const std::string& why) {
    throw ProgramError("cannot listen at " + endpoint.ToString() + ": " + why);
  };
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const auto port = std::to_string(endpoint.port);
  if (const int error = getaddrinfo(endpoint.address.c_str(), port.c_str(), &hints, &found)) {
    fail(gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> address(found, &freeaddrinfo);
  Descriptor listener(socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (listener.get() < 0 ||
      setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(listener.get(), address->ai_addr, address->ai_addrlen) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    fail(std::generic_category().message(errno));
  }
  return listener;
}

// Before threads are started, which would take the signals otherwise.
Descriptor StopOnSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  Descriptor stop(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (stop.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  return stop;
}

}  // namespace

std::string Endpoint::ToString() const {
  return (IsV6() ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::string Usage(std::string_view name, Form form) {
  std::string text(form == Form::kProxy ? kProxy : form == Form::kPool ? kPool : kService);
  return text.replace(text.find("NAME"), 4, name);
}

std::optional<Options> Parse(const std::vector<std::string>& arguments, Form form) {
  std::map<std::string, std::string> options{{"--timeout", "10"}};
  if (form == Form::kPool) options["--threads"] = "8";
  if (form == Form::kProxy) options["--limit"] = "10000";
  std::vector<std::string> words;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (*argument == "-h" || *argument == "--help") return std::nullopt;
    if (!argument->starts_with('-')) {
      words.push_back(*argument);
      continue;
    }
    const auto equals = argument->find('=');
    const auto option = options.find(argument->substr(0, equals));
    if (option == options.end()) {
      throw ProgramError("option '" + *argument + "' is unknown: see --help");
    }
    if (equals != std::string::npos) {
      option->second = argument->substr(equals + 1);
    } else if (++argument != arguments.end()) {
      option->second = *argument;
    } else {
      throw ProgramError("option '" + option->first + "' lacks its value: see --help");
    }
  }
  if (form == Form::kProxy && words.size() != 4) {
    throw ProgramError("give kernel, an address, a port, and where to connect to: see --help");
  }
  if (form != Form::kProxy && words.size() != 3) {
    throw ProgramError("give kernel, an address, and a port: see --help");
  }
  if (words[0] != "kernel") {
    throw ProgramError("'" + words[0] + "' is no kind of sockets: give kernel");
  }
  const auto address = NumericAddress(words[1]);
  if (!address) {
    throw ProgramError("'" + words[1] + "' is no address: give one such as 127.0.0.1");
  }
  const auto port = Port(words[2]);
  if (!port) throw ProgramError("port '" + words[2] + "': give 1 to 65535");
  return Options{
      .listen = {*address, *port},
      .to = form == Form::kProxy ? BackEnd(words[3]) : Endpoint{},
      .timeout = Timeout(options["--timeout"]),
      .limit = form == Form::kProxy ? Limit(options["--limit"]) : 0,
      .threads = form == Form::kPool ? Threads(options["--threads"]) : 1,
  };
}

int Run(std::string_view name, Form form, int argc, char** argv,
        const std::function<std::string(Start)>& serve) {
  try {
    const auto arguments = std::span(argv, static_cast<std::size_t>(argc)).subspan(1);
    const auto options = Parse({arguments.begin(), arguments.end()}, form);
    if (!options) {
      std::cout << Usage(name, form);
      return 0;
    }
    Start start{*options, Listen(options->listen), StopOnSignals()};
    std::cout << name << ": kernel " << options->listen.address << " port " << options->listen.port;
    if (form == Form::kProxy) std::cout << " to " << options->to.ToString();
    std::cout << std::endl;
    const auto summary = serve(std::move(start));
    std::cout << name << ": " << summary << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace services
