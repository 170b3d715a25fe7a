/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <inttypes.h>
#include <string.h>

#include "stats.h"

static inline uint64_t
load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void
add_totals(struct totals *sum, const struct totals *part)
{
	sum->rx_packets += part->rx_packets;
	sum->tx_packets += part->tx_packets;
	sum->tx_dropped += part->tx_dropped;
	sum->rx_short += part->rx_short;
	sum->rx_polls += part->rx_polls;
	sum->rx_empty_polls += part->rx_empty_polls;
}

/* Frames that were sent, dropped or too short. */
static uint64_t
gone(const struct totals *totals)
{
	return totals->tx_packets + totals->tx_dropped + totals->rx_short;
}

double
burst_average(const struct totals *now, const struct totals *before)
{
	const uint64_t polls = now->rx_polls - before->rx_polls;
	const uint64_t empty_polls = now->rx_empty_polls - before->rx_empty_polls;

	return polls <= empty_polls ? 0
				    : (double)(now->rx_packets - before->rx_packets) /
					      (double)(polls - empty_polls);
}

double
rate_pps(uint64_t now, uint64_t before, double seconds)
{
	return seconds > 0 ? (double)(now - before) / seconds : 0;
}

void
add_up(const struct port *ports, unsigned int nb_ports, const struct queue_pair *pairs,
	unsigned int nb_pairs, struct snapshot *snapshot)
{
	uint64_t left;

	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->nb_ports = nb_ports;
	/* Sent frames of all ports first, so that no more frames leave than arrive. */
	for (unsigned int i = 0; i < nb_ports; i++) {
		struct totals *totals = &snapshot->ports[i].totals;

		for (unsigned int j = 0; j < nb_pairs; j++) {
			if (pairs[j].tx_port == ports[i].id) {
				totals->tx_packets += load(&pairs[j].counters.tx_packets);
				totals->tx_dropped += load(&pairs[j].counters.tx_dropped);
			}
		}
	}
	for (unsigned int i = 0; i < nb_ports; i++) {
		struct totals *totals = &snapshot->ports[i].totals;

		for (unsigned int j = 0; j < nb_pairs; j++) {
			if (pairs[j].rx_port == ports[i].id) {
				totals->rx_short += load(&pairs[j].counters.rx_short);
				totals->rx_packets += load(&pairs[j].counters.rx_packets);
				totals->rx_empty_polls += load(&pairs[j].counters.rx_empty_polls);
				totals->rx_polls += load(&pairs[j].counters.rx_polls);
			}
		}
		add_totals(&snapshot->total, totals);
		snapshot->ports[i].port = ports[i].id;
	}

	left = gone(&snapshot->total);
	if (snapshot->total.rx_packets > left)
		snapshot->in_flight = snapshot->total.rx_packets - left;
}

static void
take_gaps(struct queue_pair *pairs, unsigned int nb_pairs, struct gap_totals *gaps)
{
	for (unsigned int i = 0; i < nb_pairs; i++) {
		struct queue_counters *counters = &pairs[i].counters;
		const uint64_t longest_ns = atomic_exchange_explicit(
			&counters->longest_gap_ns, 0, memory_order_relaxed);

		for (unsigned int j = 0; j < NB_GAP_LIMITS; j++)
			gaps->above[j] += load(&counters->gaps[j]);
		if (longest_ns > gaps->longest_ns)
			gaps->longest_ns = longest_ns;
	}
}

void
collect(const struct port *ports, unsigned int nb_ports, struct queue_pair *pairs,
	unsigned int nb_pairs, struct snapshot *snapshot)
{
	add_up(ports, nb_ports, pairs, nb_pairs, snapshot);
	take_gaps(pairs, nb_pairs, &snapshot->gaps);
	for (unsigned int i = 0; i < nb_ports; i++) {
		/* A port that was unplugged has no statistics any more; the zeros stay. */
		rte_eth_stats_get(ports[i].id, &snapshot->ports[i].device);
	}
}

