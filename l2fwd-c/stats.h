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
#include "forward.h"
#include "port.h"
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
	/* As the device counts. */
	struct rte_eth_stats device;
};

/* All counters at one time, since the start of forwarding. */
struct snapshot {
	double time_s;
	unsigned int nb_ports;
	struct port_stats ports[MASK_PORTS];
	struct totals total;
	/* Frames in TX buffers: while forwarding what the counters leave over, else counted. */
	uint64_t in_flight;
	bool final;
};

/* Add up the counters of the queue pairs, by port and in total; the lcores may be forwarding. */
void add_up(const struct port *ports, unsigned int nb_ports, const struct queue_pair *pairs,
	unsigned int nb_pairs, struct snapshot *snapshot);

/* The counters of all ports and queue pairs. */
void collect(const struct port *ports, unsigned int nb_ports, const struct queue_pair *pairs,
	unsigned int nb_pairs, struct snapshot *snapshot);

/* Make a snapshot, taken when all lcores have stopped, the final one: frames in flight are counted
 * in the TX buffers, since a balance with derived ones would prove nothing.
 */
void count_in_flight(
	struct snapshot *snapshot, const struct queue_pair *pairs, unsigned int nb_pairs);

/* Received frames by poll, empty ones included. */
double burst_average(const struct totals *totals);

double rate_pps(uint64_t now, uint64_t before, double seconds);

/* Every frame received was sent, dropped, too short, or is in flight. */
bool is_balanced(const struct snapshot *snapshot);

/* Say what will be forwarded, and by whom. */
void print_start(FILE *out, const struct options *options, const struct port *ports,
	unsigned int nb_ports, const struct queue_assignment *assignments,
	unsigned int nb_assignments);

/* Say that the ports were stopped and started, and how long they were not to be used. */
void print_reset(FILE *out, double seconds);

/* Print the table. Rates are those since the snapshot `before`. */
void print_stats(FILE *out, const struct snapshot *now, const struct snapshot *before);

#endif
