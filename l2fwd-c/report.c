/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <string.h>

#include <rte_cycles.h>

#include "report.h"

/* How often to check the links. */
#define LINK_INTERVAL_S 1

void
init_report(struct report *report, const struct options *options)
{
	report->text = is_stdout(&report->json) ? stderr : stdout;
	report->start = rte_rdtsc();
	report->period = options->period_s * rte_get_tsc_hz();
	report->next_period = report->start + report->period;
	report->next_links = report->start;
	if (options->duration_s != 0)
		report->end = report->start + options->duration_s * rte_get_tsc_hz();
}

static double
seconds(const struct report *report, uint64_t tsc)
{
	return (double)(tsc - report->start) / (double)rte_get_tsc_hz();
}

void
begin_report(struct report *report, const struct options *options, const struct port *ports,
	unsigned int nb_ports, const struct queue_assignment *assignments,
	unsigned int nb_assignments)
{
	print_start(report->text, options, ports, nb_ports, assignments, nb_assignments);
	write_start(&report->json, options, ports, nb_ports, assignments, nb_assignments);
}

void
update_report(struct report *report, struct port *ports, unsigned int nb_ports,
	struct queue_pair *pairs, unsigned int nb_pairs, uint64_t tsc)
{
	if (report->period != 0 && tsc >= report->next_period) {
		collect(ports, nb_ports, pairs, nb_pairs, &report->now);
		report->now.time_s = seconds(report, tsc);
		print_stats(report->text, &report->now, &report->before);
		write_stats(&report->json, &report->now, &report->before);
		report->before = report->now;
		report->longest_gap_ns =
			RTE_MAX(report->longest_gap_ns, report->now.gaps.longest_ns);
		while (report->next_period <= tsc)
			report->next_period += report->period;
	}
	if (tsc >= report->next_links) {
		report_links(ports, nb_ports, report->text);
		report->next_links = tsc + LINK_INTERVAL_S * rte_get_tsc_hz();
	}
}

bool
is_over(const struct report *report, uint64_t tsc)
{
	return report->end != 0 && tsc >= report->end;
}

void
add_reset(struct report *report, uint64_t begin)
{
	const double end_s = seconds(report, rte_rdtsc());
	const double down_s = end_s - seconds(report, begin);

	print_reset(report->text, down_s);
	write_reset(&report->json, end_s, down_s);
}

void
finish_report(struct report *report, const struct port *ports, unsigned int nb_ports,
	struct queue_pair *pairs, unsigned int nb_pairs)
{
	collect(ports, nb_ports, pairs, nb_pairs, &report->now);
	report->now.time_s = seconds(report, rte_rdtsc());
	count_in_flight(&report->now, pairs, nb_pairs);
	report->now.gaps.longest_ns = RTE_MAX(report->longest_gap_ns, report->now.gaps.longest_ns);
	/* Rates over the whole run: since an empty snapshot. */
	memset(&report->before, 0, sizeof(report->before));
	print_stats(report->text, &report->now, &report->before);
	write_stats(&report->json, &report->now, &report->before);
}
