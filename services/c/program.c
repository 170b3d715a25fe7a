/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "program.h"
#include "server.h"

#define DEFAULT_TIMEOUT_MS 10000
#define MAX_TIMEOUT_S 1e9

static const char usage[] =
	"usage: %s kernel ADDRESS PORT [--timeout SECONDS]\n"
	"       %s [EAL OPTIONS] -- dpdk ADDRESS/PREFIX PORT [--timeout SECONDS]\n"
	"\n"
	"Serves a TCP port, on the kernel's sockets or on dpdk-sockets, until SIGINT or SIGTERM.\n"
	"\n"
	"  ADDRESS            the address to listen at, such as 127.0.0.1 or ::\n"
	"  ADDRESS/PREFIX     the address of the first port and its network, such as 192.0.2.1/24\n"
	"  PORT               1 to 65535\n"
	"  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10\n"
	"  -h, --help         print this text\n";

static volatile sig_atomic_t program_stop;

static void
on_signal(int signum)
{
	(void)signum;
	program_stop = 1;
}

/* Returns false after the message was printed. */
static bool __attribute__((format(printf, 2, 3))) wrong(const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", name);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	return false;
}

static bool
parse_ip(const char *text, struct sockaddr_storage *address, uint16_t port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return true;
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		return true;
	}
	return false;
}

static bool
parse_net(const char *text, struct options *options)
{
	char ip[INET6_ADDRSTRLEN];
	unsigned int prefix_len;
	char rest;

	if (sscanf(text, "%45[0-9a-fA-F.:]/%3u%c", ip, &prefix_len, &rest) != 2 ||
		!parse_ip(ip, &options->address, options->port) ||
		prefix_len > (options->address.ss_family == AF_INET ? 32 : 128))
		return false;
	options->prefix_len = (uint8_t)prefix_len;
	return true;
}

static bool
parse_timeout(const char *name, const char *text, struct options *options)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds > 0) || seconds > MAX_TIMEOUT_S)
		return wrong(name, "a timeout of %s s: give more than 0", text);
	options->timeout_ms = (uint64_t)(seconds * 1000);
	return true;
}

/* Read the program's own words. */
static bool
parse(const char *name, int argc, char *argv[], struct options *options, bool *is_help)
{
	static const struct option known[] = {
		{"timeout", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;
	long port;
	char *end;

	*options = (struct options){.timeout_ms = DEFAULT_TIMEOUT_MS};
	*is_help = false;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		if (option == 't' && !parse_timeout(name, optarg, options))
			return false;
		if (option == 'h') {
			*is_help = true;
			return true;
		}
		if (option == '?')
			return wrong(name, "invalid option '%s': see --help", argv[optind - 1]);
	}
	if (argc - optind != 3)
		return wrong(name, "give kernel or dpdk, an address, and a port: see --help");
	port = strtol(argv[optind + 2], &end, 10);
	if (end == argv[optind + 2] || *end != '\0' || port < 1 || port > UINT16_MAX)
		return wrong(name, "port '%s': give 1 to 65535", argv[optind + 2]);
	options->port = (uint16_t)port;
	options->address_text = argv[optind + 1];
	if (strcmp(argv[optind], "kernel") == 0)
		return parse_ip(options->address_text, &options->address, options->port) ||
		       wrong(name, "'%s' is no address: give one such as 127.0.0.1",
			       options->address_text);
	if (strcmp(argv[optind], "dpdk") != 0)
		return wrong(name, "'%s' is no kind of sockets: give kernel or dpdk", argv[optind]);
	options->on_dpdk = true;
	return parse_net(options->address_text, options) ||
	       wrong(name, "'%s' is no address with a prefix: give one such as 192.0.2.1/24",
		       options->address_text);
}

static struct sockets *
listen_on_dpdk(const char *name, int eal_argc, char *argv[], const struct options *options)
{
	const char *error;
	struct sockets *sockets;

	/* stdout is for the program's own output. */
	rte_openlog_stream(stderr);
	if (rte_eal_init(eal_argc, argv) < 0) {
		wrong(name, "cannot initialise the EAL: %s", rte_strerror(rte_errno));
		return NULL;
	}
	sockets = dpdk_listen((const struct sockaddr *)&options->address, options->prefix_len,
		options->port, &error);
	if (sockets == NULL)
		wrong(name, "%s", error);
	return sockets;
}

/* Read the command line, and listen. Returns NULL after the usage or an error was printed, and the
 * exit status in *status.
 */
static struct sockets *
program_start(const char *name, int argc, char *argv[], struct options *options, int *status)
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
	if (!parse(name, argc - own, argv + own, options, &is_help))
		return NULL;
	if (is_help) {
		printf(usage, name, name);
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
			wrong(name, "cannot listen at %s port %u: %s", options->address_text,
				options->port, strerror(errno));
	}
	if (sockets == NULL)
		return NULL;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	printf("%s: %s %s port %u\n", name, options->on_dpdk ? "dpdk" : "kernel",
		options->address_text, options->port);
	fflush(stdout);
	return sockets;
}

int
program_main(const char *name, const struct service *service, int argc, char *argv[])
{
	struct server server = {.service = service};
	struct options options;
	int status;

	server.sockets = program_start(name, argc, argv, &options, &status);
	if (server.sockets == NULL)
		return status;
	server.timeout_ms = options.timeout_ms;
	while (!program_stop) {
		if (server_poll(&server) < 0) {
			wrong(name, "cannot wait for events: %s", strerror(errno));
			return EXIT_FAILURE;
		}
	}
	printf("%s: %" PRIu64 " requests answered\n", name, server.answered);
	server_end(&server);
	server.sockets->free(server.sockets);
	if (options.on_dpdk)
		rte_eal_cleanup();
	return EXIT_SUCCESS;
}
