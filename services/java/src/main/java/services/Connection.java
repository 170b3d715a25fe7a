// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;

/** One connection of the adder: what it reads, and what is to be sent. */
final class Connection extends ChannelInboundHandlerAdapter {
  private static final int IDLE_TIMEOUTS = 6;
  private static final HttpHeadersFactory UNCHECKED =
      DefaultHttpHeadersFactory.headersFactory().withValidation(false);

  private final Adder adder;
  private final Channel channel;
  private final RequestDecoder decoder = new RequestDecoder();

  /** The last answer, and since when it can be taken. */
  private ChannelFuture sent;

  private long answeredNs = System.nanoTime();

  /**
   * Nothing more is answered. What comes is read away, so that the peer gets the last answer and
   * not a reset.
   */
  private boolean isLast;

  Connection(Adder adder, Channel channel) {
    this.adder = adder;
    this.channel = channel;
    sent = channel.newSucceededFuture();
    channel.pipeline().addLast(decoder, new HttpResponseEncoder(), this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    // What is no request is part of a body.
    if (message instanceof HttpRequest request && !isLast) {
      answer(request);
    }
    ReferenceCountUtil.release(message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    ctx.flush();
  }

  /** What was not sent is not added to: the peer has to read first. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    channel.config().setAutoRead(channel.isWritable());
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      sent.addListener(ChannelFutureListener.CLOSE);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    adder.closed(this);
  }

  /**
   * The peer has a time-out to complete a request, and as long to take an answer, or to close after
   * the last one.
   */
  void lookForSlowness(long nowNs, long timeoutNs) {
    if (isLast || !sent.isDone()) {
      if (nowNs - answeredNs >= timeoutNs) {
        channel.close();
      }
    } else if (decoder.isPartial()) {
      if (nowNs - decoder.begunNs() >= timeoutNs) {
        write(Refusal.TIMED_OUT.status(), Refusal.TIMED_OUT.getMessage(), HttpHeaderValues.CLOSE);
        channel.flush();
      }
    } else if (nowNs - answeredNs >= IDLE_TIMEOUTS * timeoutNs) {
      channel.close();
    }
  }

  private void answer(HttpRequest request) {
    AsciiString connection = HttpHeaderValues.CLOSE;
    if (HttpUtil.isKeepAlive(request)) {
      connection =
          request.protocolVersion().isKeepAliveDefault() ? null : HttpHeaderValues.KEEP_ALIVE;
    }
    try {
      write(HttpResponseStatus.OK, Adder.page(Head.path(request)), connection);
    } catch (Refusal refusal) {
      write(
          refusal.status(),
          refusal.getMessage(),
          refusal.isLast() ? HttpHeaderValues.CLOSE : connection);
    }
  }

  private void write(HttpResponseStatus status, String text, AsciiString connection) {
    ByteBuf content = ByteBufUtil.writeAscii(channel.alloc(), text);
    FullHttpResponse response =
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content, UNCHECKED, UNCHECKED);
    HttpHeaders fields = response.headers();
    if (content.isReadable()) {
      fields.set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN);
      fields.setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    }
    if (status.equals(HttpResponseStatus.METHOD_NOT_ALLOWED)) {
      fields.set(HttpHeaderNames.ALLOW, HttpMethod.GET);
    }
    if (connection != null) {
      fields.set(HttpHeaderNames.CONNECTION, connection);
    }
    sent = channel.write(response);
    answeredNs = System.nanoTime();
    adder.answered();
    if (connection == HttpHeaderValues.CLOSE) {
      isLast = true;
      sent.addListener(done -> ((DuplexChannel) channel).shutdownOutput());
    }
  }
}
