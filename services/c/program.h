/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What the programs have in common: where they listen, and when they end.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sockets.h"

/* The command line, checked. */
struct options {
	/* On dpdk-sockets, not the kernel's. */
	bool on_dpdk;
	struct sockaddr_storage address;
	uint8_t prefix_len;
	uint16_t port;
	/* As they were given. */
	const char *address_text;
	/* How long a peer may take. */
	uint64_t timeout_ms;
};

/* Is set by SIGINT and SIGTERM after program_start. */
extern volatile sig_atomic_t program_stop;

/* Read the command line, and listen. Returns NULL after the usage or an error was printed, and the
 * exit status in *status.
 */
struct sockets *program_start(
	const char *name, int argc, char *argv[], struct options *options, int *status);

/* End the sockets, and the EAL if there is one. */
void program_end(struct sockets *sockets, const struct options *options);

#endif
