/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * How long an lcore did not poll its queues although frames came: others had its CPU, or a round
 * took long.
 *
 * Seen only where the loop reads the clock anyway, at the drain: a gap is how much later than due
 * that came. So it lasted up to a drain interval (100 us) longer than reported, a shorter one is
 * not seen, and no packet pays for it.
 */

#ifndef GAPS_H
#define GAPS_H

#include <stdint.h>

#include "queue_pair.h"

/* Of one lcore. */
struct gap_watch {
	/* TSC cycles per second. */
	uint64_t hz;
	/* In TSC cycles; shorter ones are not counted. */
	uint64_t least;
	/* Frames received before the last drain. */
	uint64_t received;
};

/* Nothing has been received yet. */
void begin_gap_watch(struct gap_watch *watch);

/* Call at each drain, `late` TSC cycles after it was due. Counts a gap in the lcore's first pair,
 * if frames have come since the last drain.
 */
void watch_gap(struct gap_watch *watch, const struct lcore_work *work, uint64_t late);

#endif
