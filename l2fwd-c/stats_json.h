/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Statistics for other programs: one JSON object per line.
 */

#ifndef STATS_JSON_H
#define STATS_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "args.h"
#include "port.h"
#include "stats.h"
#include "topology.h"

/* Where the lines go. A write that fails is reported once: a full disk or a reader that
 * went away must not stop the forwarding.
 */
struct stats_json {
	/* NULL: not requested. */
	FILE *out;
	/* As given on the command line. */
	const char *path;
	bool failed;
};

/* Open and empty the file; "-" is stdout. */
int open_stats_json(struct stats_json *json, const char *path, struct error *error);

/* Whether stdout is taken, so that text has to go to stderr. */
bool is_stdout(const struct stats_json *json);

/* Forwarding begins. */
void write_start(struct stats_json *json, const struct options *options, const struct port *ports,
	unsigned int nb_ports, const struct queue_assignment *assignments,
	unsigned int nb_assignments);

/* The ports were stopped and started again, within `seconds` that ended at `time_s`. */
void write_reset(struct stats_json *json, double time_s, double seconds);

/* The counters now. Rates are those since the snapshot `before`. */
void write_stats(
	struct stats_json *json, const struct snapshot *now, const struct snapshot *before);

#endif
