/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "pipe.h"

bool
pipe_take(struct pipe *spare, struct pipe *pipe)
{
	int files[2];

	if (spare->out >= 0) {
		*pipe = *spare;
		*spare = NO_PIPE;
		return true;
	}
	if (pipe2(files, O_NONBLOCK | O_CLOEXEC) < 0)
		return false;
	*pipe = (struct pipe){files[0], files[1]};
	/* It may be smaller already, if its user has many. That works as well. */
	fcntl(pipe->in, F_SETPIPE_SZ, PIPE_SIZE);
	return true;
}

void
pipe_give_back(struct pipe *spare, struct pipe *pipe)
{
	if (spare->out < 0) {
		*spare = *pipe;
		*pipe = NO_PIPE;
	} else {
		pipe_close(pipe);
	}
}

void
pipe_close(struct pipe *pipe)
{
	if (pipe->out < 0)
		return;
	close(pipe->out);
	close(pipe->in);
	*pipe = NO_PIPE;
}
