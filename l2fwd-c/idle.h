/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef IDLE_H
#define IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "queue_pair.h"

/* How long an lcore's queue pairs have been idle. */
struct idle {
	/* Set by --idle-sleep, cleared when a device call fails. */
	bool sleeps;
	/* The interrupts are enabled. */
	bool armed;
	/* Queues registered in this thread's epoll set. */
	unsigned int nb_watched;
	unsigned int nb_quiet;
	uint64_t received;
};

/* Register for the interrupts of the RX queues, and warn if a device has none. end_idle() undoes
 * the registration.
 */
void begin_idle(struct idle *idle, const struct lcore_work *work);

void end_idle(struct idle *idle, const struct lcore_work *work);

/* Call after each interval. Sleeps if no frames have arrived for a while, and returns whether it
 * slept.
 */
bool sleep_if_idle(struct idle *idle, const struct lcore_work *work);

#endif
