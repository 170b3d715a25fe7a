/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The two outputs, character by character: other programs read them, and the Rust twin prints the
 * same.
 */

#include <stdlib.h>

#include <rte_version.h>

#include "../gaps.h"
#include "../stats.h"
#include "../stats_json.h"
#include "check.h"

/* An output that is read back. */
struct capture {
	FILE *out;
	char *text;
	size_t size;
};

static void
open_capture(struct capture *capture)
{
	capture->out = open_memstream(&capture->text, &capture->size);
}

static void
check_capture(struct capture *capture, const char *expected)
{
	fclose(capture->out);
	CHECK_TEXT(capture->text, expected);
	free(capture->text);
}

static const struct port ports[] = {
	{.id = 0, .peer = 2, .name = "net_null0", .mac = {{0xaa, 0xbb, 0xcc, 0x0d, 0xee, 0xff}}},
	{.id = 2, .peer = 0, .name = "net_\"odd\\\t"},
};

/* Port 0 receives on two queues, which send on port 2; nothing comes the other way but one burst.
 */
static void
fill_pairs(struct queue_pair pairs[3])
{
	memset(pairs, 0, 3 * sizeof(pairs[0]));
	pairs[0].tx_port = 2;
	pairs[0].counters = (struct queue_counters){320, 300, 10, 5, 20, 10};
	pairs[0].nb_buffered = 5;
	pairs[1].tx_port = 2;
	pairs[1].queue = 1;
	pairs[1].counters = (struct queue_counters){80, 80, 0, 0, 10, 5};
	pairs[2].rx_port = 2;
	pairs[2].counters = (struct queue_counters){32, 31, 1, 0, 1, 0};
}

static void
test_collect(void)
{
	struct queue_pair *pairs = aligned_alloc(alignof(struct queue_pair), 3 * sizeof(*pairs));
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	fill_pairs(pairs);
	collect(ports, 2, pairs, 3, snapshot);
	CHECK_NUMBER(snapshot->nb_ports, 2);
	CHECK_NUMBER(snapshot->ports[0].port, 0);
	CHECK_NUMBER(snapshot->ports[0].totals.rx_packets, 400);
	CHECK_NUMBER(snapshot->ports[0].totals.rx_short, 5);
	CHECK_NUMBER(snapshot->ports[0].totals.rx_polls, 30);
	CHECK_NUMBER(snapshot->ports[0].totals.rx_empty_polls, 15);
	CHECK_NUMBER(snapshot->ports[0].totals.tx_packets, 31);
	CHECK_NUMBER(snapshot->ports[0].totals.tx_dropped, 1);
	CHECK_NUMBER(snapshot->ports[1].port, 2);
	CHECK_NUMBER(snapshot->ports[1].totals.rx_packets, 32);
	CHECK_NUMBER(snapshot->ports[1].totals.tx_packets, 380);
	CHECK_NUMBER(snapshot->ports[1].totals.tx_dropped, 10);
	CHECK_NUMBER(snapshot->total.rx_packets, 432);
	CHECK_NUMBER(snapshot->total.tx_packets, 411);
	CHECK_NUMBER(snapshot->in_flight, 432 - 411 - 11 - 5);
	CHECK(!snapshot->final);
	/* There is no such device: its counters are zero. */
	CHECK_NUMBER(snapshot->ports[0].device.ipackets, 0);

	count_in_flight(snapshot, pairs, 3);
	CHECK(snapshot->final);
	CHECK_NUMBER(snapshot->in_flight, 5);
	CHECK(is_balanced(snapshot));
	pairs[0].nb_buffered = 4;
	count_in_flight(snapshot, pairs, 3);
	CHECK(!is_balanced(snapshot));

	/* What the lcores count while we read must not make it negative. */
	pairs[1].counters.tx_packets = 200;
	collect(ports, 2, pairs, 3, snapshot);
	CHECK_NUMBER(snapshot->in_flight, 0);

	free(snapshot);
	free(pairs);
}

