/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "options.h"
#include "program.h"
#include "proxy/proxy.h"
#include "server.h"

static volatile sig_atomic_t program_stop;

static void
on_signal(int signum)
{
	(void)signum;
	program_stop = 1;
}

static struct sockets *
listen_on_dpdk(const char *name, int eal_argc, char *argv[], const struct options *options)
{
	const char *error;
	struct sockets *sockets;

	/* stdout is for the program's own output. */
	rte_openlog_stream(stderr);
	if (rte_eal_init(eal_argc, argv) < 0) {
		program_wrong(name, "cannot initialise the EAL: %s", rte_strerror(rte_errno));
		return NULL;
	}
	sockets = dpdk_listen((const struct sockaddr *)&options->address, options->prefix_len,
		options->port, &error);
	if (sockets == NULL)
		program_wrong(name, "%s", error);
	return sockets;
}

/* Read the command line, and listen. Returns NULL after the usage or an error was printed, and the
 * exit status in *status.
 */
static struct sockets *
program_start(const char *name, int argc, char *argv[], bool is_proxy, struct options *options,
	int *status)
{
	struct sockets *sockets;
	/* Where the word before the program's own is: it takes the place of its name. */
	int own = 0;
	bool is_help;

	/* Without "--", all words are the program's own. */
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			own = i;
			break;
		}
	*status = EXIT_FAILURE;
	if (!options_parse(name, argc - own, argv + own, is_proxy, options, &is_help))
		return NULL;
	if (is_help) {
		options_print_usage(name, is_proxy);
		*status = EXIT_SUCCESS;
		return NULL;
	}
	if (options->on_dpdk) {
		sockets = listen_on_dpdk(name, own > 0 ? own : 1, argv, options);
	} else {
		sockets = kernel_listen((const struct sockaddr *)&options->address,
			options->address.ss_family == AF_INET ? sizeof(struct sockaddr_in)
							      : sizeof(struct sockaddr_in6));
		if (sockets == NULL)
			program_wrong(name, "cannot listen at %s port %u: %s",
				options->address_text, options->port, strerror(errno));
	}
	if (sockets == NULL)
		return NULL;
	return sockets;
}

/* Poll until a signal has come and the end is reached. Returns the exit status. */
static int
program_run(const char *name, const struct options *options, struct running *running)
{
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	printf("%s: %s %s port %u%s%s\n", name, options->on_dpdk ? "dpdk" : "kernel",
		options->address_text, options->port, options->to_text != NULL ? " to " : "",
		options->to_text != NULL ? options->to_text : "");
	fflush(stdout);
	while (!program_stop || !running->stop(running)) {
		if (running->poll(running) < 0) {
			program_wrong(name, "cannot wait for events: %s", strerror(errno));
			return EXIT_FAILURE;
		}
	}
	printf("%s: ", name);
	running->print(running);
	printf("\n");
	running->free(running);
	if (options->on_dpdk)
		rte_eal_cleanup();
	return EXIT_SUCCESS;
}

static int
program_main(const char *name, const struct service *service, int argc, char *argv[])
{
	struct options options;
	struct sockets *sockets;
	struct running *running;
	int status;

	sockets = program_start(name, argc, argv, service == NULL, &options, &status);
	if (sockets == NULL)
		return status;
	if (service != NULL) {
		running = server_new(sockets, service, options.timeout_ms);
	} else {
		const struct terms terms = {options.to, options.timeout_ms, options.limit};

		running = proxy_new(sockets, &terms);
	}
	if (running == NULL) {
		sockets->free(sockets);
		program_wrong(name, "no memory");
		return EXIT_FAILURE;
	}
	return program_run(name, &options, running);
}

int
program_serve(const char *name, const struct service *service, int argc, char *argv[])
{
	return program_main(name, service, argc, argv);
}

int
program_proxy(const char *name, int argc, char *argv[])
{
	return program_main(name, NULL, argc, argv);
}
