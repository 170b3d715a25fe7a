/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Pipes, through which splice moves bytes. A direction holds one only while there are bytes in it,
 * so that a pair has seldom more than its two sockets open.
 */
#ifndef PIPE_H
#define PIPE_H

#include <stdbool.h>

/* So many bytes are in a pipe at most. */
#define PIPE_SIZE 16384

struct pipe {
	/* -1: there is none. */
	int out;
	int in;
};

#define NO_PIPE ((struct pipe){-1, -1})

/* Take the spare pipe, or open one. Returns false with errno. */
bool pipe_take(struct pipe *spare, struct pipe *pipe);

/* Keep an empty pipe as the spare one, or close it if there is one. */
void pipe_give_back(struct pipe *spare, struct pipe *pipe);

void pipe_close(struct pipe *pipe);

#endif
