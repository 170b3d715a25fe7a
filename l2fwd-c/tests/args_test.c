/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include "../args.h"
#include "check.h"

#define ARGS_MAX 20
#define GREATEST "18446744073709551616"

struct line {
	const char *argv[ARGS_MAX];
};

static enum args_result
parse(const struct line *line, struct options *options, struct error *error)
{
	char *argv[ARGS_MAX + 1] = {(char *)(uintptr_t)PROGRAM};
	int argc = 1;

	for (int i = 0; i < ARGS_MAX && line->argv[i] != NULL; i++)
		argv[argc++] = (char *)(uintptr_t)line->argv[i];
	*error = (struct error){0};
	return parse_args(argc, argv, options, error);
}

static void
test_defaults(void)
{
	const struct line line = {{"-l", "0", "--", "-p", "3"}};
	struct options options;
	struct error error;

	CHECK(parse(&line, &options, &error) == ARGS_RUN);
	CHECK_NUMBER(options.eal_argc, 3);
	CHECK_NUMBER(options.port_mask, 3);
	CHECK(options.port_map.text == NULL);
	CHECK_NUMBER(options.queue_pairs_per_lcore, 1);
	CHECK_NUMBER(options.queues_per_port, 1);
	CHECK_NUMBER(options.burst, 32);
	CHECK_NUMBER(options.rx_descriptors, 1024);
	CHECK_NUMBER(options.tx_descriptors, 1024);
	CHECK_NUMBER(options.mtu, 0);
	CHECK_NUMBER(options.period_s, 10);
	CHECK_NUMBER(options.duration_s, 0);
	CHECK(!options.promiscuous);
	CHECK(options.update_macs);
	CHECK(!options.idle_sleep);
	CHECK(!options.capture);
	CHECK(options.stats_json == NULL);
}

static void
test_all_options(void)
{
	const struct line lines[] = {
		{{"--", "-p", "0xF", "-q", "2", "-T", "0", "-P", "--portmap=(0,1),(3,3)",
			"--no-mac-updating", "--burst=512", "--rxd=65535", "--txd=1",
			"--queues=1024", "--mtu=68", "--idle-sleep", "--capture"}},
		/* Joined, abbreviated, clustered, repeated. */
		{{"--", "-p1", "-q02", "-PT0", "-pf", "--po", "(0,1),(3,3)", "--no", "--b=512",
			"--r", "65535", "--t=1", "--qu=1024", "--m=68", "--i", "--c"}},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct options options;
		struct error error;

		CHECK(parse(&lines[i], &options, &error) == ARGS_RUN);
		CHECK_NUMBER(options.eal_argc, 1);
		CHECK_NUMBER(options.port_mask, 15);
		CHECK_NUMBER(options.queue_pairs_per_lcore, 2);
		CHECK_NUMBER(options.period_s, 0);
		CHECK(options.promiscuous);
		CHECK_TEXT(options.port_map.text, "(0,1),(3,3)");
		CHECK_NUMBER(options.port_map.ports, 11);
		CHECK_NUMBER(options.port_map.peer[0], 1);
		CHECK_NUMBER(options.port_map.peer[1], 0);
		CHECK_NUMBER(options.port_map.peer[3], 3);
		CHECK(!options.update_macs);
		CHECK(options.idle_sleep);
		CHECK(options.capture);
		CHECK_NUMBER(options.burst, 512);
		CHECK_NUMBER(options.rx_descriptors, 65535);
		CHECK_NUMBER(options.tx_descriptors, 1);
		CHECK_NUMBER(options.queues_per_port, 1024);
		CHECK_NUMBER(options.mtu, 68);
	}
}

static void
test_limits(void)
{
	const struct line line = {{"--", "-p", "0x8000000000000000", "-T", "86400", "--duration",
		"31536000", "--stats-json", "-", "--mtu", "65535", "-q", "1024"}};
	struct options options;
	struct error error;

	CHECK(parse(&line, &options, &error) == ARGS_RUN);
	CHECK_NUMBER(options.port_mask, UINT64_C(1) << 63);
	CHECK_NUMBER(options.period_s, 86400);
	CHECK_NUMBER(options.duration_s, 31536000);
	CHECK_TEXT(options.stats_json, "-");
	CHECK_NUMBER(options.mtu, 65535);
	CHECK_NUMBER(options.queue_pairs_per_lcore, 1024);
}

