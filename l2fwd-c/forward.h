/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef FORWARD_H
#define FORWARD_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "args.h"
#include "port.h"
#include "topology.h"

/* What one queue pair has done since the start, as its lcore has last published it; the main lcore
 * may read at any time.
 */
struct queue_counters {
	_Atomic uint64_t rx_packets;
	_Atomic uint64_t tx_packets;
	_Atomic uint64_t tx_dropped;
	_Atomic uint64_t rx_short;
	_Atomic uint64_t rx_polls;
	_Atomic uint64_t rx_empty_polls;
};

/* The same, as only the lcore sees it that owns the pair. */
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
	uint16_t nb_buffered;
	struct rte_mbuf *buffer[BURST_MAX];
};

/* What one lcore does. */
struct lcore_work {
	unsigned int lcore;
	struct queue_pair *pairs;
	unsigned int nb_pairs;
	const atomic_bool *stop;
	/* Sleep when no frames come. */
	bool idle_sleep;
	/* Called every 100 us, or after each sleep; NULL for all lcores but the main one. */
	void (*periodic)(void *argument, uint64_t tsc);
	void *argument;
};

/* Fill in the queue pairs, one for each assignment, and share them out to the lcores; `work` is
 * indexed by lcore id. The ports must be set up, since each frame gets the MAC of its output port.
 */
void hand_out_work(const struct queue_assignment *assignments, unsigned int nb_assignments,
	const struct options *options, const struct port *ports, struct queue_pair *pairs,
	struct lcore_work *work);

/* Write the MACs into each frame. Returns false as soon as a frame is too short for an Ethernet
 * header: then some are written.
 */
bool rewrite_macs(const struct queue_pair *pair, struct rte_mbuf **frames, uint16_t nb_frames);

/* Drop the frames that are too short for an Ethernet header, and write the MACs into the others.
 * Returns the number of frames kept, which stay in order.
 */
uint16_t drop_runts(struct queue_pair *pair, struct rte_mbuf **frames, uint16_t nb_frames);

/* Receive one burst, and send it or put it into the TX buffer. */
void forward_burst(struct queue_pair *pair);

/* Send what is in the TX buffer, and publish the counters. */
void flush_buffer(struct queue_pair *pair);

/* Forward until the stop flag is set. The argument is a struct lcore_work. */
int forward_loop(void *argument);

#endif
