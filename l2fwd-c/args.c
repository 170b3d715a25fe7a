/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The command line. getopt_long is not used because it cannot say which argument was wrong: it
 * gives the same answer for an unknown, an ambiguous and an over-full option. Its rules are kept
 * (abbreviations, clusters of short options, "--opt value" and "--opt=value").
 */

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "args.h"

enum option_kind {
	OPTION_FLAG,
	OPTION_NUMBER,
	OPTION_PORT_MASK,
	OPTION_PORT_MAP,
	OPTION_FILE,
};

enum option_id {
	ID_PORT_MASK,
	ID_QUEUE_PAIRS,
	ID_PERIOD,
	ID_PROMISCUOUS,
	ID_PORT_MAP,
	ID_NO_MAC_UPDATING,
	ID_BURST,
	ID_RXD,
	ID_TXD,
	ID_QUEUES,
	ID_MTU,
	ID_STATS_JSON,
	ID_DURATION,
	ID_IDLE_SLEEP,
	ID_CAPTURE,
	ID_HELP,
	ID_HELP_SHORT,
	ID_VERSION,
};

struct option {
	/* As the user writes it and as messages name it. */
	const char *name;
	enum option_kind kind;
	uint32_t min;
	uint32_t max;
};

static const struct option option_table[] = {
	[ID_PORT_MASK] = {"-p", OPTION_PORT_MASK, 0, 0},
	[ID_QUEUE_PAIRS] = {"-q", OPTION_NUMBER, 1, 1024},
	[ID_PERIOD] = {"-T", OPTION_NUMBER, 0, 86400},
	[ID_PROMISCUOUS] = {"-P", OPTION_FLAG, 0, 0},
	[ID_PORT_MAP] = {"--portmap", OPTION_PORT_MAP, 0, 0},
	[ID_NO_MAC_UPDATING] = {"--no-mac-updating", OPTION_FLAG, 0, 0},
	[ID_BURST] = {"--burst", OPTION_NUMBER, 1, BURST_MAX},
	[ID_RXD] = {"--rxd", OPTION_NUMBER, 1, 65535},
	[ID_TXD] = {"--txd", OPTION_NUMBER, 1, 65535},
	[ID_QUEUES] = {"--queues", OPTION_NUMBER, 1, 1024},
	[ID_MTU] = {"--mtu", OPTION_NUMBER, 68, 65535},
	[ID_STATS_JSON] = {"--stats-json", OPTION_FILE, 0, 0},
	[ID_DURATION] = {"--duration", OPTION_NUMBER, 1, 31536000},
	[ID_IDLE_SLEEP] = {"--idle-sleep", OPTION_FLAG, 0, 0},
	[ID_CAPTURE] = {"--capture", OPTION_FLAG, 0, 0},
	[ID_HELP] = {"--help", OPTION_FLAG, 0, 0},
	[ID_HELP_SHORT] = {"-h", OPTION_FLAG, 0, 0},
	[ID_VERSION] = {"--version", OPTION_FLAG, 0, 0},
};

#define NB_OPTIONS (sizeof(option_table) / sizeof(option_table[0]))

static bool
parse_number(const char *text, uint32_t min, uint32_t max, uint32_t *number)
{
	uint64_t value = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > max)
			return false;
	}
	*number = (uint32_t)value;
	return value >= min;
}

static int
parse_port_mask(const char *text, uint64_t *mask, struct error *error)
{
	const bool has_prefix = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = has_prefix ? &text[2] : text;
	const size_t nb_digits = strspn(digits, "0123456789abcdefABCDEF");

	errno = 0;
	*mask = strtoull(digits, NULL, 16);
	if (nb_digits == 0 || digits[nb_digits] != '\0' || errno != 0)
		return set_error(error, STATUS_USAGE,
			"invalid port mask '%s': give a hexadecimal number, for example 0x3", text);
	if (*mask == 0)
		return set_error(error, STATUS_USAGE, "port mask '%s' selects no port", text);
	return 0;
}

/* The option with this name, or else the only one that starts with it. Returns -1 if none or
 * several do.
 */
static int
find_option(const char *name, size_t length)
{
	int found = -1;

	for (size_t i = 0; i < NB_OPTIONS; i++) {
		if (strncmp(option_table[i].name, name, length) != 0)
			continue;
		if (option_table[i].name[length] == '\0')
			return (int)i;
		found = found == -1 ? (int)i : -2;
	}
	return found < 0 ? -1 : found;
}

