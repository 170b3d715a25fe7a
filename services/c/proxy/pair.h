/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Two connections that are joined.
 */
#ifndef PAIR_H
#define PAIR_H

#include "../buffer.h"
#include "../sockets.h"

/* Whether a pair goes on. */
enum fate {
	GOES_ON,
	/* Both directions have ended. */
	OVER,
	/* One of the connections is broken. */
	BROKEN,
};

/* From one connection to the other. */
struct direction {
	/* Bytes of which so many are sent. Nothing is read before the others are. */
	struct buffer held;
	size_t sent;
	bool has_ended;
	/* Whether the end was passed on. */
	bool is_shut_down;
};

struct pair {
	struct socket_id client;
	struct socket_id back_end;
	/* Whether the back end has taken the connection. */
	bool is_connected;
	/* Its connections are given back. */
	bool is_closed;
	struct direction to_back_end;
	struct direction to_client;
	/* When something happened last. */
	uint64_t active_ms;
	/* Others of the proxy. */
	struct pair *next;
	struct pair *previous;
};

/* What an event of one of the connections means before the back end has taken the other one. That
 * would be known before anything is read from there.
 */
enum fate pair_wait(struct pair *pair, struct socket_id id, struct sockets *sockets);

/* Pass on what there is. */
enum fate pair_go_on(struct pair *pair, struct sockets *sockets, uint64_t now_ms);

void pair_free(struct pair *pair);

#endif
