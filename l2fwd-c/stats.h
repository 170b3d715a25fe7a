/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_ethdev.h>

#include "args.h"
#include "port.h"
#include "queue_pair.h"
#include "topology.h"

/* Sums over queue pairs: rx_* of those that receive on a port, tx_* of those that send on it. */
struct totals {
	uint64_t rx_packets;
	uint64_t tx_packets;
	uint64_t tx_dropped;
	uint64_t rx_short;
	uint64_t rx_polls;
	uint64_t rx_empty_polls;
};

struct port_stats {
	uint16_t port;
	struct totals totals;
	/* The device's own counters. */
	struct rte_eth_stats device;
};

/* Times in which an lcore did not poll its queues although frames came. */
struct gap_totals {
	uint64_t above[NB_GAP_LIMITS];
	/* Since the last snapshot. */
	uint64_t longest_ns;
};

/* All counters at one time, since the start of forwarding. */
struct snapshot {
	double time_s;
	unsigned int nb_ports;
	struct port_stats ports[MASK_PORTS];
	struct totals total;
	/* Frames in TX buffers: derived from the counters while forwarding, counted at the end. */
	uint64_t in_flight;
	struct gap_totals gaps;
	bool final;
};

/* Received frames per poll that found any, since the totals `before`. */
double burst_average(const struct totals *now, const struct totals *before);

/* Frames per second. */
double rate_pps(uint64_t now, uint64_t before, double seconds);

/* Add up the counters of the queue pairs, by port and in total; the lcores may be forwarding. */
void add_up(const struct port *ports, unsigned int nb_ports, const struct queue_pair *pairs,
	unsigned int nb_pairs, struct snapshot *snapshot);

/* The counters of all ports and queue pairs. Takes their longest gap. */
void collect(const struct port *ports, unsigned int nb_ports, struct queue_pair *pairs,
	unsigned int nb_pairs, struct snapshot *snapshot);

/* Make a snapshot the final one, after all lcores have stopped. Counts the frames in the TX
 * buffers, since a balance with a derived number would prove nothing.
 */
void count_in_flight(
	struct snapshot *snapshot, const struct queue_pair *pairs, unsigned int nb_pairs);

/* Every frame received was sent, dropped, too short, or is in flight. */
bool is_balanced(const struct snapshot *snapshot);

/* Print the ports, and the queues of each lcore. */
void print_start(FILE *out, const struct options *options, const struct port *ports,
	unsigned int nb_ports, const struct queue_assignment *assignments,
	unsigned int nb_assignments);

/* Print that the ports were reset, and how long they were down. */
void print_reset(FILE *out, double seconds);

/* Print the table. Rates are those since the snapshot `before`. */
void print_stats(FILE *out, const struct snapshot *now, const struct snapshot *before);

#endif
