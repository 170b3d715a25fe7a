/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Bytes that grow at their end.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	char *bytes;
	size_t len;
	size_t room;
};

/* Make room for more bytes. Returns whether there is. */
bool buffer_reserve(struct buffer *buffer, size_t more);

/* Returns false without memory, and nothing is changed. */
bool buffer_append(struct buffer *buffer, const void *bytes, size_t len);

/* Forget the first bytes. */
void buffer_drop(struct buffer *buffer, size_t len);

void buffer_free(struct buffer *buffer);

#endif
