// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// The server in a process of its own, which this program starts.

#pragma once

#include <sys/types.h>

#include "options.hpp"

// The child process, and the way to it.
class Server {
 public:
  // Starts this program once more, as a server on stdin and stdout: pipes, or a connection over
  // loopback. Throws a `Failure`.
  explicit Server(const Options& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Ends it and waits for it.
  ~Server();

  const Peer& peer() const { return peer_; }
  pid_t child() const { return child_; }

 private:
  Peer peer_{-1, -1};
  pid_t child_ = -1;
};

// Answers on stdin and stdout until the client has gone.
void answer(Exchange& exchange);
