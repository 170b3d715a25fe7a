// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;

/** What Netty leaves to its users: the rules for the head of a request (RFC 9112). */
final class Head {
  private static final int MOST_FIELDS = 64;
  private static final String SCHEME = "http://";

  private Head() {}

  /** Checks a request, and returns its path. */
  static String path(HttpRequest request) throws Refusal {
    if (request.decoderResult().isFailure()) {
      boolean isTooLong = request.decoderResult().cause() instanceof TooLongFrameException;
      throw isTooLong ? Refusal.TOO_LONG : Refusal.MALFORMED;
    }
    HttpHeaders fields = request.headers();
    int lines = fields.size() + 2;
    if (fields.size() > MOST_FIELDS || characters(request) + 2 * lines > RequestDecoder.LONGEST) {
      throw Refusal.TOO_LONG;
    }
    List<String> lengths = fields.getAll(HttpHeaderNames.CONTENT_LENGTH);
    if (fields.contains(HttpHeaderNames.TRANSFER_ENCODING)
        || !lengths.isEmpty() && !lengths.equals(List.of("0"))) {
      throw Refusal.HAS_BODY;
    }
    boolean isHttp10 = request.protocolVersion().equals(HttpVersion.HTTP_1_0);
    int hosts = fields.getAll(HttpHeaderNames.HOST).size();
    // RFC 9112, section 3.2.
    boolean hasHost = hosts == 1 || hosts == 0 && isHttp10;
    boolean isKnown = isHttp10 || request.protocolVersion().equals(HttpVersion.HTTP_1_1);
    if (!hasHost || !isKnown || !isVisible(request.uri())) {
      throw Refusal.MALFORMED;
    }
    if (!request.method().equals(HttpMethod.GET)) {
      throw request.method().equals(HttpMethod.HEAD) ? Refusal.NO_HEAD : Refusal.NOT_GET;
    }
    return path(request.uri());
  }

  /** Without the ends of the lines. */
  private static int characters(HttpRequest request) {
    return ((HttpMessageDecoderResult) request.decoderResult()).totalSize();
  }

  private static boolean isVisible(String text) {
    return text.chars().allMatch(character -> character > ' ' && character < 0x7f);
  }

  /** Of {@code /path}, or of {@code http://host/path} (RFC 9112, section 3.2.2). */
  private static String path(String target) {
    if (!target.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return target;
    }
    int start = target.indexOf('/', SCHEME.length());
    return start < 0 ? "" : target.substring(start);
  }
}
