// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.concurrent.Future;
import java.util.List;

/** Two connections that are joined. Closing one of them before both have ended is a reset. */
final class Pair {
  /** What becomes of a pair. */
  enum End {
    /** Both directions have ended. */
    OVER,
    /** The back end does not take the connection. */
    REFUSED,
    /** By a reset, or since nothing moves. */
    BROKEN
  }

  private final Proxy proxy;
  private final Channel client;
  private Channel backEnd;
  private Direction toBackEnd;
  private Direction toClient;
  private boolean isConnected;
  private boolean hasEnded;

  /** When something has moved last. */
  private long activeNs = System.nanoTime();

  Pair(Proxy proxy, Channel client) {
    this.proxy = proxy;
    this.client = client;
  }

  /** Connects to the back end. */
  void connect(Bootstrap bootstrap) {
    toClient = new Direction(client, client.newSucceededFuture());
    ChannelFuture connecting = bootstrap.handler(toClient).connect();
    backEnd = connecting.channel();
    toBackEnd = new Direction(backEnd, connecting);
    client.pipeline().addLast(toBackEnd);
    connecting.addListener(this::connected);
  }

  private void connected(Future<? super Void> connecting) {
    if (!connecting.isSuccess()) {
      breakOff();
      return;
    }
    isConnected = true;
    proxy.connected();
    backEnd.flush();
    client.read();
    backEnd.read();
  }

  boolean isIdle(long nowNs, long afterNs) {
    return isConnected && nowNs - activeNs >= afterNs;
  }

  /** Resets both connections. */
  void breakOff() {
    end(isConnected ? End.BROKEN : End.REFUSED);
  }

  private void end(End end) {
    if (hasEnded) {
      return;
    }
    hasEnded = true;
    for (Channel channel : List.of(client, backEnd)) {
      if (channel.isOpen()) {
        if (end == End.OVER) {
          channel.config().setOption(ChannelOption.SO_LINGER, -1);
        }
        channel.close();
      }
    }
    proxy.ended(this, end);
  }

  /** From one connection to the other. Nothing is read before what was read is sent. */
  private final class Direction extends ChannelInboundHandlerAdapter {
    private final Channel to;

    /** The last bytes on their way, or the connecting before them. */
    private ChannelFuture sent;

    private boolean isShutDown;

    Direction(Channel to, ChannelFuture ready) {
      this.to = to;
      sent = ready;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object bytes) {
      activeNs = System.nanoTime();
      sent = to.write(bytes).addListener(done -> sent(ctx.channel(), done));
      // The end of a connection comes early, with all that was before it: see README.md.
      if (isConnected) {
        to.flush();
      }
    }

    private void sent(Channel from, Future<? super Void> done) {
      if (done.isSuccess()) {
        activeNs = System.nanoTime();
        from.read();
      } else {
        breakOff();
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof ChannelInputShutdownEvent) {
        sent.addListener(this::shutDown);
      }
    }

    private void shutDown(Future<? super Void> done) {
      if (done.isSuccess() && !hasEnded) {
        ((DuplexChannel) to).shutdownOutput();
        isShutDown = true;
        if (toClient.isShutDown && toBackEnd.isShutDown) {
          end(End.OVER);
        }
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      breakOff();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      breakOff();
    }
  }
}