/* A gap counts for each limit that it exceeds, and only if frames came since the last drain. */
static void
test_gaps(void)
{
	struct queue_pair *pairs = aligned_alloc(alignof(struct queue_pair), 3 * sizeof(*pairs));
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	const struct lcore_work work = {.pairs = pairs, .nb_pairs = 3};
	const struct lcore_work no_work = {0};
	struct gap_watch watch = {.hz = 1000000000, .least = 100000};
	struct gap_watch no_watch = watch;
	const uint64_t gaps_ns[] = {100000, 150000, 3500000, 1200000, 20000000, 3000000};

	fill_pairs(pairs);
	watch_gap(&watch, &work, 5000000);
	for (unsigned int i = 0; i < RTE_DIM(gaps_ns); i++) {
		pairs[1].counts.rx_packets++;
		watch_gap(&watch, &work, gaps_ns[i]);
		watch_gap(&watch, &work, 30000000);
	}
	watch_gap(&no_watch, &no_work, 30000000);
	collect(ports, 2, pairs, 3, snapshot);
	CHECK_NUMBER(snapshot->gaps.above[0], 5);
	CHECK_NUMBER(snapshot->gaps.above[1], 4);
	CHECK_NUMBER(snapshot->gaps.above[2], 2);
	CHECK_NUMBER(snapshot->gaps.above[3], 1);
	CHECK_NUMBER(snapshot->gaps.longest_ns, 20000000);
	/* The counts go on, the longest one begins anew. */
	collect(ports, 2, pairs, 3, snapshot);
	CHECK_NUMBER(snapshot->gaps.above[0], 5);
	CHECK_NUMBER(snapshot->gaps.longest_ns, 0);

	free(snapshot);
	free(pairs);
}

static void
fill_snapshots(struct snapshot *now, struct snapshot *before)
{
	memset(now, 0, sizeof(*now));
	memset(before, 0, sizeof(*before));
	now->nb_ports = 2;
	now->time_s = 12.3456;
	now->ports[0].port = 0;
	now->ports[0].totals = (struct totals){12345678, 1000, 7, 3, 400000, 123456};
	now->ports[0].device = (struct rte_eth_stats){.ipackets = 1,
		.opackets = 2,
		.ibytes = 3,
		.obytes = 4,
		.imissed = 5,
		.ierrors = 6,
		.oerrors = 7,
		.rx_nombuf = 8};
	now->ports[1].port = 2;
	now->total = (struct totals){12345678, 1000, 7, 3, 400000, 123456};
	now->in_flight = 12344668;
	now->gaps = (struct gap_totals){{9, 4, 1, 0}, 3500000};

	before->nb_ports = 2;
	before->time_s = 2.3456;
	before->ports[0].totals = (struct totals){2345678, 500, 0, 0, 1, 1};
	before->total = before->ports[0].totals;
}

static void
test_text(struct snapshot *now, struct snapshot *before)
{
	struct capture capture;

	fill_snapshots(now, before);
	open_capture(&capture);
	print_stats(capture.out, now, before);
	check_capture(&capture,
		"l2fwd: statistics after 12.3 s\n"
		" port         received             sent          dropped            short  avg "
		"burst      empty polls           rx pps           tx pps\n"
		"    0         12345678             1000                7                3      "
		"36.16           123456          1000000               50\n"
		"    2                0                0                0                0       "
		"0.00                0                0                0\n"
		"total         12345678             1000                7                3      "
		"36.16           123456          1000000               50\n"
		"l2fwd: longest gap between polls 3.500 ms; 9 above 0.1 ms, 4 above 1 ms, 1 above "
		"3 ms, 0 above 10 ms\n");

	now->final = true;
	now->nb_ports = 0;
	memset(before, 0, sizeof(*before));
	open_capture(&capture);
	print_stats(capture.out, now, before);
	check_capture(&capture,
		"l2fwd: final statistics after 12.3 s\n"
		" port         received             sent          dropped            short  avg "
		"burst      empty polls           rx pps           tx pps\n"
		"total         12345678             1000                7                3      "
		"44.64           123456          1000006               81\n"
		"l2fwd: longest gap between polls 3.500 ms; 9 above 0.1 ms, 4 above 1 ms, 1 above "
		"3 ms, 0 above 10 ms\n");
}

