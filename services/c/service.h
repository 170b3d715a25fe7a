/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What sets one service apart from another.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* What a service has done with bytes of a connection. */
struct taken {
	/* So many requests were answered. */
	uint64_t answered;
	/* The beginning of another one has come, and not the rest. */
	bool is_partial;
	/* Nothing more is answered. */
	bool is_last;
};

/* One connection's side of a service is state_size bytes, which are 0 at first. */
struct service {
	size_t state_size;
	/* Whether a whole request has to come within the time-out; else any of its bytes have to.
	 */
	bool has_deadline;
	/* Take bytes of the peer, and append what answers them. Returns false without memory. */
	bool (*take)(void *state, const char *bytes, size_t len, struct buffer *output,
		struct taken *taken);
	/* Append the last answer of a connection whose peer was too slow. Returns whether there is
	 * one.
	 */
	bool (*time_out)(void *state, struct buffer *output);
	/* Free what the state holds. */
	void (*free)(void *state);
};

#endif
