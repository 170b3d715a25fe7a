/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include "connection.h"
#include "response.h"

/* Send what is to be sent. Returns 1 if that was all, 0 if not, or SOCKETS_BROKEN. */
static int
flush(struct connection *connection, struct sockets *sockets)
{
	struct buffer *output = &connection->output;

	if (connection->sent < output->len) {
		ssize_t sent = sockets->send(sockets, connection->id,
			output->bytes + connection->sent, output->len - connection->sent);

		if (sent < 0)
			return SOCKETS_BROKEN;
		connection->sent += (size_t)sent;
	}
	if (connection->sent < output->len)
		return 0;
	output->len = 0;
	connection->sent = 0;
	if (connection->is_last && !connection->is_shut_down) {
		connection->is_shut_down = true;
		sockets->shutdown(sockets, connection->id);
	}
	return 1;
}

static bool
refuse(struct connection *connection, enum refusal refusal)
{
	connection->is_last = true;
	return refuse_request(refusal, &connection->output);
}

/* Answer all whole requests in what has come. Returns false without memory. */
static bool
take(struct connection *connection, const char *bytes, size_t len, uint64_t *answered)
{
	struct buffer *input = &connection->input;
	const bool was_held = input->len > 0;
	struct request request;
	size_t done = 0;

	if (was_held) {
		if (!buffer_append(input, bytes, len))
			return false;
		bytes = input->bytes;
		len = input->len;
	}
	while (!connection->is_last && done < len) {
		enum parsed parsed = parse_request(bytes + done, len - done, &request);

		if (parsed == INCOMPLETE)
			break;
		if (parsed == REFUSED) {
			if (!refuse(connection, request.refusal))
				return false;
			break;
		}
		if (!answer_request(&request, &connection->output))
			return false;
		connection->is_last = !request.keeps_alive;
		done += request.len;
		(*answered)++;
		/* The next one has its own time. */
		connection->waiting_ms = 0;
	}
	if (connection->is_last) {
		input->len = 0;
		return true;
	}
	if (was_held) {
		buffer_drop(input, done);
		return true;
	}
	return buffer_append(input, bytes + done, len - done);
}

bool
connection_go_on(
	struct connection *connection, struct sockets *sockets, uint64_t now_ms, uint64_t *answered)
{
	static char room[ROOM];

	connection->active_ms = now_ms;
	for (;;) {
		/* What was not sent is not added to: the peer has to read first. */
		int flushed = flush(connection, sockets);
		ssize_t len;

		if (flushed < 0)
			return false;
		if (flushed == 0)
			break;
		len = sockets->receive(sockets, connection->id, room, sizeof(room));
		if (len == SOCKETS_NOTHING)
			break;
		if (len <= 0)
			return false;
		if (!connection->is_last && !take(connection, room, (size_t)len, answered))
			return false;
	}
	if (connection->is_last || connection->input.len > 0 ||
		connection->sent < connection->output.len) {
		if (connection->waiting_ms == 0)
			connection->waiting_ms = now_ms;
	} else {
		connection->waiting_ms = 0;
	}
	return true;
}

bool
connection_time_out(struct connection *connection, struct sockets *sockets, uint64_t now_ms)
{
	if (connection->is_last || connection->sent < connection->output.len)
		return false;
	connection->waiting_ms = now_ms;
	return refuse(connection, TIMED_OUT) && flush(connection, sockets) >= 0;
}
