/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <arpa/inet.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* The stack of the word dpdk. */
#ifndef DPDK_STACK
#define DPDK_STACK "dpdk-sockets"
#endif

#define DEFAULT_TIMEOUT_MS 10000
#define DEFAULT_LIMIT 10000
#define MAX_TIMEOUT_S 1e9

static const char service_usage[] =
	"usage: %s kernel ADDRESS PORT [--timeout SECONDS]\n"
	"       %s [EAL OPTIONS] -- dpdk ADDRESS/PREFIX PORT [--timeout SECONDS]\n"
	"\n"
	"Serves a TCP port, on the kernel's sockets or on " DPDK_STACK
	", until SIGINT or SIGTERM.\n"
	"\n"
	"  ADDRESS            the address to listen at, such as 127.0.0.1 or ::\n"
	"  ADDRESS/PREFIX     the address of the first port and its network, such as 192.0.2.1/24\n"
	"  PORT               1 to 65535\n"
	"  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10\n"
	"  -h, --help         print this text\n";

static const char proxy_usage[] =
	"usage: %s kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]\n"
	"       %s [EAL OPTIONS] -- dpdk ADDRESS/PREFIX PORT TO [--timeout SECONDS] [--limit N]\n"
	"\n"
	"Passes the connections to a TCP port on to another one, on the kernel's sockets or on\n" DPDK_STACK
	", until SIGINT or SIGTERM, and then until all of them have ended.\n"
	"\n"
	"  ADDRESS            the address to listen at, such as 127.0.0.1 or ::\n"
	"  ADDRESS/PREFIX     the address of the first port and its network, such as 192.0.2.1/24\n"
	"  PORT               1 to 65535\n"
	"  TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80\n"
	"  --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10\n"
	"  --limit N          so many connections are passed on at a time; default: 10000\n"
	"  -h, --help         print this text\n";

void
options_print_usage(const char *name, bool is_proxy)
{
	if (is_proxy)
		printf(proxy_usage, name, name);
	else
		printf(service_usage, name, name);
}

bool
program_wrong(const char *name, const char *format, ...)
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
		return program_wrong(name, "a timeout of %s s: give more than 0", text);
	options->timeout_ms = (uint64_t)(seconds * 1000);
	return true;
}

static bool
parse_to(const char *name, const char *text, struct options *options)
{
	char ip[INET6_ADDRSTRLEN];
	unsigned int port;
	char rest;

	options->to_text = text;
	if ((sscanf(text, "[%45[0-9a-fA-F.:]]:%5u%c", ip, &port, &rest) == 2 ||
		    sscanf(text, "%45[0-9.]:%5u%c", ip, &port, &rest) == 2) &&
		port >= 1 && port <= UINT16_MAX && parse_ip(ip, &options->to, (uint16_t)port))
		return true;
	return program_wrong(name,
		"'%s' is nothing to connect to: give an address and a port such as 127.0.0.1:80 "
		"or [::1]:80",
		text);
}

static bool
parse_limit(const char *name, const char *text, struct options *options)
{
	char *end;
	unsigned long limit = strtoul(text, &end, 10);

	if (end == text || *end != '\0' || *text == '-' || limit == 0)
		return program_wrong(name, "a limit of %s connections: give 1 or more", text);
	options->limit = limit;
	return true;
}

bool
options_parse(const char *name, int argc, char *argv[], bool is_proxy, struct options *options,
	bool *is_help)
{
	const struct option known[] = {
		{"timeout", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		/* Of a proxy. */
		{is_proxy ? "limit" : NULL, required_argument, NULL, 'l'},
		{NULL, 0, NULL, 0},
	};
	int option;
	long port;
	char *end;

	*options = (struct options){.timeout_ms = DEFAULT_TIMEOUT_MS, .limit = DEFAULT_LIMIT};
	*is_help = false;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		if (option == 't' && !parse_timeout(name, optarg, options))
			return false;
		if (option == 'l' && !parse_limit(name, optarg, options))
			return false;
		if (option == 'h') {
			*is_help = true;
			return true;
		}
		if (option == '?')
			return program_wrong(
				name, "invalid option '%s': see --help", argv[optind - 1]);
	}
	if (argc - optind != (is_proxy ? 4 : 3))
		return program_wrong(name, "give kernel or dpdk, an address, %s: see --help",
			is_proxy ? "a port, and where to connect to" : "and a port");
	port = strtol(argv[optind + 2], &end, 10);
	if (end == argv[optind + 2] || *end != '\0' || port < 1 || port > UINT16_MAX)
		return program_wrong(name, "port '%s': give 1 to 65535", argv[optind + 2]);
	options->port = (uint16_t)port;
	options->address_text = argv[optind + 1];
	if (is_proxy && !parse_to(name, argv[optind + 3], options))
		return false;
	if (strcmp(argv[optind], "kernel") == 0)
		return parse_ip(options->address_text, &options->address, options->port) ||
		       program_wrong(name, "'%s' is no address: give one such as 127.0.0.1",
			       options->address_text);
	if (strcmp(argv[optind], "dpdk") != 0)
		return program_wrong(
			name, "'%s' is no kind of sockets: give kernel or dpdk", argv[optind]);
	options->on_dpdk = true;
	return parse_net(options->address_text, options) ||
	       program_wrong(name,
		       "'%s' is no address with a prefix: give one such as 192.0.2.1/24",
		       options->address_text);
}