void
count_in_flight(struct snapshot *snapshot, const struct queue_pair *pairs, unsigned int nb_pairs)
{
	snapshot->final = true;
	snapshot->in_flight = 0;
	for (unsigned int i = 0; i < nb_pairs; i++)
		snapshot->in_flight += pairs[i].nb_buffered;
}

bool
is_balanced(const struct snapshot *snapshot)
{
	const struct totals *total = &snapshot->total;

	return total->rx_packets == gone(total) + snapshot->in_flight;
}

void
print_start(FILE *out, const struct options *options, const struct port *ports,
	unsigned int nb_ports, const struct queue_assignment *assignments,
	unsigned int nb_assignments)
{
	const uint16_t queues = options->queues_per_port;

	for (unsigned int i = 0; i < nb_ports; i++) {
		char mac[RTE_ETHER_ADDR_FMT_SIZE];

		fprintf(out,
			"l2fwd: port %u (%s) %s -> port %u, %u queue%s, "
			"%u RX and %u TX descriptors\n",
			ports[i].id, ports[i].name, format_mac(&ports[i].mac, mac), ports[i].peer,
			queues, queues == 1 ? "" : "s", options->rx_descriptors,
			options->tx_descriptors);
	}
	for (unsigned int i = 0; i < nb_assignments; i++) {
		const struct queue_assignment *assignment = &assignments[i];

		if (i > 0 && assignment->lcore == assignments[i - 1].lcore)
			fputs(", ", out);
		else
			fprintf(out, "%sl2fwd: lcore %u: ", i == 0 ? "" : "\n", assignment->lcore);
		fprintf(out, "port %u queue %u", assignment->port, assignment->queue);
	}
	fputs("\nl2fwd: forwarding, stop with Ctrl-C\n", out);
	fflush(out);
}

void
print_reset(FILE *out, double seconds)
{
	fprintf(out, "l2fwd: ports reset: stopped and restarted in %.6f s\n", seconds);
	fflush(out);
}

static void
print_row(FILE *out, const char *name, const struct totals *now, const struct totals *before,
	double seconds)
{
	fprintf(out,
		"%5s %16" PRIu64 " %16" PRIu64 " %16" PRIu64 " %16" PRIu64 " %10.2f %16" PRIu64
		" %16.0f %16.0f\n",
		name, now->rx_packets, now->tx_packets, now->tx_dropped, now->rx_short,
		burst_average(now, before), now->rx_empty_polls,
		rate_pps(now->rx_packets, before->rx_packets, seconds),
		rate_pps(now->tx_packets, before->tx_packets, seconds));
}

static void
print_gaps(FILE *out, const struct gap_totals *gaps)
{
	fprintf(out,
		"l2fwd: longest gap between polls %.3f ms; %" PRIu64 " above 0.1 ms, %" PRIu64
		" above 1 ms, %" PRIu64 " above 3 ms, %" PRIu64 " above 10 ms\n",
		(double)gaps->longest_ns / 1e6, gaps->above[0], gaps->above[1], gaps->above[2],
		gaps->above[3]);
}

void
print_stats(FILE *out, const struct snapshot *now, const struct snapshot *before)
{
	const double seconds = now->time_s - before->time_s;
	char name[8];

	fprintf(out, "l2fwd: %sstatistics after %.1f s\n", now->final ? "final " : "", now->time_s);
	fprintf(out, "%5s %16s %16s %16s %16s %10s %16s %16s %16s\n", "port", "received", "sent",
		"dropped", "short", "avg burst", "empty polls", "rx pps", "tx pps");
	for (unsigned int i = 0; i < now->nb_ports; i++) {
		snprintf(name, sizeof(name), "%u", now->ports[i].port);
		print_row(out, name, &now->ports[i].totals, &before->ports[i].totals, seconds);
	}
	print_row(out, "total", &now->total, &before->total, seconds);
	print_gaps(out, &now->gaps);
	fflush(out);
}
