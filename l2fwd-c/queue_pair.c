/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <string.h>

#include "queue_pair.h"

static void
init_queue_pair(struct queue_pair *pair, const struct queue_assignment *assignment,
	const struct options *options, const struct port *ports)
{
	const struct port *peer = ports;

	while (peer->id != assignment->peer)
		peer++;
	memset(pair, 0, sizeof(*pair));
	pair->rx_port = assignment->port;
	pair->tx_port = assignment->peer;
	pair->queue = assignment->queue;
	pair->burst = options->burst;
	pair->update_macs = options->update_macs;
	pair->capture = options->capture;
	pair->macs[0] = 0x02;
	pair->macs[RTE_ETHER_ADDR_LEN - 1] = (uint8_t)peer->id;
	memcpy(&pair->macs[RTE_ETHER_ADDR_LEN], peer->mac.addr_bytes, RTE_ETHER_ADDR_LEN);
}

void
hand_out_work(const struct queue_assignment *assignments, unsigned int nb_assignments,
	const struct options *options, const struct port *ports, struct queue_pair *pairs,
	struct lcore_work *work)
{
	for (unsigned int i = 0; i < nb_assignments; i++) {
		struct lcore_work *owner = &work[assignments[i].lcore];

		init_queue_pair(&pairs[i], &assignments[i], options, ports);
		/* The pairs of one lcore are adjacent. */
		if (owner->nb_pairs++ == 0)
			owner->pairs = &pairs[i];
		owner->idle_sleep = options->idle_sleep;
	}
}

static void
set(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

void
publish(struct queue_pair *pair)
{
	const struct queue_counts *counts = &pair->counts;
	struct queue_counters *counters = &pair->counters;

	/* Received frames first: a reader that loads in the other order never counts more frames
	 * that left than arrived.
	 */
	set(&counters->rx_polls, counts->rx_polls);
	set(&counters->rx_empty_polls, counts->rx_empty_polls);
	set(&counters->rx_packets, counts->rx_packets);
	set(&counters->rx_short, counts->rx_short);
	set(&counters->tx_packets, counts->tx_packets);
	set(&counters->tx_dropped, counts->tx_dropped);
}
