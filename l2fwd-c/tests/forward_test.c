/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Ports and forwarding on ring devices: what is sent on such a port lies in a ring, where the test
 * looks at it. Needs the EAL, but neither root nor hugepages.
 */

#include <stdlib.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include "../forward.h"
#include "check.h"

#define BURST 32

struct bench {
	struct options options;
	struct port ports[2];
	struct rte_mempool *pool;
	/* What port 0 receives and what port 1 has sent. */
	struct rte_ring *in;
	struct rte_ring *out;
	struct queue_pair *pair;
	struct lcore_work work[RTE_MAX_LCORE];
};

static bool
setup(struct bench *bench)
{
	const struct queue_assignment assignment = {.lcore = 0, .port = 0, .peer = 1, .queue = 0};
	struct error error = {0};

	bench->options = (struct options){.burst = BURST,
		.queues_per_port = 1,
		.rx_descriptors = 1024,
		.tx_descriptors = 1024,
		.update_macs = true};
	for (uint16_t i = 0; i < 2; i++) {
		struct port *port = &bench->ports[i];

		port->id = i;
		port->peer = 1 - i;
		CHECK(rte_eth_dev_get_name_by_port(i, port->name) == 0);
		CHECK(check_limits(port, &bench->options, &error) == 0);
		bench->pool = open_pool(port, &bench->options, 2, &error);
		if (!CHECK(bench->pool != NULL))
			return false;
		CHECK(setup_port(port, &bench->options, bench->pool, &error) == 0);
		CHECK(port->started);
	}
	bench->ports[1].mac = (struct rte_ether_addr){{0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5}};
	bench->in = rte_ring_lookup("ETH_RXTX0_net_ring0");
	bench->out = rte_ring_lookup("ETH_RXTX0_net_ring1");
	bench->pair = aligned_alloc(alignof(struct queue_pair), sizeof(struct queue_pair));
	hand_out_work(&assignment, 1, &bench->options, bench->ports, bench->pair, bench->work);
	CHECK_NUMBER(bench->work[0].nb_pairs, 1);
	CHECK(bench->work[0].pairs == bench->pair);
	return CHECK(bench->in != NULL && bench->out != NULL && error.status == 0);
}

/* A frame whose bytes after the MACs tell which one it is. */
static struct rte_mbuf *
make_frame(struct bench *bench, uint16_t length, uint8_t number)
{
	struct rte_mbuf *frame = rte_pktmbuf_alloc(bench->pool);

	memset(rte_pktmbuf_mtod(frame, void *), 0xee, 64);
	memset(rte_pktmbuf_append(frame, length), number, length);
	return frame;
}

static void
receive(struct bench *bench, unsigned int nb_frames, uint8_t first)
{
	for (unsigned int i = 0; i < nb_frames; i++) {
		struct rte_mbuf *frame = make_frame(bench, 60, (uint8_t)(first + i));

		CHECK(rte_ring_enqueue(bench->in, frame) == 0);
	}
}

/* What has been sent must be these frames in this order, with these first bytes. */
static void
check_sent(struct bench *bench, unsigned int nb_frames, uint8_t first, const char *macs)
{
	void *object;

	CHECK_NUMBER(rte_ring_count(bench->out), nb_frames);
	for (unsigned int i = 0; i < nb_frames && rte_ring_dequeue(bench->out, &object) == 0; i++) {
		struct rte_mbuf *frame = object;
		const uint8_t *data = rte_pktmbuf_mtod(frame, const uint8_t *);

		if (macs != NULL)
			CHECK(memcmp(data, macs, 12) == 0);
		else
			CHECK_NUMBER(data[0], (uint8_t)(first + i));
		CHECK_NUMBER(data[12], (uint8_t)(first + i));
		CHECK_NUMBER(rte_pktmbuf_pkt_len(frame), 60);
		rte_pktmbuf_free(frame);
	}
}

static const char macs[] = "\x02\x00\x00\x00\x00\x01\xa0\xa1\xa2\xa3\xa4\xa5";

static void
test_full_burst(struct bench *bench)
{
	/* Sent without a detour over the buffer. */
	receive(bench, BURST, 0);
	forward_burst(bench->pair, false);
	CHECK_NUMBER(bench->pair->nb_buffered, 0);
	check_sent(bench, BURST, 0, macs);
	CHECK_NUMBER(bench->pair->counts.rx_packets, BURST);
	CHECK_NUMBER(bench->pair->counts.tx_packets, BURST);
	CHECK_NUMBER(bench->pair->counts.rx_polls, 1);
	CHECK_NUMBER(bench->pair->counts.rx_empty_polls, 0);

	forward_burst(bench->pair, false);
	CHECK_NUMBER(bench->pair->counts.rx_polls, 2);
	CHECK_NUMBER(bench->pair->counts.rx_empty_polls, 1);
}

