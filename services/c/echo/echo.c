/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <string.h>

#include "echo.h"
#include "message.h"

/* The server's side of a connection. A message is sent back while it comes. */
struct state {
	/* The beginning of a header. */
	char header[HEADER_LEN];
	size_t header_len;
	/* Bytes of the message that are to come. */
	uint64_t left;
};

static size_t
min(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* A whole header has come. Returns false without memory. */
static bool
take_header(struct state *echo, struct buffer *output, struct taken *taken)
{
	struct message_header header;
	enum message_refusal refusal = message_parse(echo->header, &header);

	echo->header_len = 0;
	if (refusal != NOT_REFUSED) {
		taken->is_last = true;
		return message_refuse(refusal, output);
	}
	echo->left = header.len;
	taken->is_last = header.kind == END;
	if (header.len == 0)
		taken->answered++;
	return message_reply(&header, output);
}

static bool
echo_take(void *state, const char *bytes, size_t len, struct buffer *output, struct taken *taken)
{
	struct state *echo = state;

	while (len > 0 && !taken->is_last) {
		size_t now;

		if (echo->left > 0) {
			now = min(echo->left, len);
			if (!buffer_append(output, bytes, now))
				return false;
			echo->left -= now;
			if (echo->left == 0)
				taken->answered++;
		} else {
			now = min(HEADER_LEN - echo->header_len, len);
			memcpy(echo->header + echo->header_len, bytes, now);
			echo->header_len += now;
			if (echo->header_len == HEADER_LEN && !take_header(echo, output, taken))
				return false;
		}
		bytes += now;
		len -= now;
	}
	taken->is_partial = echo->left > 0 || echo->header_len > 0;
	return true;
}

/* Within a message, nothing else can be said. */
static bool
echo_time_out(void *state, struct buffer *output)
{
	const struct state *echo = state;

	return echo->left == 0 && message_refuse(TIMED_OUT, output);
}

static void
echo_free(void *state)
{
	(void)state;
}

const struct service echo_service = {
	.state_size = sizeof(struct state),
	.has_deadline = false,
	.take = echo_take,
	.time_out = echo_time_out,
	.free = echo_free,
};
