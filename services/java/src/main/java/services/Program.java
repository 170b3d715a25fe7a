// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** What the programs have in common: where they listen, and when they end. */
final class Program {
  private static final int LOOK_EVERY_MS = 100;

  private Program() {}

  /** Runs a service until SIGINT or SIGTERM, or says why not, and ends with status 1. */
  static void run(
      String name, boolean isProxy, String[] words, Function<Options, Service> service) {
    try {
      Optional<Options> options = Options.parse(List.of(words), isProxy);
      if (options.isPresent()) {
        serve(name, options.get(), service.apply(options.get()));
      } else {
        System.out.print(Options.usage(name, isProxy));
      }
    } catch (IllegalArgumentException | IOException e) {
      System.err.println(name + ": " + e.getMessage());
      System.exit(1);
    }
  }

  private static void serve(String name, Options options, Service service) throws IOException {
    EventLoop loop = new EpollEventLoopGroup(1).next();
    ChannelFuture listening =
        new ServerBootstrap()
            .group(loop)
            .channel(EpollServerSocketChannel.class)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel client) {
                    service.accept(client);
                  }
                })
            .bind(options.place())
            .awaitUninterruptibly();
    if (!listening.isSuccess()) {
      String place = NetUtil.toSocketAddressString(options.place());
      throw new IOException("cannot listen at " + place + ": " + listening.cause().getMessage());
    }
    loop.scheduleAtFixedRate(service::lookForSlowPeers, LOOK_EVERY_MS, LOOK_EVERY_MS, MILLISECONDS);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> stop(name, service, listening.channel())));
    System.out.println(name + ": " + options);
  }

  /** What a signal starts. */
  private static void stop(String name, Service service, Channel listener) {
    Promise<Void> ended = listener.eventLoop().newPromise();
    listener.close().addListener(closed -> service.stop(ended));
    ended.awaitUninterruptibly();
    System.out.println(name + ": " + service);
    // Else the status would be that of the signal.
    Runtime.getRuntime().halt(0);
  }
}