static void
test_buffer(struct bench *bench)
{
	receive(bench, 20, 0);
	forward_burst(bench->pair, false);
	CHECK_NUMBER(bench->pair->nb_buffered, 20);
	check_sent(bench, 0, 0, macs);

	/* Fills the buffer, which is sent, and leaves 8 in it. */
	receive(bench, 20, 20);
	forward_burst(bench->pair, false);
	CHECK_NUMBER(bench->pair->nb_buffered, 8);
	check_sent(bench, 32, 0, macs);

	/* A full burst must not overtake those. */
	receive(bench, 32, 40);
	forward_burst(bench->pair, false);
	CHECK_NUMBER(bench->pair->nb_buffered, 8);
	check_sent(bench, 32, 32, macs);

	drain_buffer(bench->pair);
	CHECK_NUMBER(bench->pair->nb_buffered, 0);
	check_sent(bench, 8, 64, macs);
	drain_buffer(bench->pair);
	check_sent(bench, 0, 0, macs);
}

static void
test_short_frames(struct bench *bench)
{
	const uint64_t rx_short = bench->pair->counts.rx_short;
	struct rte_mbuf *frames[4] = {make_frame(bench, 13, 1), make_frame(bench, 14, 2),
		make_frame(bench, 0, 3), make_frame(bench, 60, 4)};
	struct rte_mbuf *const given[4] = {frames[0], frames[1], frames[2], frames[3]};
	const uint8_t *data;

	CHECK(!rewrite_macs(bench->pair, frames, 4));
	CHECK(frames[0] == given[0] && frames[3] == given[3]);
	CHECK(rewrite_macs(bench->pair, &frames[3], 1));
	data = rte_pktmbuf_mtod(given[0], const uint8_t *);
	CHECK(data[0] == 1 && data[12] == 1 && data[13] == 0xee);
	data = rte_pktmbuf_mtod(given[2], const uint8_t *);
	CHECK(data[0] == 0xee);

	/* These two have not come through the port, as the sum at the end expects. */
	bench->pair->counts.rx_packets += 2;
	CHECK_NUMBER(drop_runts(bench->pair, frames, 4), 2);
	CHECK(frames[0] == given[1] && frames[1] == given[3]);
	data = rte_pktmbuf_mtod(given[1], const uint8_t *);
	CHECK(memcmp(data, macs, 12) == 0 && data[12] == 2 && data[13] == 2 && data[14] == 0xee);
	CHECK_NUMBER(bench->pair->counts.rx_short, rx_short + 2);
	CHECK_NUMBER(drop_runts(bench->pair, frames, 2), 2);
	rte_pktmbuf_free_bulk(frames, 2);

	/* Only short ones, and short ones that make a full burst one less. */
	for (int i = 0; i < BURST; i++)
		rte_ring_enqueue(bench->in, make_frame(bench, 8, 0));
	forward_burst(bench->pair, false);
	CHECK_NUMBER(bench->pair->counts.rx_short, rx_short + 2 + BURST);
	CHECK_NUMBER(bench->pair->nb_buffered, 0);
	rte_ring_enqueue(bench->in, make_frame(bench, 8, 0));
	receive(bench, BURST - 1, 0);
	forward_burst(bench->pair, false);
	CHECK_NUMBER(bench->pair->counts.rx_short, rx_short + 2 + BURST + 1);
	CHECK_NUMBER(bench->pair->nb_buffered, BURST - 1);
	drain_buffer(bench->pair);
	check_sent(bench, BURST - 1, 0, macs);
}

static void
test_no_mac_updating(struct bench *bench)
{
	const uint64_t rx_short = bench->pair->counts.rx_short;

	bench->pair->update_macs = false;
	receive(bench, 3, 7);
	rte_ring_enqueue(bench->in, make_frame(bench, 13, 0));
	forward_burst(bench->pair, false);
	drain_buffer(bench->pair);
	check_sent(bench, 3, 7, NULL);
	CHECK_NUMBER(bench->pair->counts.rx_short, rx_short + 1);
	bench->pair->update_macs = true;
}