static void
test_help_and_version(void)
{
	static const struct {
		struct line line;
		enum args_result result;
	} cases[] = {
		{{{"--help"}}, ARGS_HELP},
		{{{"-h"}}, ARGS_HELP},
		{{{"--version"}}, ARGS_VERSION},
		{{{"--version", "--", "--help"}}, ARGS_VERSION},
		{{{"--", "--help"}}, ARGS_HELP},
		{{{"--", "-p", "3", "--he"}}, ARGS_HELP},
		{{{"--", "-Ph"}}, ARGS_HELP},
		{{{"--", "-P-h"}}, ARGS_HELP},
		{{{"-l", "0", "--", "--vers", "--help"}}, ARGS_VERSION},
		/* Also when the rest is wrong. */
		{{{"--", "--foo", "-p", "xyz", "-h"}}, ARGS_HELP},
		/* An abbreviation or a later argument belongs to the EAL. */
		{{{"--hel"}}, ARGS_ERROR},
		{{{"-l", "0", "--help"}}, ARGS_ERROR},
		/* A value is a value. */
		{{{"--", "-p", "3", "--stats-json", "--help"}}, ARGS_RUN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options options;
		struct error error;

		CHECK_NUMBER(parse(&cases[i].line, &options, &error), cases[i].result);
		CHECK((error.status != 0) == (cases[i].result == ARGS_ERROR));
		clear_error(&error);
	}
}

#define NO_MASK "no port mask: give the ports to use with -p, for example -p 0x3"
#define BAD_MASK(text) "invalid port mask '" text "': give a hexadecimal number, for example 0x3"
#define BAD_MAP(text) \
	"invalid port map '" text "': give pairs of port numbers, for example (0,1),(2,3)"
#define BAD_NUMBER(text, option, range) \
	"invalid value '" text "' for " option ": give a number from " range

static void
test_errors(void)
{
	static const struct {
		struct line line;
		const char *message;
	} cases[] = {
		{{{NULL}}, NO_MASK},
		{{{"-p", "3"}}, NO_MASK},
		{{{"--"}}, NO_MASK},
		{{{"--", "-P"}}, NO_MASK},

		{{{"--", "-p", "xyz"}}, BAD_MASK("xyz")},
		{{{"--", "-p", ""}}, BAD_MASK("")},
		{{{"--", "-p0x"}}, BAD_MASK("0x")},
		{{{"--", "-p", "-1"}}, BAD_MASK("-1")},
		{{{"--", "-p", " 3"}}, BAD_MASK(" 3")},
		{{{"--", "-p=3"}}, BAD_MASK("=3")},
		{{{"--", "-p", "10000000000000000"}}, BAD_MASK("10000000000000000")},
		{{{"--", "-p", "0x0"}}, "port mask '0x0' selects no port"},
		{{{"--", "-p", "0000", "-p", "3"}}, "port mask '0000' selects no port"},

		{{{"--", "-p3", "--burst", "abc"}}, BAD_NUMBER("abc", "--burst", "1 to 512")},
		{{{"--", "-p3", "--bur=0"}}, BAD_NUMBER("0", "--burst", "1 to 512")},
		{{{"--", "-p3", "--burst=513"}}, BAD_NUMBER("513", "--burst", "1 to 512")},
		{{{"--", "-p3", "--burst="}}, BAD_NUMBER("", "--burst", "1 to 512")},
		{{{"--", "-p3", "--burst", "+1"}}, BAD_NUMBER("+1", "--burst", "1 to 512")},
		{{{"--", "-p3", "--burst", "1 "}}, BAD_NUMBER("1 ", "--burst", "1 to 512")},
		{{{"--", "-p3", "--burst", "0x10"}}, BAD_NUMBER("0x10", "--burst", "1 to 512")},
		{{{"--", "-p3", "--burst", "--rxd"}}, BAD_NUMBER("--rxd", "--burst", "1 to 512")},
		{{{"--", "-p3", "-q0"}}, BAD_NUMBER("0", "-q", "1 to 1024")},
		{{{"--", "-p3", "-q", "1025"}}, BAD_NUMBER("1025", "-q", "1 to 1024")},
		{{{"--", "-p3", "-T", "86401"}}, BAD_NUMBER("86401", "-T", "0 to 86400")},
		{{{"--", "-p3", "--rxd=65536"}}, BAD_NUMBER("65536", "--rxd", "1 to 65535")},
		{{{"--", "-p3", "--txd=0"}}, BAD_NUMBER("0", "--txd", "1 to 65535")},
		{{{"--", "-p3", "--queues=1025"}}, BAD_NUMBER("1025", "--queues", "1 to 1024")},
		{{{"--", "-p3", "--mtu=67"}}, BAD_NUMBER("67", "--mtu", "68 to 65535")},
		{{{"--", "-p3", "--duration=0"}}, BAD_NUMBER("0", "--duration", "1 to 31536000")},
		{{{"--", "-p3", "--duration", GREATEST}},
			BAD_NUMBER(GREATEST, "--duration", "1 to 31536000")},

		{{{"--", "-p3", "--portmap=(0,1"}}, BAD_MAP("(0,1")},
		{{{"--", "-p3", "--portmap="}}, BAD_MAP("")},
		{{{"--", "-p3", "--portmap=0,1"}}, BAD_MAP("0,1")},
		{{{"--", "-p3", "--portmap=(0,1),"}}, BAD_MAP("(0,1),")},
		{{{"--", "-p3", "--portmap=(0,1)(1,0)"}}, BAD_MAP("(0,1)(1,0)")},
		{{{"--", "-p3", "--portmap=(0, 1)"}}, BAD_MAP("(0, 1)")},
		{{{"--", "-p3", "--portmap=(0,)"}}, BAD_MAP("(0,)")},
		{{{"--", "-p3", "--portmap=(0,-1)"}}, BAD_MAP("(0,-1)")},
		{{{"--", "-p3", "--portmap=(0,65536)"}}, BAD_MAP("(0,65536)")},
		{{{"--", "-p3", "--portmap=(0,1)x"}}, BAD_MAP("(0,1)x")},
		{{{"--", "-p7", "--portmap=(0,1),(1,2)"}},
			"port map '(0,1),(1,2)' uses port 1 twice"},
		{{{"--", "-p7", "--portmap=(1,1),(1,1)"}},
			"port map '(1,1),(1,1)' uses port 1 twice"},
		{{{"--", "-p7", "--portmap=(70,2),(70,0)"}},
			"port map '(70,2),(70,0)' uses port 70 twice"},
		{{{"--", "--portmap=(0,5)", "-p3"}},
			"port map '(0,5)' names port 5, which is not in port mask 0x3"},
		{{{"--", "--portmap=(64,0)", "-pffffffffffffffff"}},
			"port map '(64,0)' names port 64, which is not in port mask 0xffffffffffffffff"},
		{{{"--", "--portmap=(0,1)"}}, NO_MASK},

		{{{"--", "--foo"}}, "unknown option '--foo'"},
		{{{"--", "--foo=bar"}}, "unknown option '--foo'"},
		{{{"--", "--burstx=1"}}, "unknown option '--burstx'"},
		/* Every long option begins so. */
		{{{"--", "--=1"}}, "unknown option '--'"},
		{{{"--", "-z"}}, "unknown option '-z'"},
		{{{"--", "-Pz"}}, "unknown option '-z'"},
		{{{"--", "-P-"}}, "unknown option '--'"},
		{{{"--", "-\xc3\xa9"}}, "unknown option '-\xc3\xa9'"},
		{{{"--", "-(\x85"}}, "unknown option '-('"},
		{{{"--", "-p3", "--burst"}}, "option '--burst' needs a value"},
		{{{"--", "-p3", "--stats"}}, "option '--stats-json' needs a value"},
		{{{"--", "-p"}}, "option '-p' needs a value"},
		{{{"--", "-Pq"}}, "option '-q' needs a value"},
		{{{"--", "--no-mac-updating=1"}}, "option '--no-mac-updating' takes no value"},
		{{{"--", "--idle-sleep=1"}}, "option '--idle-sleep' takes no value"},
		{{{"--", "--capture=x"}}, "option '--capture' takes no value"},
		{{{"--", "--help="}}, "option '--help' takes no value"},
		{{{"--", "-p3", "x"}}, "unexpected argument 'x'"},
		{{{"--", "-p3", "-"}}, "unexpected argument '-'"},
		{{{"--", "-p3", "--", "x"}}, "unexpected argument '--'"},

		/* The first from the left. */
		{{{"--", "--rxd=0", "--foo", "x", "-p"}}, BAD_NUMBER("0", "--rxd", "1 to 65535")},
		{{{"--", "x", "--foo"}}, "unexpected argument 'x'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options options;
		struct error error;

		CHECK_NUMBER(parse(&cases[i].line, &options, &error), ARGS_ERROR);
		CHECK_NUMBER(error.status, STATUS_USAGE);
		CHECK_TEXT(error.message, cases[i].message);
		clear_error(&error);
	}
}

int
main(void)
{
	test_defaults();
	test_all_options();
	test_limits();
	test_help_and_version();
	test_errors();
	return check_result();
}
