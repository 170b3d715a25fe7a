/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The command line. getopt_long is not used because it cannot say which argument was wrong: it
 * gives the same answer for an unknown, an ambiguous and an over-full option. Its rules are kept
 * (abbreviations, clusters of short options, "--opt value" and "--opt=value").
 */

#include <inttypes.h>
#include <stddef.h>
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
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int
parse_port_mask(const char *text, uint64_t *mask, struct error *error)
{
	const char *digits = text;
	uint64_t value = 0;
	bool valid;

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	valid = *digits != '\0';
	for (; *digits != '\0'; digits++) {
		int digit = hex_digit(*digits);

		if (digit < 0 || value >> 60 != 0) {
			valid = false;
			break;
		}
		value = value << 4 | (uint64_t)digit;
	}
	if (!valid)
		return set_error(error, STATUS_USAGE,
			"invalid port mask '%s': give a hexadecimal number, for example 0x3", text);
	if (value == 0)
		return set_error(error, STATUS_USAGE, "port mask '%s' selects no port", text);
	*mask = value;
	return 0;
}

static int
apply_option(enum option_id id, const char *value, struct options *options, struct error *error)
{
	const struct option *option = &option_table[id];
	uint32_t number = 0;

	if (option->kind == OPTION_NUMBER &&
		!parse_number(value, option->min, option->max, &number))
		return set_error(error, STATUS_USAGE,
			"invalid value '%s' for %s: give a number from %" PRIu32 " to %" PRIu32,
			value, option->name, option->min, option->max);

	switch (id) {
	case ID_PORT_MASK:
		return parse_port_mask(value, &options->port_mask, error);
	case ID_PORT_MAP:
		return parse_port_map(value, &options->port_map, error);
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
	case ID_VERSION:
		break;
	}
	return 0;
}

/* The option that starts with these characters: an exact match, else the only one that begins so.
 * -1 when there is none or more than one.
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

static enum args_result
result_of(enum option_id id)
{
	if (id == ID_VERSION)
		return ARGS_VERSION;
	return id == ID_HELP || id == ID_HELP_SHORT ? ARGS_HELP : ARGS_RUN;
}

/* Read the argument at *index, and the next one where it is the value. */
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
	apply_option((enum option_id)id, value, options, error);
	return result_of((enum option_id)id);
}

/* How many bytes of UTF-8 the first character has, as far as they are there. */
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
		/* "--" must not be taken for the beginning of a long option. */
		const int id = *c == '-' ? -1 : find_option(name, 2);
		const char *value;

		if (id < 0) {
			const int bytes = character_len(c);

			set_error(error, STATUS_USAGE, "unknown option '-%.*s'", bytes, c);
			c += bytes - 1;
			continue;
		}
		if (option_table[id].kind == OPTION_FLAG) {
			apply_option((enum option_id)id, NULL, options, error);
			if (result_of((enum option_id)id) != ARGS_RUN)
				return result_of((enum option_id)id);
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

static bool
is_help_or_version(const char *argument)
{
	return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0 ||
	       strcmp(argument, "--version") == 0;
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

	if (argc > 1 && is_help_or_version(argv[1]))
		return strcmp(argv[1], "--version") == 0 ? ARGS_VERSION : ARGS_HELP;

	while (index < argc && strcmp(argv[index], "--") != 0)
		index++;
	options->eal_argc = index;

	/* An error does not end the reading, since a request for help further right beats it. */
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
	      "Forwards each Ethernet frame that a port receives to its peer port, with DPDK.\n"
	      "The source MAC becomes that of the output port, the destination\n"
	      "02:00:00:00:00:<output port>.\n"
	      "\n"
	      "Options:\n"
	      "  -p PORTMASK         hexadecimal mask of the ports to use (required)\n"
	      "  -q NQ               queue pairs per lcore: 1 to 1024, default 1\n"
	      "  -T PERIOD           seconds between statistics: 0 to 86400, default 10;\n"
	      "                      0 = only at the end\n"
	      "  -P                  promiscuous mode on\n"
	      "  --portmap=(a,b)[,(c,d)]\n"
	      "                      forwarding pairs, both ways; (a,a) sends back on the\n"
	      "                      same port; default: neighbours in the mask\n"
	      "  --no-mac-updating   leave the MAC addresses as they are\n"
	      "  --burst N           frames a burst: 1 to 512, default 32\n"
	      "  --rxd N             descriptors of an RX queue: 1 to 65535, default 1024\n"
	      "  --txd N             descriptors of a TX queue: 1 to 65535, default 1024\n"
	      "  --queues N          queue pairs a port: 1 to 1024, default 1; more than 1\n"
	      "                      uses RSS on IP, UDP and TCP where the device has it\n"
	      "  --mtu N             MTU to set: 68 to 65535, default: as the device has it\n"
	      "  --stats-json FILE   write statistics as JSON lines; with - to stdout, and\n"
	      "                      all text to stderr\n"
	      "  --duration SECONDS  stop by itself: after 1 to 31536000 s\n"
	      "  --idle-sleep        an lcore that no frames come to sleeps until the devices\n"
	      "                      tell of some; it polls where they cannot\n"
	      "  --capture           let dpdk-dumpcap capture frames; needs hugepages\n"
	      "  -h, --help          print this text\n"
	      "  --version           print the version\n"
	      "\n"
	      "SIGINT and SIGTERM end it; SIGUSR1 stops all ports and starts them again.\n"
	      "\n"
	      "For the options of the EAL see https://doc.dpdk.org/guides/linux_gsg/\n",
		out);
}

void
print_version(FILE *out)
{
	fprintf(out, "%s %s (%s)\n", PROGRAM, VERSION, rte_version());
}
