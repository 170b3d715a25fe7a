/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The head of a request (RFC 9112). What could be read in two ways is refused.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "refusal.h"

/* What is asked. */
struct request {
	/* How many bytes it has. */
	size_t len;
	/* Why it is not answered; else NULL. */
	const struct refusal *refusal;
	/* NULL: there is none. */
	const char *path;
	size_t path_len;
	/* Whether more requests can follow. */
	bool keeps_alive;
	/* Whether the peer has to be told that. */
	bool is_http10;
};

/* What the bytes of a connection begin with. */
enum parsed {
	/* The head is not complete. */
	INCOMPLETE,
	REQUEST,
	/* No request that is answered, and request->refusal says why. Where the next one begins is
	 * not known.
	 */
	REFUSED,
};

/* Read the first request. */
enum parsed parse_request(const char *bytes, size_t len, struct request *request);

#endif
