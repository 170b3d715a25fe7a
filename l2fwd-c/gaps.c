/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <stdatomic.h>

#include <rte_cycles.h>

#include "gaps.h"

static const uint64_t limits_ns[NB_GAP_LIMITS] = {100000, 1000000, 3000000, 10000000};

/* The main lcore may take the longest one at the same time. */
static void
count_gap(struct queue_counters *counters, uint64_t ns)
{
	uint64_t longest = atomic_load_explicit(&counters->longest_gap_ns, memory_order_relaxed);

	for (unsigned int i = 0; i < NB_GAP_LIMITS; i++)
		if (ns > limits_ns[i])
			atomic_fetch_add_explicit(&counters->gaps[i], 1, memory_order_relaxed);
	while (ns > longest && !atomic_compare_exchange_weak_explicit(&counters->longest_gap_ns,
				       &longest, ns, memory_order_relaxed, memory_order_relaxed))
		;
}

void
begin_gap_watch(struct gap_watch *watch)
{
	const uint64_t hz = rte_get_tsc_hz();

	*watch = (struct gap_watch){.hz = hz, .least = hz * limits_ns[0] / NS_PER_S};
}

void
watch_gap(struct gap_watch *watch, const struct lcore_work *work, uint64_t late)
{
	uint64_t received = 0;

	for (unsigned int i = 0; i < work->nb_pairs; i++)
		received += work->pairs[i].counts.rx_packets;
	if (late > watch->least && received != watch->received)
		count_gap(&work->pairs[0].counters,
			(uint64_t)((double)late / (double)watch->hz * NS_PER_S));
	watch->received = received;
}
