/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef ARGS_H
#define ARGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"
#include "topology.h"

#define PROGRAM "l2fwd-c"
#define BURST_MAX 512

struct options {
	/* The arguments before the first "--", argv[0] included: those of the EAL. */
	int eal_argc;
	uint64_t port_mask;
	struct port_map port_map;
	uint16_t queue_pairs_per_lcore;
	uint16_t queues_per_port;
	uint16_t burst;
	uint16_t rx_descriptors;
	uint16_t tx_descriptors;
	/* 0: keep that of the device. */
	uint16_t mtu;
	/* 0: only final statistics. */
	uint32_t period_s;
	/* 0: until a signal. */
	uint32_t duration_s;
	bool promiscuous;
	bool update_macs;
	/* An lcore sleeps while no frames arrive. */
	bool idle_sleep;
	/* Other processes may capture frames. */
	bool capture;
	/* File name, "-" for stdout, NULL for none. */
	const char *stats_json;
};

enum args_result {
	ARGS_RUN,
	ARGS_HELP,
	ARGS_VERSION,
	ARGS_ERROR,
};

/* Split the command line at the first "--" and read the part after it. Needs no EAL. */
enum args_result parse_args(
	int argc, char *const argv[], struct options *options, struct error *error);

void print_usage(FILE *out);

void print_version(FILE *out);

#endif
