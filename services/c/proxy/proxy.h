/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Joins each connection to one of its own to a back end, and passes the bytes of both on.
 */
#ifndef PROXY_H
#define PROXY_H

#include "../running.h"
#include "../sockets.h"

/* What a proxy does, and to what. */
struct terms {
	/* The back end. */
	struct sockaddr_storage to;
	/* How long connecting may take, and at the end what is open. */
	uint64_t timeout_ms;
	/* So many pairs at a time at most. */
	size_t limit;
};

/* Returns a proxy without connections, or NULL without memory; then sockets stay the caller's. */
struct running *proxy_new(struct sockets *sockets, const struct terms *terms);

#endif
