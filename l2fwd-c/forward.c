/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <assert.h>
#include <string.h>
#include <time.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_eal_memconfig.h>
#include <rte_ethdev.h>

#include "forward.h"
#include "idle.h"

#define FLUSH_INTERVAL_US 100
/* Rounds over the queue pairs before the loop looks at the clock and the stop flag again. */
#define ROUNDS 8
/* Frames for each time that the loop over a burst counts and jumps. */
#define GROUP 4

static_assert(sizeof(((struct queue_pair *)0)->macs) == sizeof(uint64_t) + sizeof(uint32_t),
	"rewrite_macs() writes both addresses in two stores");

static void
init_queue_pair(struct queue_pair *pair, const struct queue_assignment *assignment,
	const struct options *options, const struct port *ports)
{
	const struct port *peer = ports;

	while (peer->id != assignment->peer)
		peer++;
	memset(pair, 0, sizeof(*pair));
	pair->rx_port = assignment->port;
	pair->tx_port = assignment->peer;
	pair->queue = assignment->queue;
	pair->burst = options->burst;
	pair->update_macs = options->update_macs;
	pair->capture = options->capture;
	pair->macs[0] = 0x02;
	pair->macs[RTE_ETHER_ADDR_LEN - 1] = (uint8_t)peer->id;
	memcpy(&pair->macs[RTE_ETHER_ADDR_LEN], peer->mac.addr_bytes, RTE_ETHER_ADDR_LEN);
}

void
hand_out_work(const struct queue_assignment *assignments, unsigned int nb_assignments,
	const struct options *options, const struct port *ports, struct queue_pair *pairs,
	struct lcore_work *work)
{
	for (unsigned int i = 0; i < nb_assignments; i++) {
		struct lcore_work *owner = &work[assignments[i].lcore];

		init_queue_pair(&pairs[i], &assignments[i], options, ports);
		/* Those of one lcore follow each other. */
		if (owner->nb_pairs++ == 0)
			owner->pairs = &pairs[i];
		owner->idle_sleep = options->idle_sleep;
	}
}

static inline bool
too_short(const struct rte_mbuf *frame)
{
	return unlikely(rte_pktmbuf_data_len(frame) < RTE_ETHER_HDR_LEN);
}

/* Two stores. */
static inline void
write_macs(struct rte_mbuf *frame, uint64_t first_bytes, uint32_t last_bytes)
{
	uint8_t *header = rte_pktmbuf_mtod(frame, uint8_t *);

	memcpy(header, &first_bytes, sizeof(first_bytes));
	memcpy(&header[sizeof(first_bytes)], &last_bytes, sizeof(last_bytes));
}

__rte_always_inline bool
rewrite_macs(const struct queue_pair *pair, struct rte_mbuf **frames, uint16_t nb_frames)
{
	struct rte_mbuf **const end = &frames[nb_frames];
	struct rte_mbuf **const groups = &frames[nb_frames % GROUP];
	uint64_t first_bytes;
	uint32_t last_bytes;

	if (!pair->update_macs) {
		for (; frames < end; frames++)
			if (too_short(*frames))
				return false;
		return true;
	}
	/* Copies, which stay in registers. No header is fetched into the cache ahead: nothing waits
	 * for what is only written.
	 */
	memcpy(&first_bytes, pair->macs, sizeof(first_bytes));
	memcpy(&last_bytes, &pair->macs[sizeof(first_bytes)], sizeof(last_bytes));

	for (; frames < groups; frames++) {
		if (too_short(*frames))
			return false;
		write_macs(*frames, first_bytes, last_bytes);
	}
	for (; frames < end; frames += GROUP) {
#pragma GCC unroll 4
		for (unsigned int i = 0; i < GROUP; i++) {
			if (too_short(frames[i]))
				return false;
			write_macs(frames[i], first_bytes, last_bytes);
		}
	}
	return true;
}

uint16_t
drop_runts(struct queue_pair *pair, struct rte_mbuf **frames, uint16_t nb_frames)
{
	struct rte_mbuf *runts[BURST_MAX];
	uint16_t nb_kept = 0;
	uint16_t nb_runts = 0;

	for (uint16_t i = 0; i < nb_frames; i++) {
		if (too_short(frames[i]))
			runts[nb_runts++] = frames[i];
		else
			frames[nb_kept++] = frames[i];
	}
	rte_pktmbuf_free_bulk(runts, nb_runts);
	pair->counts.rx_short += nb_runts;
	rewrite_macs(pair, frames, nb_kept);
	return nb_kept;
}

/* Receive or send while no process can free a ring or a mempool, such as those of a capture. A
 * process that captures has its callbacks removed, and frees what they use at once, without a look
 * whether a thread is inside one: so does dpdk-dumpcap of DPDK 22.11. Not inlined: the way without
 * captures stays short.
 */
static __rte_noinline uint16_t
receive_captured(const struct queue_pair *pair, struct rte_mbuf **frames)
{
	uint16_t nb_received;

	rte_mcfg_tailq_read_lock();
	nb_received = rte_eth_rx_burst(pair->rx_port, pair->queue, frames, pair->burst);
	rte_mcfg_tailq_read_unlock();
	return nb_received;
}

