// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package services;

import io.netty.handler.codec.http.HttpResponseStatus;

/**
 * Why a request does not get what it asks for. The message is a sentence for the peer; if it is
 * empty, the answer has no content.
 */
final class Refusal extends Exception {
  static final Refusal MALFORMED = last(400, "This is no request of HTTP/1.1.\n");
  static final Refusal HAS_BODY = last(400, "The request has a body: send none.\n");
  static final Refusal NOT_GET = last(405, "Only GET is answered.\n");

  /** The answer to HEAD has no content (RFC 9110, section 9.3.2). */
  static final Refusal NO_HEAD = last(405, "");

  static final Refusal TIMED_OUT = last(408, "The request did not come in time.\n");
  static final Refusal TOO_LONG = last(431, "The head is too long: 8192 bytes, 64 fields.\n");
  static final Refusal NO_NUMBER =
      kept(400, "This is no number: give /add/A/B, such as /add/1/-2.\n");
  static final Refusal TOO_LARGE = kept(400, "A number or the sum does not fit into 64 bits.\n");
  static final Refusal NO_SUCH_PAGE = kept(404, "There is no such page: ask for /add/A/B.\n");

  private static final long serialVersionUID = 1;

  private final int status;
  private final boolean isLast;

  private Refusal(int status, String sentence, boolean isLast) {
    // Without a stack trace: there is one object of each kind.
    super(sentence, null, false, false);
    this.status = status;
    this.isLast = isLast;
  }

  private static Refusal last(int status, String sentence) {
    return new Refusal(status, sentence, true);
  }

  private static Refusal kept(int status, String sentence) {
    return new Refusal(status, sentence, false);
  }

  HttpResponseStatus status() {
    return HttpResponseStatus.valueOf(status);
  }

  /**
   * Whether nothing more is answered: where the next request begins is not known, or the peer may
   * think otherwise.
   */
  boolean isLast() {
    return isLast;
  }
}
