/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Joins each connection to one of its own to a back end, with splice. See --help.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy.h"

#define NAME "proxy"

static const char usage[] =
	"usage: " NAME " kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]\n"
	"\n"
	"Passes the connections to a TCP port on to another one, by splice on the kernel's sockets,\n"
	"until SIGINT or SIGTERM, and then until all of them have ended.\n"
	"\n"
	"  ADDRESS            the address to listen at, such as 127.0.0.1 or ::\n"
	"  PORT               1 to 65535\n"
	"  TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80\n"
	"  --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10\n"
	"  --limit N          so many connections are passed on at a time; default: 10000\n"
	"  -h, --help         print this text\n";

static volatile sig_atomic_t program_stop;

static void
on_signal(int signum)
{
	(void)signum;
	program_stop = 1;
}

/* Poll until a signal has come and the end is reached. */
static bool
program_run(struct proxy *proxy)
{
	while (!program_stop || !proxy_stop(proxy))
		if (proxy_poll(proxy) < 0)
			return program_wrong(NAME, "cannot wait for events: %s", strerror(errno));
	printf(NAME ": ");
	proxy_print(proxy);
	printf("\n");
	return true;
}

int
main(int argc, char *argv[])
{
	struct options options;
	struct proxy *proxy;
	bool is_help, is_good;

	if (!options_parse(NAME, argc, argv, true, &options, &is_help))
		return EXIT_FAILURE;
	if (is_help) {
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	if (options.on_dpdk) {
		program_wrong(NAME, "splice moves nothing on dpdk: give kernel");
		return EXIT_FAILURE;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	/* Splice has no MSG_NOSIGNAL. */
	signal(SIGPIPE, SIG_IGN);
	proxy = proxy_new(&options);
	if (proxy == NULL) {
		program_wrong(NAME, "cannot listen at %s port %u: %s", options.address_text,
			options.port, strerror(errno));
		return EXIT_FAILURE;
	}
	printf(NAME ": kernel %s port %u to %s\n", options.address_text, options.port,
		options.to_text);
	fflush(stdout);
	is_good = program_run(proxy);
	proxy_free(proxy);
	return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
