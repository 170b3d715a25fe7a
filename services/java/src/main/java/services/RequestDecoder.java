// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;

/** Netty's decoder, which lets other white space pass than others do, and is stricter here. */
final class RequestDecoder extends HttpRequestDecoder {
  /** The maximum length of a head in bytes. */
  static final int LONGEST = 8_192;

  /** How much of a line has come. */
  private int length;

  private boolean isPartial;
  private long begunNs;

  RequestDecoder() {
    super(new HttpDecoderConfig().setMaxInitialLineLength(LONGEST).setMaxHeaderSize(LONGEST));
  }

  /** Whether the beginning of a request has come, and not the rest. */
  boolean isPartial() {
    return isPartial;
  }

  /** When that has come. */
  long begunNs() {
    return begunNs;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    lookForLines((ByteBuf) message);
    super.channelRead(ctx, message);
  }

  /** Each line is of a head: bodies are refused. */
  private void lookForLines(ByteBuf bytes) {
    boolean wasPartial = isPartial;
    int end = bytes.writerIndex();
    for (int start = bytes.readerIndex(); start < end; ) {
      if (length == 0 && isBlank(bytes.getByte(start))) {
        // It would be the rest of the line before, or nothing. As NUL it is refused.
        bytes.setByte(start, 0);
      }
      int feed = bytes.indexOf(start, end, (byte) '\n');
      int next = feed < 0 ? end : feed + 1;
      length += next - start;
      // A head ends with an empty line.
      isPartial = feed < 0 || length > 2;
      wasPartial &= isPartial;
      length = feed < 0 ? length : 0;
      start = next;
    }
    if (isPartial && !wasPartial) {
      begunNs = System.nanoTime();
    }
  }

  private static boolean isBlank(byte value) {
    return value == ' ' || value == '\t' || value == '\n';
  }

  @Override
  protected String splitSecondWordInitialLine(byte[] line, int start, int length) {
    return super.splitSecondWordInitialLine(line, afterOneSpace(line, start), length);
  }

  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    String version = super.splitThirdWordInitialLine(line, afterOneSpace(line, start), length);
    if (!version.startsWith("HTTP/")) {
      throw new IllegalArgumentException("not the name of the protocol");
    }
    return version;
  }

  private static int afterOneSpace(byte[] line, int start) {
    if (line[start - 1] != ' ' || Character.isWhitespace(line[start - 2])) {
      throw new IllegalArgumentException("not one space between two words");
    }
    return start;
  }
}
