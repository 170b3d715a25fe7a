// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestDecoderTest {
  private final RequestDecoder decoder = new RequestDecoder();
  private final EmbeddedChannel channel = new EmbeddedChannel(decoder);

  private void receive(String text) {
    channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
  }

  @Test
  void aRequestIsPartialUntilItsEmptyLine() {
    String text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    for (int end = 1; end < text.length(); end++) {
      receive(text.substring(end - 1, end));
      assertTrue(decoder.isPartial(), text.substring(0, end));
    }
    receive("\n");
    assertFalse(decoder.isPartial());
    receive("\r\n" + text + text.substring(0, 20));
    assertTrue(decoder.isPartial());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " GET / HTTP/1.1\r\n\r\n",
        "\nGET / HTTP/1.1\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET / \tHTTP/1.1\r\n\r\n",
        "GET / http/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n",
        "GET / HTTP/1.1\nA: b\r\n\r\n",
      })
  void otherWhiteSpaceIsRefused(String text) {
    receive(text);
    HttpRequest request = channel.readInbound();
    assertTrue(request.decoderResult().isFailure(), request.toString());
  }
}
