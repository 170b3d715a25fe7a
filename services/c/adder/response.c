/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "response.h"

/* More than the head of any response has. */
#define HEAD_ROOM 200

struct words {
	const char *status;
	const char *text;
};

static const struct words refusals[] = {
	[MALFORMED] = {"400 Bad Request", "This is no request of HTTP/1.1.\n"},
	[HAS_BODY] = {"400 Bad Request", "The request has a body: send none.\n"},
	[NO_NUMBER] = {"400 Bad Request", "This is no number: give /add/A/B, such as /add/1/-2.\n"},
	[TOO_LARGE] = {"400 Bad Request", "A number or the sum does not fit into 64 bits.\n"},
	[NO_SUCH_PAGE] = {"404 Not Found", "There is no such page: ask for /add/A/B.\n"},
	[NOT_GET] = {"405 Method Not Allowed", "Only GET is answered.\n"},
	[TIMED_OUT] = {"408 Request Timeout", "The request did not come in time.\n"},
	[TOO_LONG] = {"431 Request Header Fields Too Large",
		"The head is too long: 8192 bytes, 64 fields.\n"},
};

static bool
write_response(
	struct buffer *output, const char *status, const char *more, const char *text, size_t len)
{
	int head;

	if (!buffer_reserve(output, HEAD_ROOM + len))
		return false;
	head = snprintf(output->bytes + output->len, HEAD_ROOM,
		"HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n", status,
		len, more);
	output->len += (size_t)head;
	return buffer_append(output, text, len);
}

bool
answer_request(const struct request *request, struct buffer *output)
{
	enum refusal refusal = request->refusal;
	const char *more = "";
	char text[80];
	int64_t sum;

	if (refusal == NOT_REFUSED && __builtin_add_overflow(request->a, request->b, &sum))
		refusal = TOO_LARGE;
	if (!request->keeps_alive)
		more = "Connection: close\r\n";
	else if (request->is_http10)
		more = "Connection: keep-alive\r\n";
	if (refusal == NOT_REFUSED) {
		/* Three numbers of 20 characters at most. */
		int len = snprintf(text, sizeof(text), "%" PRId64 " + %" PRId64 " = %" PRId64 "\n",
			request->a, request->b, sum);

		return write_response(output, "200 OK", more, text, (size_t)len);
	}
	return write_response(output, refusals[refusal].status, more, refusals[refusal].text,
		strlen(refusals[refusal].text));
}

bool
refuse_request(enum refusal refusal, struct buffer *output)
{
	const char *more = refusal == NOT_GET ? "Allow: GET\r\nConnection: close\r\n"
					      : "Connection: close\r\n";

	return write_response(output, refusals[refusal].status, more, refusals[refusal].text,
		strlen(refusals[refusal].text));
}
