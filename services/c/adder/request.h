/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The head of a request (RFC 9112). What could be read in two ways is refused.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum length of a head in bytes. */
#define LONGEST_HEAD 8192

/* Why there is no sum; or that there is one. */
enum refusal {
	NOT_REFUSED,
	MALFORMED,
	TOO_LONG,
	NOT_GET,
	HAS_BODY,
	NO_SUCH_PAGE,
	NO_NUMBER,
	TOO_LARGE,
	TIMED_OUT,
};

/* What is asked. */
struct request {
	/* How many bytes it has. */
	size_t len;
	/* Why there are no numbers. */
	enum refusal refusal;
	int64_t a;
	int64_t b;
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