#define PORT_0 \
	"{\"port\":0,\"rx_packets\":12345678,\"tx_packets\":1000,\"tx_dropped\":7,\"rx_short\":3," \
	"\"rx_polls\":400000,\"rx_empty_polls\":123456,\"rx_burst_avg\":36.16,\"rx_pps\":1000000," \
	"\"tx_pps\":50,\"device\":{\"ipackets\":1,\"opackets\":2,\"ibytes\":3,\"obytes\":4," \
	"\"imissed\":5,\"ierrors\":6,\"oerrors\":7,\"rx_nombuf\":8}}"
#define PORT_2 \
	"{\"port\":2,\"rx_packets\":0,\"tx_packets\":0,\"tx_dropped\":0,\"rx_short\":0," \
	"\"rx_polls\":0,\"rx_empty_polls\":0,\"rx_burst_avg\":0.00,\"rx_pps\":0,\"tx_pps\":0," \
	"\"device\":{\"ipackets\":0,\"opackets\":0,\"ibytes\":0,\"obytes\":0,\"imissed\":0," \
	"\"ierrors\":0,\"oerrors\":0,\"rx_nombuf\":0}}"
#define TOTAL \
	"\"total\":{\"rx_packets\":12345678,\"tx_packets\":1000,\"tx_dropped\":7,\"rx_short\":3," \
	"\"rx_polls\":400000,\"rx_empty_polls\":123456,\"rx_burst_avg\":36.16,\"rx_pps\":1000000," \
	"\"tx_pps\":50,\"in_flight\":12344668,\"gaps\":{\"longest_s\":0.003500," \
	"\"above_100us\":9,\"above_1ms\":4,\"above_3ms\":1,\"above_10ms\":0}}"

static void
test_json(struct snapshot *now, struct snapshot *before)
{
	struct capture capture;
	struct stats_json json = {.path = "FILE"};

	fill_snapshots(now, before);
	open_capture(&capture);
	json.out = capture.out;
	write_stats(&json, now, before);
	check_capture(&capture, "{\"type\":\"period\",\"time_s\":12.346,\"ports\":[" PORT_0
				"," PORT_2 "]," TOTAL "}\n");

	now->final = true;
	open_capture(&capture);
	json.out = capture.out;
	write_stats(&json, now, before);
	check_capture(&capture, "{\"type\":\"final\",\"time_s\":12.346,\"ports\":[" PORT_0
				"," PORT_2 "]," TOTAL ",\"balanced\":true}\n");

	now->in_flight--;
	now->nb_ports = 0;
	memset(before, 0, sizeof(*before));
	now->time_s = 0;
	now->total = (struct totals){0};
	now->gaps = (struct gap_totals){0};
	open_capture(&capture);
	json.out = capture.out;
	write_stats(&json, now, before);
	check_capture(&capture,
		"{\"type\":\"final\",\"time_s\":0.000,\"ports\":[],\"total\":{\"rx_packets\":0,"
		"\"tx_packets\":0,\"tx_dropped\":0,\"rx_short\":0,\"rx_polls\":0,"
		"\"rx_empty_polls\":0,\"rx_burst_avg\":0.00,\"rx_pps\":0,\"tx_pps\":0,"
		"\"in_flight\":12344667,\"gaps\":{\"longest_s\":0.000000,\"above_100us\":0,"
		"\"above_1ms\":0,\"above_3ms\":0,\"above_10ms\":0}},\"balanced\":false}\n");
	CHECK(!json.failed);
}

static const struct options options = {
	.queues_per_port = 2, .rx_descriptors = 512, .tx_descriptors = 1024};
static const struct queue_assignment assignments[] = {
	{.lcore = 1, .port = 0, .peer = 2, .queue = 0},
	{.lcore = 1, .port = 0, .peer = 2, .queue = 1},
	{.lcore = 1, .port = 2, .peer = 0, .queue = 0},
	{.lcore = 5, .port = 2, .peer = 0, .queue = 1},
};

