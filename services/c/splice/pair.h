/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Two connections that are joined.
 */
#ifndef PAIR_H
#define PAIR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pipe.h"

/* Whether a pair goes on. */
enum fate {
	GOES_ON,
	/* Both directions have ended. */
	OVER,
	/* One of the connections is broken. */
	BROKEN,
};

/* A connection of a pair. */
struct end {
	int socket;
	/* Which splice does not tell after the end. */
	bool is_broken;
	struct pair *pair;
};

/* From one connection to the other. */
struct direction {
	/* Where bytes are that came and are not sent. Nothing is read before they are. */
	struct pipe pipe;
	size_t held;
	bool has_ended;
	/* Whether the end was passed on. */
	bool is_shut_down;
};

struct pair {
	struct end client;
	struct end back_end;
	/* Whether the back end has taken the connection. */
	bool is_connected;
	/* Events of the same poll may still name it. */
	bool is_closed;
	struct direction to_back_end;
	struct direction to_client;
	/* When something happened last. */
	uint64_t active_ms;
	LIST_ENTRY(pair) others;
};

/* Pass on what there is, through the spare pipe where a direction has none. */
enum fate pair_go_on(struct pair *pair, struct pipe *spare, uint64_t now_ms);

#endif
