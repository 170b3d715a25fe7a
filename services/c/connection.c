/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include "connection.h"

/* Send what is to be sent. Returns 1 if that was all, 0 if not, or SOCKETS_BROKEN. */
static int
flush(struct connection *connection, const struct service *service, struct sockets *sockets)
{
	struct buffer *output = &connection->output;

	if (connection->sent < output->len) {
		ssize_t sent = sockets->send(sockets, connection->id,
			output->bytes + connection->sent, output->len - connection->sent);

		if (sent < 0)
			return SOCKETS_BROKEN;
		connection->sent += (size_t)sent;
		if (sent > 0 && !service->has_deadline)
			connection->waiting_ms = 0;
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

/* Returns false without memory. */
static bool
take(struct connection *connection, const struct service *service, const char *bytes, size_t len,
	uint64_t *answered)
{
	struct taken taken = {0};

	if (!service->take(connection->state, bytes, len, &connection->output, &taken))
		return false;
	connection->is_partial = taken.is_partial;
	connection->is_last = taken.is_last;
	*answered += taken.answered;
	if (taken.answered > 0 || !service->has_deadline)
		/* The next one has its own time. */
		connection->waiting_ms = 0;
	return true;
}

bool
connection_go_on(struct connection *connection, const struct service *service,
	struct sockets *sockets, uint64_t now_ms, uint64_t *answered)
{
	static char room[ROOM];

	connection->active_ms = now_ms;
	for (;;) {
		/* What was not sent is not added to: the peer has to read first. */
		int flushed = flush(connection, service, sockets);
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
		if (!connection->is_last && !take(connection, service, room, (size_t)len, answered))
			return false;
	}
	if (!connection->is_last && !connection->is_partial &&
		connection->sent == connection->output.len)
		connection->waiting_ms = 0;
	else if (connection->waiting_ms == 0)
		connection->waiting_ms = now_ms;
	return true;
}

bool
connection_time_out(struct connection *connection, const struct service *service,
	struct sockets *sockets, uint64_t now_ms)
{
	if (connection->is_last || connection->sent < connection->output.len ||
		!service->time_out(connection->state, &connection->output))
		return false;
	connection->is_last = true;
	connection->waiting_ms = now_ms;
	return flush(connection, service, sockets) >= 0;
}
