/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The command lines.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	/* Where a proxy connects to. */
	struct sockaddr_storage to;
	const char *to_text;
	/* So many connections a proxy passes on at a time. */
	size_t limit;
};

/* Read the program's own words. Returns false after the message was printed. */
bool options_parse(const char *name, int argc, char *argv[], bool is_proxy, struct options *options,
	bool *is_help);

void options_print_usage(const char *name, bool is_proxy);

/* Print what is wrong. Returns false. */
bool program_wrong(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
