/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Responses.
 */
#ifndef RESPONSE_H
#define RESPONSE_H

#include "http.h"
#include "request.h"

/* Append the answer to a request: a page, or why there is none. Returns false without memory. */
bool answer_request(const struct request *request, const struct refusal *refusal,
	const struct page *page, struct buffer *output);

/* Append the last answer of a connection. Returns false without memory. */
bool refuse_request(const struct refusal *refusal, struct buffer *output);

#endif