static void
test_start_json(void)
{
	/* There are no such ports. */
	const char *unknown =
		"{\"driver\":null,\"socket\":null,\"mtu\":null,\"link_mbps\":null,\"firmware\":null,"
		"\"rx_offloads\":null,\"tx_offloads\":null}";
	struct stats_json json = {.path = "FILE"};
	struct capture capture;
	char *expected;

	open_capture(&capture);
	json.out = capture.out;
	write_start(&json, &options, ports, 2, assignments, 4);
	CHECK(asprintf(&expected,
		      "{\"type\":\"start\",\"program\":\"l2fwd-c\",\"version\":\"%s\","
		      "\"dpdk\":\"%s\",\"ports\":[{\"port\":0,\"name\":\"net_null0\","
		      "\"mac\":\"aa:bb:cc:0d:ee:ff\",\"peer\":2,\"queues\":2,\"rxd\":512,"
		      "\"txd\":1024,\"device\":%s},{\"port\":2,\"name\":\"net_\\\"odd\\\\\\u0009\","
		      "\"mac\":\"00:00:00:00:00:00\",\"peer\":0,\"queues\":2,\"rxd\":512,"
		      "\"txd\":1024,\"device\":%s}],\"lcores\":[{\"lcore\":1,\"queues\":[[0,0],[0,1],[2,0]]},"
		      "{\"lcore\":5,\"queues\":[[2,1]]}]}\n",
		      VERSION, rte_version() + strlen("DPDK "), unknown, unknown) > 0);
	check_capture(&capture, expected);
	free(expected);
}

static void
test_start_text(void)
{
	struct options one_queue = options;
	struct capture capture;

	open_capture(&capture);
	print_start(capture.out, &options, ports, 2, assignments, 4);
	check_capture(&capture,
		"l2fwd: port 0 (net_null0) aa:bb:cc:0d:ee:ff -> port 2, 2 queues, "
		"512 RX and 1024 TX descriptors\n"
		"l2fwd: port 2 (net_\"odd\\\t) 00:00:00:00:00:00 -> port 0, 2 queues, "
		"512 RX and 1024 TX descriptors\n"
		"l2fwd: lcore 1: port 0 queue 0, port 0 queue 1, port 2 queue 0\n"
		"l2fwd: lcore 5: port 2 queue 1\n"
		"l2fwd: forwarding, stop with Ctrl-C\n");

	one_queue.queues_per_port = 1;
	open_capture(&capture);
	print_start(capture.out, &one_queue, ports, 1, assignments, 1);
	check_capture(&capture, "l2fwd: port 0 (net_null0) aa:bb:cc:0d:ee:ff -> port 2, 1 queue, "
				"512 RX and 1024 TX descriptors\n"
				"l2fwd: lcore 1: port 0 queue 0\n"
				"l2fwd: forwarding, stop with Ctrl-C\n");
}

static void
test_files(struct snapshot *now, struct snapshot *before)
{
	struct stats_json json;
	struct error error = {0};

	CHECK(open_stats_json(&json, "/nonexistent/stats", &error) != 0);
	CHECK_NUMBER(error.status, STATUS_FAILED);
	CHECK_TEXT(error.message,
		"cannot open '/nonexistent/stats' for statistics: No such file or directory");
	clear_error(&error);

	CHECK(open_stats_json(&json, NULL, &error) == 0);
	CHECK(json.out == NULL);
	/* Nothing asked for, nothing written. */
	write_stats(&json, now, before);
	CHECK(open_stats_json(&json, "-", &error) == 0);
	CHECK(json.out == stdout);

	/* A full disk is told, and survived. */
	CHECK(open_stats_json(&json, "/dev/full", &error) == 0);
	fill_snapshots(now, before);
	write_stats(&json, now, before);
	CHECK(json.failed);
	write_stats(&json, now, before);
	fclose(json.out);
}

int
main(void)
{
	struct snapshot *now = calloc(1, sizeof(*now));
	struct snapshot *before = calloc(1, sizeof(*before));

	test_collect();
	test_gaps();
	test_text(now, before);
	test_json(now, before);
	test_start_json();
	test_start_text();
	test_files(now, before);
	free(now);
	free(before);
	return check_result();
}
