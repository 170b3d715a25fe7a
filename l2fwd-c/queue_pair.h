/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What the lcores work on: RX queues, each with the TX queue of the same number on the peer port.
 */

#ifndef QUEUE_PAIR_H
#define QUEUE_PAIR_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "args.h"
#include "port.h"
#include "topology.h"

/* Gaps between polls are counted by how long they last: more than 100 us, 1, 3 and 10 ms. */
#define NB_GAP_LIMITS 4

/* Counts of one queue pair since the start, as last published by its lcore. The main lcore may read
 * them at any time.
 */
struct queue_counters {
	_Atomic uint64_t rx_packets;
	_Atomic uint64_t tx_packets;
	_Atomic uint64_t tx_dropped;
	_Atomic uint64_t rx_short;
	_Atomic uint64_t rx_polls;
	_Atomic uint64_t rx_empty_polls;
	/* Of the whole lcore, in its first pair, and counted at once. */
	_Atomic uint64_t gaps[NB_GAP_LIMITS];
	/* Since the main lcore last took it. */
	_Atomic uint64_t longest_gap_ns;
};

/* The current counts, which only the lcore that owns the pair accesses. */
struct queue_counts {
	uint64_t rx_packets;
	uint64_t tx_packets;
	uint64_t tx_dropped;
	uint64_t rx_short;
	uint64_t rx_polls;
	uint64_t rx_empty_polls;
};

/* RX queue `queue` of rx_port and TX queue `queue` of tx_port. */
struct queue_pair {
	alignas(RTE_CACHE_LINE_SIZE) struct queue_counters counters;
	/* Off the counters' cache line, which the main lcore reads. */
	alignas(RTE_CACHE_LINE_SIZE) struct queue_counts counts;
	uint16_t rx_port;
	uint16_t tx_port;
	uint16_t queue;
	uint16_t burst;
	bool update_macs;
	/* Other processes may capture frames. */
	bool capture;
	/* Destination and source MAC of every frame sent. */
	uint8_t macs[2 * RTE_ETHER_ADDR_LEN];
	/* Frames that wait for a full burst, or for the drain. */
	uint16_t nb_buffered;
	struct rte_mbuf *buffer[BURST_MAX];
};

/* What one lcore does. */
struct lcore_work {
	struct queue_pair *pairs;
	unsigned int nb_pairs;
	const atomic_bool *stop;
	/* Sleep while no frames arrive. */
	bool idle_sleep;
	/* Called after each drain; NULL for all lcores but the main one. */
	void (*periodic)(void *argument, uint64_t tsc);
	void *argument;
};

/* Fill in the queue pairs, one for each assignment, and distribute them to the lcores; `work` is
 * indexed by lcore id. The ports must be set up, since each frame gets the MAC of its output port.
 */
void hand_out_work(const struct queue_assignment *assignments, unsigned int nb_assignments,
	const struct options *options, const struct port *ports, struct queue_pair *pairs,
	struct lcore_work *work);

/* Publish the counts to the main lcore. */
void publish(struct queue_pair *pair);

#endif
