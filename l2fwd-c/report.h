/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What the main lcore reports: text, and JSON lines if requested.
 */

#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "args.h"
#include "port.h"
#include "queue_pair.h"
#include "stats.h"
#include "stats_json.h"
#include "topology.h"

struct report {
	/* stdout, or stderr where stdout is for JSON. */
	FILE *text;
	struct stats_json json;
	/* Times are in TSC cycles. */
	uint64_t start;
	/* 0: never. */
	uint64_t period;
	uint64_t next_period;
	uint64_t next_links;
	/* 0: never. */
	uint64_t end;
	struct snapshot now;
	struct snapshot before;
	/* In all snapshots but the last one. */
	uint64_t longest_gap_ns;
};

/* Start the clock. `json` is open already. */
void init_report(struct report *report, const struct options *options);

/* Report the ports, and the queues of each lcore. */
void begin_report(struct report *report, const struct options *options, const struct port *ports,
	unsigned int nb_ports, const struct queue_assignment *assignments,
	unsigned int nb_assignments);

/* Report statistics and changed links when they are due. `tsc` is the time now. */
void update_report(struct report *report, struct port *ports, unsigned int nb_ports,
	struct queue_pair *pairs, unsigned int nb_pairs, uint64_t tsc);

/* Whether the time of --duration is over. */
bool is_over(const struct report *report, uint64_t tsc);

/* Report that the ports were stopped and started again, from `begin` until now. */
void add_reset(struct report *report, uint64_t begin);

/* Report the final statistics, once all lcores have stopped. */
void finish_report(struct report *report, const struct port *ports, unsigned int nb_ports,
	struct queue_pair *pairs, unsigned int nb_pairs);

#endif
