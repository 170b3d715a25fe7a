// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.concurrent.Promise;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Joins each connection to one of its own to a back end, and passes the bytes of both on. */
final class Proxy implements Service {
  /** A pair on which nothing moves is reset after so many time-outs. */
  private static final int IDLE_TIMEOUTS = 6;

  private final long timeoutNs;
  private final int limit;
  private final Bootstrap backEnd;
  private final Set<Pair> pairs = new HashSet<>();

  /** If there is one, the end is reached without pairs, or a time-out after its start. */
  private Promise<Void> ended;

  private long stoppedNs;

  private long connections;
  private long refused;
  private long overLimit;
  private long broken;

  Proxy(Options options) {
    timeoutNs = options.timeout().toNanos();
    limit = options.limit();
    long timeoutMs = Math.min(NANOSECONDS.toMillis(timeoutNs) + 1, Integer.MAX_VALUE);
    backEnd =
        new Bootstrap()
            .channel(EpollSocketChannel.class)
            .remoteAddress(options.to())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeoutMs)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .option(ChannelOption.AUTO_READ, false)
            .option(ChannelOption.SO_LINGER, 0);
  }

  public static void main(String[] words) {
    Program.run("proxy", true, words, Proxy::new);
  }

  @Override
  public void accept(Channel client) {
    client.config().setAutoRead(false);
    // Until it has ended well, closing it is a reset.
    client.config().setOption(ChannelOption.SO_LINGER, 0);
    if (pairs.size() == limit) {
      overLimit++;
      client.close();
    } else {
      Pair pair = new Pair(this, client);
      pairs.add(pair);
      pair.connect(backEnd.clone(client.eventLoop()));
    }
  }

  void connected() {
    connections++;
  }

  void ended(Pair pair, Pair.End end) {
    pairs.remove(pair);
    switch (end) {
      case REFUSED -> refused++;
      case BROKEN -> broken++;
      case OVER -> {}
    }
    if (ended != null && pairs.isEmpty()) {
      ended.setSuccess(null);
    }
  }

  @Override
  public void lookForSlowPeers() {
    long nowNs = System.nanoTime();
    boolean isLate = ended != null && nowNs - stoppedNs >= timeoutNs;
    for (Pair pair : List.copyOf(pairs)) {
      if (isLate || pair.isIdle(nowNs, IDLE_TIMEOUTS * timeoutNs)) {
        pair.breakOff();
      }
    }
  }

  @Override
  public void stop(Promise<Void> ended) {
    this.ended = ended;
    stoppedNs = System.nanoTime();
    if (pairs.isEmpty()) {
      ended.setSuccess(null);
    }
  }

  @Override
  public String toString() {
    return "%d connections, %d refused, %d over the limit, %d broken"
        .formatted(connections, refused, overLimit, broken);
  }
}
