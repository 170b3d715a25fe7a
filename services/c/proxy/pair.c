/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <stdlib.h>

#include "pair.h"

static char room[ROOM];

/* Returns false if one of the connections is broken. */
static bool
direction_go_on(struct direction *direction, struct sockets *sockets, struct socket_id from,
	struct socket_id to)
{
	struct buffer *held = &direction->held;

	for (;;) {
		ssize_t len, sent;

		if (direction->sent < held->len) {
			sent = sockets->send(sockets, to, held->bytes + direction->sent,
				held->len - direction->sent);
			if (sent < 0)
				return false;
			direction->sent += (size_t)sent;
			if (direction->sent < held->len)
				return true;
			buffer_free(held);
			direction->sent = 0;
		}
		if (direction->has_ended) {
			if (!direction->is_shut_down) {
				direction->is_shut_down = true;
				sockets->shutdown(sockets, to);
			}
			/* A reset can still come. */
			return sockets->receive(sockets, from, room, sizeof(room)) !=
			       SOCKETS_BROKEN;
		}
		len = sockets->receive(sockets, from, room, sizeof(room));
		if (len == SOCKETS_NOTHING)
			return true;
		if (len < 0)
			return false;
		if (len == 0) {
			direction->has_ended = true;
			continue;
		}
		sent = sockets->send(sockets, to, room, (size_t)len);
		if (sent < 0 || !buffer_append(held, room + sent, (size_t)(len - sent)))
			return false;
	}
}

enum fate
pair_wait(struct pair *pair, struct socket_id id, struct sockets *sockets)
{
	if (id.id == pair->back_end.id &&
		sockets->receive(sockets, id, room, sizeof(room)) == SOCKETS_BROKEN)
		return BROKEN;
	return GOES_ON;
}

enum fate
pair_go_on(struct pair *pair, struct sockets *sockets, uint64_t now_ms)
{
	pair->active_ms = now_ms;
	if (!direction_go_on(&pair->to_back_end, sockets, pair->client, pair->back_end) ||
		!direction_go_on(&pair->to_client, sockets, pair->back_end, pair->client))
		return BROKEN;
	return pair->to_back_end.is_shut_down && pair->to_client.is_shut_down ? OVER : GOES_ON;
}

void
pair_free(struct pair *pair)
{
	buffer_free(&pair->to_back_end.held);
	buffer_free(&pair->to_client.held);
	free(pair);
}
