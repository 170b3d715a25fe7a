// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Promise;

/** What serves a port, on one event loop, and says by {@code toString} what it has done. */
interface Service {
  /** Prepares a connection that was accepted. */
  void accept(Channel client);

  /** Looks for peers that are too slow. */
  void lookForSlowPeers();

  /** Comes to an end. */
  void stop(Promise<Void> ended);
}
