/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef OBSERVATION_H
#define OBSERVATION_H

#include "error.h"
#include "port.h"
#include "queue_pair.h"

/* Let dpdk-dumpcap capture frames. */
int enable_capture(struct error *error);

/* Report the counters on DPDK's telemetry socket, until stop_telemetry(). */
int start_telemetry(const struct port *ports, unsigned int nb_ports, const struct queue_pair *pairs,
	unsigned int nb_pairs, struct error *error);

/* The ports and pairs are not read any more once this has returned. */
void stop_telemetry(void);

#endif
