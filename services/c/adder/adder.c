/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include "adder.h"
#include "response.h"

/* The adder's side of a connection. */
struct state {
	/* The beginning of a request. */
	struct buffer input;
};

static bool
adder_take(void *state, const char *bytes, size_t len, struct buffer *output, struct taken *taken)
{
	struct buffer *input = &((struct state *)state)->input;
	const bool was_held = input->len > 0;
	struct request request;
	size_t done = 0;

	if (was_held) {
		if (!buffer_append(input, bytes, len))
			return false;
		bytes = input->bytes;
		len = input->len;
	}
	while (!taken->is_last && done < len) {
		enum parsed parsed = parse_request(bytes + done, len - done, &request);

		if (parsed == INCOMPLETE)
			break;
		if (parsed == REFUSED) {
			taken->is_last = true;
			if (!refuse_request(request.refusal, output))
				return false;
			break;
		}
		if (!answer_request(&request, output))
			return false;
		taken->is_last = !request.keeps_alive;
		taken->answered++;
		done += request.len;
	}
	if (taken->is_last) {
		input->len = 0;
		return true;
	}
	taken->is_partial = done < len;
	if (was_held) {
		buffer_drop(input, done);
		return true;
	}
	return buffer_append(input, bytes + done, len - done);
}

static bool
adder_time_out(void *state, struct buffer *output)
{
	(void)state;
	return refuse_request(TIMED_OUT, output);
}

static void
adder_free(void *state)
{
	buffer_free(&((struct state *)state)->input);
}

const struct service adder_service = {
	.state_size = sizeof(struct state),
	.has_deadline = true,
	.take = adder_take,
	.time_out = adder_time_out,
	.free = adder_free,
};