static void
test_full_queue(struct bench *bench)
{
	const uint64_t tx_packets = bench->pair->counts.tx_packets;
	unsigned int room = rte_ring_free_count(bench->out);
	unsigned int nb_received = 0;

	CHECK_NUMBER(bench->pair->counts.tx_dropped, 0);
	while (nb_received < room + 2 * BURST) {
		receive(bench, BURST, (uint8_t)nb_received);
		nb_received += BURST;
		forward_burst(bench->pair, false);
	}
	CHECK_NUMBER(bench->pair->counts.tx_packets - tx_packets, room);
	CHECK_NUMBER(bench->pair->counts.tx_dropped, nb_received - room);
	/* All that is left are those in the ring: what was not sent has been freed. */
	CHECK_NUMBER(rte_mempool_in_use_count(bench->pool), room);
	check_sent(bench, room, 0, macs);
}

static void
count_calls(void *argument, uint64_t tsc)
{
	unsigned int *calls = argument;

	CHECK(tsc != 0);
	++*calls;
}

struct stopper {
	atomic_bool stop;
	unsigned int calls;
};

static void
stop_at_third_call(void *argument, uint64_t tsc)
{
	struct stopper *stopper = argument;

	count_calls(&stopper->calls, tsc);
	if (stopper->calls == 3)
		atomic_store(&stopper->stop, true);
}

static void
test_loop(struct bench *bench)
{
	struct lcore_work *work = &bench->work[0];
	struct stopper stopper = {.stop = true};

	/* Nothing is received any more, but the buffer is sent. */
	receive(bench, 5, 0);
	forward_burst(bench->pair, false);
	receive(bench, 5, 5);
	work->stop = &stopper.stop;
	CHECK(forward_loop(work) == 0);
	check_sent(bench, 5, 0, macs);
	CHECK_NUMBER(rte_ring_count(bench->in), 5);

	stopper.stop = false;
	work->periodic = stop_at_third_call;
	work->argument = &stopper;
	CHECK(forward_loop(work) == 0);
	CHECK_NUMBER(stopper.calls, 3);
	check_sent(bench, 5, 5, macs);

	/* While other processes may capture. */
	stopper = (struct stopper){.stop = false};
	bench->pair->capture = true;
	receive(bench, BURST + 5, 10);
	CHECK(forward_loop(work) == 0);
	check_sent(bench, BURST + 5, 10, macs);
	bench->pair->capture = false;

	/* The main lcore without queue pairs. */
	stopper = (struct stopper){.stop = false};
	work->nb_pairs = 0;
	CHECK(forward_loop(work) == 0);
	CHECK_NUMBER(stopper.calls, 3);
}

static void
test_balance(struct bench *bench)
{
	const struct queue_counts *counts = &bench->pair->counts;

	CHECK_NUMBER(
		counts->rx_packets, counts->tx_packets + counts->tx_dropped + counts->rx_short);
	CHECK_NUMBER(rte_mempool_in_use_count(bench->pool), 0);
}

static void
test_limits(struct bench *bench)
{
	struct options options = bench->options;
	struct error error = {0};

	options.queues_per_port = 1024;
	CHECK(check_limits(&bench->ports[0], &options, &error) != 0);
	CHECK_NUMBER(error.status, STATUS_FAILED);
	CHECK_TEXT(error.message, "port 0 (net_ring0): --queues requests 1024 RX queues, "
				  "but the device supports at most 16");
	clear_error(&error);

	CHECK(check_mask(0x3, &error) == 0);
	CHECK(check_mask(UINT64_C(0x800000000000000f), &error) != 0);
	CHECK_TEXT(error.message,
		"port mask 0x800000000000000f names ports that do not exist: 2, 3, 63 "
		"(available: 0, 1)");
	clear_error(&error);

	options = bench->options;
	options.rx_descriptors = 65535;
	CHECK(rte_mempool_lookup("mbuf_pool_0") == bench->pool);
	CHECK(open_pool(&bench->ports[1], &options, 2, &error) == bench->pool);
}

int
main(int argc, char *argv[])
{
	const char *arguments[] = {argc > 0 ? argv[0] : "forward_test", "--no-huge", "-m", "128",
		"--no-pci", "--no-shconf", "--no-telemetry", "--lcores=0", "--vdev=net_ring0",
		"--vdev=net_ring1", NULL};
	struct bench bench = {0};

	if (rte_eal_init(10, (char **)(uintptr_t)arguments) < 0) {
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	if (setup(&bench)) {
		test_full_burst(&bench);
		test_buffer(&bench);
		test_short_frames(&bench);
		test_no_mac_updating(&bench);
		test_full_queue(&bench);
		test_loop(&bench);
		test_balance(&bench);
		test_limits(&bench);
	}
	close_ports(bench.ports, 2);
	rte_eal_cleanup();
	free(bench.pair);
	return check_result();
}
