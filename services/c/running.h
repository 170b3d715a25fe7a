/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What a program runs.
 */
#ifndef RUNNING_H
#define RUNNING_H

#include <stdbool.h>

/* Slow peers are looked for so often. */
#define LOOK_EVERY_MS 100
/* What is silent, and need not speak, is ended after so many time-outs. */
#define IDLE_TIMEOUTS 6

struct running {
	/* Do what there is to do, or wait a little for something. Returns -1 with errno. */
	int (*poll)(struct running *running);
	/* Come to an end. Returns whether that is reached; else it is polled, and asked again. */
	bool (*stop)(struct running *running);
	/* Print what it has done so far. */
	void (*print)(const struct running *running);
	/* Close all connections, and the sockets. */
	void (*free)(struct running *running);
};

#endif
