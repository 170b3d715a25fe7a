// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

#include "peer.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace {

int sure(int result, const char* what) {
  if (result < 0) throw Failure(std::string(what) + ": " + std::strerror(errno));
  return result;
}

// The near and the far end of a connection over loopback.
std::pair<int, int> connection() {
  int listener = sure(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  sure(bind(listener, any, length), "bind");
  sure(listen(listener, 1), "listen");
  sure(getsockname(listener, any, &length), "getsockname");
  int near = sure(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sure(connect(near, any, length), "connect");
  int far = sure(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "accept");
  close(listener);
  int on = 1;
  for (int end : {near, far})
    sure(setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
  return {near, far};
}

}  // namespace

void Peer::send(std::span<const Byte> message) const {
  while (!message.empty()) {
    ssize_t written = write(output, message.data(), message.size());
    if (written < 0 && errno == EINTR) continue;
    message =
        message.subspan(static_cast<std::size_t>(sure(static_cast<int>(written), "the peer")));
  }
}

Server::Server(const Options& options) {
  int far_input = -1;
  int far_output = -1;
  if (options.mode == Mode::tcp) {
    auto [near, far] = connection();
    peer_ = {near, near};
    far_input = far_output = far;
  } else {
    int requests[2];
    int responses[2];
    sure(pipe2(requests, O_CLOEXEC), "pipe");
    sure(pipe2(responses, O_CLOEXEC), "pipe");
    peer_ = {responses[0], requests[1]};
    far_input = requests[0];
    far_output = responses[1];
  }
  std::vector<std::string> words;
  if (options.peer_cpu) words = {"taskset", "-c", *options.peer_cpu};
  char program[4'096] = {};
  sure(static_cast<int>(readlink("/proc/self/exe", program, sizeof program - 1)), "readlink");
  words.insert(words.end(), {program, "answer", std::string(options.library->name),
                             std::string(options.case_name)});
  if (options.form.packed) words.emplace_back("--packed");
  if (options.form.reuse) words.emplace_back("--reuse");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  child_ = sure(fork(), "fork");
  if (child_ == 0) {
    dup2(far_input, STDIN_FILENO);
    dup2(far_output, STDOUT_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(far_input);
  if (far_output != far_input) close(far_output);
}

Server::~Server() {
  close(peer_.output);
  if (peer_.input != peer_.output) close(peer_.input);
  waitpid(child_, nullptr, 0);
}

void answer(Exchange& exchange) {
  Peer peer{STDIN_FILENO, STDOUT_FILENO};
  while (exchange.answer(peer)) {
  }
}
