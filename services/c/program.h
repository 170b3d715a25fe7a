/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What the programs have in common: where they listen, and when they end.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "service.h"
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

/* Run a service until SIGINT or SIGTERM. Returns the exit status. */
int program_main(const char *name, const struct service *service, int argc, char *argv[]);

#endif