/* Apply one option. Returns what the program must do after parsing. */
static enum args_result
apply_option(enum option_id id, const char *value, struct options *options, struct error *error)
{
	const struct option *option = &option_table[id];
	uint32_t number = 0;

	if (option->kind == OPTION_NUMBER &&
		!parse_number(value, option->min, option->max, &number)) {
		set_error(error, STATUS_USAGE,
			"invalid value '%s' for %s: give a number from %" PRIu32 " to %" PRIu32,
			value, option->name, option->min, option->max);
		return ARGS_RUN;
	}

	switch (id) {
	case ID_PORT_MASK:
		parse_port_mask(value, &options->port_mask, error);
		break;
	case ID_PORT_MAP:
		parse_port_map(value, &options->port_map, error);
		break;
	case ID_QUEUE_PAIRS:
		options->queue_pairs_per_lcore = (uint16_t)number;
		break;
	case ID_PERIOD:
		options->period_s = number;
		break;
	case ID_PROMISCUOUS:
		options->promiscuous = true;
		break;
	case ID_NO_MAC_UPDATING:
		options->update_macs = false;
		break;
	case ID_BURST:
		options->burst = (uint16_t)number;
		break;
	case ID_RXD:
		options->rx_descriptors = (uint16_t)number;
		break;
	case ID_TXD:
		options->tx_descriptors = (uint16_t)number;
		break;
	case ID_QUEUES:
		options->queues_per_port = (uint16_t)number;
		break;
	case ID_MTU:
		options->mtu = (uint16_t)number;
		break;
	case ID_STATS_JSON:
		options->stats_json = value;
		break;
	case ID_DURATION:
		options->duration_s = number;
		break;
	case ID_IDLE_SLEEP:
		options->idle_sleep = true;
		break;
	case ID_CAPTURE:
		options->capture = true;
		break;
	case ID_HELP:
	case ID_HELP_SHORT:
		return ARGS_HELP;
	case ID_VERSION:
		return ARGS_VERSION;
	}
	return ARGS_RUN;
}

/* Parse the long option at *index. If the next argument is its value, advance *index. */
static enum args_result
parse_long(int argc, char *const argv[], int *index, struct options *options, struct error *error)
{
	const char *argument = argv[*index];
	const size_t length = strcspn(argument, "=");
	const char *value = argument[length] == '=' ? &argument[length + 1] : NULL;
	const int id = find_option(argument, length);

	if (id < 0) {
		set_error(error, STATUS_USAGE, "unknown option '%.*s'", (int)length, argument);
		return ARGS_RUN;
	}
	if (option_table[id].kind == OPTION_FLAG && value != NULL) {
		set_error(error, STATUS_USAGE, "option '%s' takes no value", option_table[id].name);
		return ARGS_RUN;
	}
	if (option_table[id].kind != OPTION_FLAG && value == NULL) {
		if (*index + 1 == argc) {
			set_error(error, STATUS_USAGE, "option '%s' needs a value",
				option_table[id].name);
			return ARGS_RUN;
		}
		value = argv[++*index];
	}
	return apply_option((enum option_id)id, value, options, error);
}

/* Length of the first UTF-8 character in bytes; less if the text ends within the character. */
static int
character_len(const char *text)
{
	const unsigned char first = (unsigned char)*text;
	const int most = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	int bytes = 1;

	while (bytes < most && (text[bytes] & 0xc0) == 0x80)
		bytes++;
	return bytes;
}

/* Read a cluster such as "-Pp3": flags, and at most one option whose value is the rest or the next
 * argument.
 */
static enum args_result
parse_short(int argc, char *const argv[], int *index, struct options *options, struct error *error)
{
	for (const char *c = &argv[*index][1]; *c != '\0'; c++) {
		const char name[] = {'-', *c, '\0'};
		/* "--" does not start a long option here. */
		const int id = *c == '-' ? -1 : find_option(name, 2);
		const char *value;

		if (id < 0) {
			const int bytes = character_len(c);

			set_error(error, STATUS_USAGE, "unknown option '-%.*s'", bytes, c);
			c += bytes - 1;
			continue;
		}
		if (option_table[id].kind == OPTION_FLAG) {
			const enum args_result result =
				apply_option((enum option_id)id, NULL, options, error);

			if (result != ARGS_RUN)
				return result;
			continue;
		}
		value = c[1] != '\0' ? &c[1] : *index + 1 < argc ? argv[++*index] : NULL;
		if (value == NULL)
			set_error(error, STATUS_USAGE, "option '%s' needs a value", name);
		else
			apply_option((enum option_id)id, value, options, error);
		break;
	}
	return ARGS_RUN;
}

