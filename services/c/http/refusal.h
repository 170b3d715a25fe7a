/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Why a request does not get what it asks for.
 */
#ifndef REFUSAL_H
#define REFUSAL_H

/* A status, more headers, and a sentence. */
struct refusal {
	/* The code and its phrase (RFC 9110, section 15). */
	const char *status;
	const char *headers;
	/* Empty: the answer has no content. */
	const char *sentence;
};

extern const struct refusal refusal_malformed;
extern const struct refusal refusal_has_body;
extern const struct refusal refusal_not_found;
extern const struct refusal refusal_timed_out;
extern const struct refusal refusal_too_long;
extern const struct refusal refusal_not_get;
/* The answer to HEAD has no content (RFC 9110, section 9.3.2). */
extern const struct refusal refusal_head;

#endif
