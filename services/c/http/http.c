/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include "http.h"
#include "request.h"
#include "response.h"

bool
http_take(struct http *http, find_page *find, const char *bytes, size_t len, struct buffer *output,
	struct taken *taken)
{
	struct buffer *input = &http->input;
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
		const struct refusal *refusal = &refusal_not_found;
		char room[PAGE_ROOM];
		struct page page;
		enum parsed parsed = parse_request(bytes + done, len - done, &request);

		if (parsed == INCOMPLETE)
			break;
		if (parsed == REFUSED) {
			taken->is_last = true;
			if (!refuse_request(request.refusal, output))
				return false;
			break;
		}
		if (request.path != NULL)
			refusal = find(request.path, request.path_len, room, &page);
		if (!answer_request(&request, refusal, &page, output))
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

bool
http_time_out(void *state, struct buffer *output)
{
	(void)state;
	return refuse_request(&refusal_timed_out, output);
}

void
http_free(void *state)
{
	buffer_free(&((struct http *)state)->input);
}
