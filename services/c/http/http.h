/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Answers GET requests of HTTP/1.1, one after the other.
 */
#ifndef HTTP_H
#define HTTP_H

#include "../service.h"
#include "refusal.h"

/* A page that is made for a request has at most so many bytes. */
#define PAGE_ROOM 80

struct page {
	const char *bytes;
	size_t len;
};

/* Find the page at a path, which may be made in room. Returns NULL, or why there is none. */
typedef const struct refusal *find_page(
	const char *path, size_t len, char room[PAGE_ROOM], struct page *page);

/* A server's side of a connection. */
struct http {
	/* The beginning of a request. */
	struct buffer input;
};

/* As of struct service, with the pages that there are. */
bool http_take(struct http *http, find_page *find, const char *bytes, size_t len,
	struct buffer *output, struct taken *taken);

bool http_time_out(void *state, struct buffer *output);

void http_free(void *state);

#endif
