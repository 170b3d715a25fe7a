/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../args.h"
#include "../topology.h"
#include "command_line.h"

/* Where warnings go: error.c is built with a name of its own for the function that prints them. */
static FILE *warnings;

void
warn(const char *format, ...)
{
	va_list arguments;

	fputs("warning ", warnings);
	va_start(arguments, format);
	vfprintf(warnings, format, arguments);
	va_end(arguments);
	fputc('\n', warnings);
}

/* The arguments as main() gets them: the program's name, the lines, a null pointer. Each has memory
 * of its own, so that a sanitizer sees when one is read beyond its end.
 */
static char **
split(const uint8_t *data, size_t length, int *argc)
{
	size_t nb_lines = 0;
	char **argv;

	for (size_t i = 0; i < length; i++)
		if (data[i] == '\n' || data[i] == '\0' || i + 1 == length)
			nb_lines++;
	argv = calloc(nb_lines + 2, sizeof(*argv));
	if (argv == NULL)
		return NULL;
	argv[0] = strdup(PROGRAM);
	for (size_t i = 1; i <= nb_lines; i++) {
		size_t end = 0;

		while (end < length && data[end] != '\n' && data[end] != '\0')
			end++;
		argv[i] = strndup((const char *)data, end);
		data += end + 1;
		length -= end < length ? end + 1 : length;
	}
	*argc = (int)nb_lines + 1;
	return argv;
}

static void
free_arguments(char **argv)
{
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

static void
describe_options(FILE *out, const struct options *options, char *const argv[])
{
	for (int i = 1; i < options->eal_argc; i++)
		fprintf(out, "eal %s\n", argv[i]);
	fprintf(out, "port mask %#" PRIx64 ", map %s\n", options->port_mask,
		options->port_map.text != NULL ? options->port_map.text : "none");
	fprintf(out, "queue pairs per lcore %u, queues per port %u, burst %u\n",
		options->queue_pairs_per_lcore, options->queues_per_port, options->burst);
	fprintf(out, "rxd %u, txd %u, mtu %u\n", options->rx_descriptors, options->tx_descriptors,
		options->mtu);
	fprintf(out, "period %" PRIu32 ", duration %" PRIu32 "\n", options->period_s,
		options->duration_s);
	fprintf(out, "promiscuous %d, update macs %d\n", options->promiscuous,
		options->update_macs);
	fprintf(out, "idle sleep %d, capture %d\n", options->idle_sleep, options->capture);
	/* Byte by byte: the name of a file must not change. */
	fputs("statistics ", out);
	for (const char *c = options->stats_json; c != NULL && *c != '\0'; c++)
		fprintf(out, "%02x", (unsigned char)*c);
	fputs(options->stats_json != NULL ? "\n" : "none\n", out);
}

static void
describe_error(FILE *out, struct error *error)
{
	fprintf(out, "%s %s\n", error->status == STATUS_USAGE ? "usage" : "failed",
		error->message != NULL ? error->message : "out of memory");
	clear_error(error);
}

/* Lcores have numbers that are not their places, so that the two cannot be taken for each other. */
static void
describe_plan(FILE *out, const struct options *options)
{
	struct port_pair pairs[MASK_PORTS];
	const unsigned int nb_pairs = pair_ports(options->port_mask, &options->port_map, pairs);
	const unsigned int nb_assignments = nb_pairs * options->queues_per_port;
	const unsigned int nb_lcores = (unsigned int)options->eal_argc;
	struct queue_assignment *assignments = calloc(nb_assignments, sizeof(*assignments));
	unsigned int *lcores = calloc(nb_lcores, sizeof(*lcores));
	struct error error = {0};

	for (unsigned int i = 0; i < nb_pairs; i++)
		fprintf(out, "port %u to port %u\n", pairs[i].port, pairs[i].peer);
	if (assignments == NULL || lcores == NULL)
		set_error(&error, STATUS_FAILED, "out of memory");
	for (unsigned int i = 0; lcores != NULL && i < nb_lcores; i++)
		lcores[i] = 3 * i + 1;
	if (error.status != 0 ||
		assign_queues(pairs, nb_pairs, options->queues_per_port, lcores, nb_lcores,
			options->queue_pairs_per_lcore, assignments, &error) < 0) {
		describe_error(out, &error);
	} else {
		for (unsigned int i = 0; i < nb_assignments; i++)
			fprintf(out, "lcore %u: queue %u of port %u, to port %u\n",
				assignments[i].lcore, assignments[i].queue, assignments[i].port,
				assignments[i].peer);
	}
	free(assignments);
	free(lcores);
}

static void
describe(FILE *out, int argc, char *const argv[])
{
	struct options options;
	struct error error = {0};

	switch (parse_args(argc, argv, &options, &error)) {
	case ARGS_HELP:
		fputs("help\n", out);
		break;
	case ARGS_VERSION:
		fputs("version\n", out);
		break;
	case ARGS_ERROR:
		describe_error(out, &error);
		break;
	case ARGS_RUN:
		fputs("run\n", out);
		describe_options(out, &options, argv);
		describe_plan(out, &options);
		break;
	}
}

char *
describe_command_line(const uint8_t *data, size_t data_len, size_t *text_len)
{
	int argc;
	char **argv = split(data, data_len, &argc);
	char *text = NULL;
	FILE *out = open_memstream(&text, text_len);

	if (argv != NULL && out != NULL) {
		warnings = out;
		describe(out, argc, argv);
	}
	if (out != NULL && fclose(out) != 0) {
		free(text);
		text = NULL;
	}
	free_arguments(argv);
	return text;
}