enum args_result
parse_args(int argc, char *const argv[], struct options *options, struct error *error)
{
	enum args_result result = ARGS_RUN;
	int index = 1;

	*options = (struct options){
		.queue_pairs_per_lcore = 1,
		.queues_per_port = 1,
		.burst = 32,
		.rx_descriptors = 1024,
		.tx_descriptors = 1024,
		.period_s = 10,
		.update_macs = true,
	};

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return ARGS_HELP;
	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		return ARGS_VERSION;

	while (index < argc && strcmp(argv[index], "--") != 0)
		index++;
	options->eal_argc = index;

	/* Parsing continues after an error, since a later --help takes precedence. */
	for (index++; index < argc && result == ARGS_RUN; index++) {
		const char *argument = argv[index];

		if (strncmp(argument, "--", 2) == 0 && argument[2] != '\0')
			result = parse_long(argc, argv, &index, options, error);
		else if (argument[0] == '-' && argument[1] != '\0' && argument[1] != '-')
			result = parse_short(argc, argv, &index, options, error);
		else
			set_error(error, STATUS_USAGE, "unexpected argument '%s'", argument);
	}
	if (result != ARGS_RUN) {
		clear_error(error);
		return result;
	}

	if (options->port_mask == 0)
		set_error(error, STATUS_USAGE,
			"no port mask: give the ports to use with -p, for example -p 0x3");
	if (error->status == 0 && options->port_map.text != NULL)
		check_port_map(&options->port_map, options->port_mask, error);
	return error->status == 0 ? ARGS_RUN : ARGS_ERROR;
}

void
print_usage(FILE *out)
{
	fputs("Usage: " PROGRAM " [EAL options] -- -p PORTMASK [options]\n"
	      "\n"
	      "Receives Ethernet frames with DPDK and sends each to the peer of its port.\n"
	      "The source MAC address becomes that of the output port, the destination\n"
	      "02:00:00:00:00:<output port>.\n"
	      "\n"
	      "Options:\n"
	      "  -p PORTMASK         hexadecimal mask of the ports to use (required)\n"
	      "  -q NQ               queue pairs per lcore: 1 to 1024, default 1\n"
	      "  -T PERIOD           seconds between statistics: 0 to 86400, default 10;\n"
	      "                      0 = only at the end\n"
	      "  -P                  enable promiscuous mode\n"
	      "  --portmap=(a,b)[,(c,d)]\n"
	      "                      pairs of ports that forward to each other; (a,a)\n"
	      "                      sends back on the same port; default: neighbours in\n"
	      "                      the mask\n"
	      "  --no-mac-updating   leave the MAC addresses as they are\n"
	      "  --burst N           frames per burst: 1 to 512, default 32\n"
	      "  --rxd N             descriptors of an RX queue: 1 to 65535, default 1024\n"
	      "  --txd N             descriptors of a TX queue: 1 to 65535, default 1024\n"
	      "  --queues N          queue pairs per port: 1 to 1024, default 1; more than 1\n"
	      "                      use RSS on IP, UDP and TCP if the device supports it\n"
	      "  --mtu N             set the MTU: 68 to 65535, default: that of the device\n"
	      "  --stats-json FILE   write statistics as JSON lines; with -, write them to\n"
	      "                      stdout and all text to stderr\n"
	      "  --duration SECONDS  stop after 1 to 31536000 s; default: run until a signal\n"
	      "  --idle-sleep        an lcore without frames sleeps until an RX interrupt; it\n"
	      "                      polls if a device has no RX interrupts\n"
	      "  --capture           let dpdk-dumpcap capture frames; needs hugepages\n"
	      "  -h, --help          print this text\n"
	      "  --version           print the version\n"
	      "\n"
	      "SIGINT and SIGTERM end the program; SIGUSR1 stops all ports and starts them\n"
	      "again.\n"
	      "\n"
	      "EAL options: https://doc.dpdk.org/guides/linux_gsg/\n",
		out);
}

void
print_version(FILE *out)
{
	fprintf(out, "%s %s (%s)\n", PROGRAM, VERSION, rte_version());
}