static __rte_noinline uint16_t
send_captured(const struct queue_pair *pair, struct rte_mbuf **frames, uint16_t nb_frames)
{
	uint16_t nb_sent;

	rte_mcfg_tailq_read_lock();
	nb_sent = rte_eth_tx_burst(pair->tx_port, pair->queue, frames, nb_frames);
	rte_mcfg_tailq_read_unlock();
	return nb_sent;
}

/* One attempt only: a queue that is full now is as full at once after, and waiting for it would
 * make the RX queue overflow instead.
 */
static inline void
send_burst(struct queue_pair *pair, struct rte_mbuf **frames, uint16_t nb_frames)
{
	const uint16_t nb_sent = unlikely(pair->capture) ? send_captured(pair, frames, nb_frames)
							 : rte_eth_tx_burst(pair->tx_port,
								   pair->queue, frames, nb_frames);

	pair->counts.tx_packets += nb_sent;
	if (unlikely(nb_sent < nb_frames)) {
		rte_pktmbuf_free_bulk(&frames[nb_sent], nb_frames - nb_sent);
		pair->counts.tx_dropped += nb_frames - nb_sent;
	}
}

static void
send_buffer(struct queue_pair *pair)
{
	const uint16_t nb_frames = pair->nb_buffered;

	if (nb_frames == 0)
		return;
	pair->nb_buffered = 0;
	send_burst(pair, pair->buffer, nb_frames);
}

static __rte_noinline void
buffer_frames(struct queue_pair *pair, struct rte_mbuf **frames, uint16_t nb_frames)
{
	while (nb_frames > 0) {
		const uint16_t room = pair->burst - pair->nb_buffered;
		const uint16_t count = nb_frames < room ? nb_frames : room;

		memcpy(&pair->buffer[pair->nb_buffered], frames, count * sizeof(frames[0]));
		pair->nb_buffered += count;
		frames += count;
		nb_frames -= count;
		if (pair->nb_buffered == pair->burst)
			send_buffer(pair);
	}
}

__rte_always_inline void
forward_burst(struct queue_pair *pair)
{
	struct rte_mbuf *frames[BURST_MAX];
	const uint16_t nb_received =
		unlikely(pair->capture)
			? receive_captured(pair, frames)
			: rte_eth_rx_burst(pair->rx_port, pair->queue, frames, pair->burst);
	uint16_t nb_kept = nb_received;

	pair->counts.rx_polls++;
	if (nb_received == 0) {
		pair->counts.rx_empty_polls++;
		return;
	}
	pair->counts.rx_packets += nb_received;

	if (unlikely(!rewrite_macs(pair, frames, nb_received)))
		nb_kept = drop_runts(pair, frames, nb_received);

	if (nb_kept == pair->burst && pair->nb_buffered == 0)
		send_burst(pair, frames, nb_kept);
	else
		buffer_frames(pair, frames, nb_kept);
}

static void
set(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

/* What has come first: a reader of the other order does not see more leave than has come. */
static void
publish(struct queue_pair *pair)
{
	const struct queue_counts *counts = &pair->counts;
	struct queue_counters *counters = &pair->counters;

	set(&counters->rx_polls, counts->rx_polls);
	set(&counters->rx_empty_polls, counts->rx_empty_polls);
	set(&counters->rx_packets, counts->rx_packets);
	set(&counters->rx_short, counts->rx_short);
	set(&counters->tx_packets, counts->tx_packets);
	set(&counters->tx_dropped, counts->tx_dropped);
}

void
flush_buffer(struct queue_pair *pair)
{
	send_buffer(pair);
	publish(pair);
}

/* Not inlined: the loop stays small. */
static __rte_noinline void
flush_buffers(const struct lcore_work *work)
{
	for (unsigned int i = 0; i < work->nb_pairs; i++)
		flush_buffer(&work->pairs[i]);
}

int
forward_loop(void *argument)
{
	const struct lcore_work *work = argument;
	const uint64_t interval = rte_get_tsc_hz() * FLUSH_INTERVAL_US / US_PER_S;
	/* An idle lcore leaves its core to others, but must still see the flag soon. */
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	struct queue_pair *const pairs = work->pairs;
	const unsigned int nb_pairs = work->nb_pairs;
	struct idle idle;
	uint64_t due = rte_rdtsc() + interval;

	begin_idle(&idle, work);
	while (!atomic_load_explicit(work->stop, memory_order_relaxed)) {
		const uint64_t now = rte_rdtsc();

		if (unlikely(now >= due)) {
			flush_buffers(work);
			if (work->periodic != NULL)
				work->periodic(work->argument, now);
			/* After a sleep it is due again once all queues were polled. */
			due = see_to_idle(&idle, work) ? now : now + interval;
		}
		if (nb_pairs == 0)
			nanosleep(&nap, NULL);
		for (unsigned int round = 0; round < ROUNDS; round++)
			for (unsigned int i = 0; i < nb_pairs; i++)
				forward_burst(&pairs[i]);
	}

	flush_buffers(work);
	end_idle(&idle, work);
	return 0;
}
