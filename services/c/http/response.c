/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <stdio.h>
#include <string.h>

#include "response.h"

/* More than the head of any response has. */
#define HEAD_ROOM 200

static const char close_header[] = "Connection: close\r\n";

static bool
write_response(struct buffer *output, const char *status, const char *headers,
	const char *connection, const char *content, size_t len)
{
	int head;

	if (!buffer_reserve(output, HEAD_ROOM + len))
		return false;
	head = snprintf(output->bytes + output->len, HEAD_ROOM,
		"HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s%s\r\n",
		status, len, headers, connection);
	output->len += (size_t)head;
	return buffer_append(output, content, len);
}

static bool
write_refusal(struct buffer *output, const struct refusal *refusal, const char *connection)
{
	return write_response(output, refusal->status, refusal->headers, connection,
		refusal->sentence, strlen(refusal->sentence));
}

bool
answer_request(const struct request *request, const struct refusal *refusal,
	const struct page *page, struct buffer *output)
{
	const char *connection = "";

	if (!request->keeps_alive)
		connection = close_header;
	else if (request->is_http10)
		connection = "Connection: keep-alive\r\n";
	if (refusal != NULL)
		return write_refusal(output, refusal, connection);
	return write_response(output, "200 OK", "", connection, page->bytes, page->len);
}

bool
refuse_request(const struct refusal *refusal, struct buffer *output)
{
	if (*refusal->sentence != '\0')
		return write_refusal(output, refusal, close_header);
	if (!buffer_reserve(output, HEAD_ROOM))
		return false;
	output->len += (size_t)snprintf(output->bytes + output->len, HEAD_ROOM,
		"HTTP/1.1 %s\r\n%s%s\r\n", refusal->status, refusal->headers, close_header);
	return true;
}
