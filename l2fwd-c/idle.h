/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef IDLE_H
#define IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "forward.h"

/* What an lcore remembers of its queue pairs' rest. */
struct idle {
	/* Not without the option, and not once a device has refused. */
	bool sleeps;
	/* The devices tell of frames. */
	bool armed;
	/* Queues whose devices this thread waits for, at times. */
	unsigned int nb_watched;
	unsigned int nb_quiet;
	uint64_t received;
};

/* Find out whether the devices can tell of frames, and say so if not. end_idle() belongs to it. */
void begin_idle(struct idle *idle, const struct lcore_work *work);

void end_idle(struct idle *idle, const struct lcore_work *work);

/* To be called after each interval. Sleeps if no frames have come for long, and returns whether it
 * has.
 */
bool see_to_idle(struct idle *idle, const struct lcore_work *work);

#endif
