/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

bool
buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t room = buffer->room;
	char *bytes;

	if (buffer->room - buffer->len >= more)
		return true;
	while (room - buffer->len < more)
		room = room == 0 ? 256 : 2 * room;
	bytes = realloc(buffer->bytes, room);
	if (bytes == NULL)
		return false;
	buffer->bytes = bytes;
	buffer->room = room;
	return true;
}

bool
buffer_append(struct buffer *buffer, const void *bytes, size_t len)
{
	if (len == 0)
		return true;
	if (!buffer_reserve(buffer, len))
		return false;
	memcpy(buffer->bytes + buffer->len, bytes, len);
	buffer->len += len;
	return true;
}

void
buffer_drop(struct buffer *buffer, size_t len)
{
	if (len == 0)
		return;
	buffer->len -= len;
	memmove(buffer->bytes, buffer->bytes + len, buffer->len);
}

void
buffer_free(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}
