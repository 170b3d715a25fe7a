/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "pair.h"

static ssize_t
move(int from, int to, size_t len)
{
	ssize_t moved;

	do {
		moved = splice(from, NULL, to, NULL, len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	} while (moved < 0 && errno == EINTR);
	return moved;
}

/* Fill the pipe, which is empty: the socket alone can be what has to be waited for. Returns false
 * with errno if neither bytes nor the end have come.
 */
static bool
direction_read(struct direction *direction, int socket, struct pipe *spare)
{
	ssize_t moved;
	int error;

	if (!pipe_take(spare, &direction->pipe))
		return false;
	moved = move(socket, direction->pipe.in, PIPE_SIZE);
	if (moved > 0) {
		direction->held = (size_t)moved;
		return true;
	}
	error = errno;
	pipe_give_back(spare, &direction->pipe);
	if (moved == 0) {
		/* Splice never reads urgent data, and returns the same there as at the end. */
		direction->has_ended = sockatmark(socket) == 0;
		error = EPROTO;
	}
	errno = error;
	return direction->has_ended;
}

/* Returns false with errno, in particular if the pipe is not empty yet. */
static bool
direction_write(struct direction *direction, int socket, struct pipe *spare)
{
	while (direction->held > 0) {
		ssize_t moved = move(direction->pipe.out, socket, direction->held);

		if (moved < 0)
			return false;
		direction->held -= (size_t)moved;
	}
	pipe_give_back(spare, &direction->pipe);
	return true;
}

/* Returns false if one of the connections is broken. */
static bool
direction_go_on(struct direction *direction, int from, int to, struct pipe *spare)
{
	while (!direction->is_shut_down) {
		if (direction->held > 0) {
			if (!direction_write(direction, to, spare))
				return errno == EAGAIN;
		} else if (direction->has_ended) {
			direction->is_shut_down = true;
			/* One that is broken is closed soon. */
			shutdown(to, SHUT_WR);
		} else if (!direction_read(direction, from, spare)) {
			return errno == EAGAIN;
		}
	}
	return true;
}

enum fate
pair_go_on(struct pair *pair, struct pipe *spare, uint64_t now_ms)
{
	pair->active_ms = now_ms;
	if (!direction_go_on(
		    &pair->to_back_end, pair->client.socket, pair->back_end.socket, spare) ||
		!direction_go_on(
			&pair->to_client, pair->back_end.socket, pair->client.socket, spare) ||
		pair->client.is_broken || pair->back_end.is_broken)
		return BROKEN;
	return pair->to_back_end.is_shut_down && pair->to_client.is_shut_down ? OVER : GOES_ON;
}
