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
#include "gaps.h"
#include "idle.h"

#define DRAIN_INTERVAL_US 100
/* Rounds over the queue pairs before the loop looks at the clock and the stop flag again. */
#define ROUNDS 8
/* Frames per iteration of the loop over a burst. With bursts of 32, a packet takes 10.1
 * instructions, and 12.2 without groups (./x bench overload --count, DPDK 22.11).
 */
#define GROUP 4

static_assert(sizeof(((struct queue_pair *)0)->macs) == sizeof(uint64_t) + sizeof(uint32_t),
	"rewrite_macs() writes both addresses in two stores");

static inline bool
too_short(const struct rte_mbuf *frame)
{
	return unlikely(rte_pktmbuf_data_len(frame) < RTE_ETHER_HDR_LEN);
}

/* Both addresses, in two stores. */
static inline void
write_macs(struct rte_mbuf *frame, uint64_t first_bytes, uint32_t last_bytes)
{
	uint8_t *header = rte_pktmbuf_mtod(frame, uint8_t *);

	memcpy(header, &first_bytes, sizeof(first_bytes));
	memcpy(&header[sizeof(first_bytes)], &last_bytes, sizeof(last_bytes));
}

__rte_always_inline bool
rewrite_macs(const struct queue_pair *pair, struct rte_mbuf **frames, unsigned int nb_frames)
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
	/* Local copies stay in registers. Headers are not prefetched: they are only written, and no
	 * instruction waits for a write.
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

unsigned int
drop_runts(struct queue_pair *pair, struct rte_mbuf **frames, unsigned int nb_frames)
{
	struct rte_mbuf *runts[BURST_MAX];
	unsigned int nb_kept = 0;
	unsigned int nb_runts = 0;

	for (unsigned int i = 0; i < nb_frames; i++) {
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

/* Receive or send under the lock that other processes need to free a ring or a mempool. At the end
 * of a capture, dpdk-dumpcap of DPDK 22.11 removes its callbacks and frees their ring and mempool
 * at once, even if a thread is still inside a callback. Not inlined, so that the path without
 * captures stays short.
 */
static __rte_noinline unsigned int
receive_captured(const struct queue_pair *pair, struct rte_mbuf **frames)
{
	unsigned int nb_received;

	rte_mcfg_tailq_read_lock();
	nb_received = rte_eth_rx_burst(pair->rx_port, pair->queue, frames, pair->burst);
	rte_mcfg_tailq_read_unlock();
	return nb_received;
}

static __rte_noinline unsigned int
send_captured(const struct queue_pair *pair, struct rte_mbuf **frames, unsigned int nb_frames)
{
	unsigned int nb_sent;

	rte_mcfg_tailq_read_lock();
	nb_sent = rte_eth_tx_burst(pair->tx_port, pair->queue, frames, nb_frames);
	rte_mcfg_tailq_read_unlock();
	return nb_sent;
}

/* One attempt only: a full queue is still full an instant later, and waiting for room would make
 * the RX queue overflow instead.
 */
static inline void
send_burst(struct queue_pair *pair, struct rte_mbuf **frames, unsigned int nb_frames, bool capture)
{
	const unsigned int nb_sent =
		capture ? send_captured(pair, frames, nb_frames)
			: rte_eth_tx_burst(pair->tx_port, pair->queue, frames, nb_frames);

	pair->counts.tx_packets += nb_sent;
	if (unlikely(nb_sent < nb_frames)) {
		rte_pktmbuf_free_bulk(&frames[nb_sent], nb_frames - nb_sent);
		pair->counts.tx_dropped += nb_frames - nb_sent;
	}
}

static void
send_buffer(struct queue_pair *pair)
{
	const unsigned int nb_frames = pair->nb_buffered;

	if (nb_frames == 0)
		return;
	pair->nb_buffered = 0;
	send_burst(pair, pair->buffer, nb_frames, pair->capture);
}

static __rte_noinline void
buffer_frames(struct queue_pair *pair, struct rte_mbuf **frames, unsigned int nb_frames)
{
	while (nb_frames > 0) {
		const unsigned int room = pair->burst - pair->nb_buffered;
		const unsigned int count = nb_frames < room ? nb_frames : room;

		memcpy(&pair->buffer[pair->nb_buffered], frames, count * sizeof(frames[0]));
		pair->nb_buffered += count;
		frames += count;
		nb_frames -= count;
		if (pair->nb_buffered == pair->burst)
			send_buffer(pair);
	}
}

__rte_always_inline void
forward_burst(struct queue_pair *pair, bool capture)
{
	struct rte_mbuf *frames[BURST_MAX];
	const unsigned int nb_received =
		capture ? receive_captured(pair, frames)
			: rte_eth_rx_burst(pair->rx_port, pair->queue, frames, pair->burst);
	unsigned int nb_kept = nb_received;

	pair->counts.rx_polls++;
	if (nb_received == 0) {
		pair->counts.rx_empty_polls++;
		return;
	}
	pair->counts.rx_packets += nb_received;

	if (unlikely(!rewrite_macs(pair, frames, nb_received)))
		nb_kept = drop_runts(pair, frames, nb_received);

	if (nb_kept == pair->burst && pair->nb_buffered == 0)
		send_burst(pair, frames, nb_kept, capture);
	else
		buffer_frames(pair, frames, nb_kept);
}

void
drain_buffer(struct queue_pair *pair)
{
	send_buffer(pair);
	publish(pair);
}

/* Not inlined: the loop stays small. */
static __rte_noinline void
drain_buffers(const struct lcore_work *work)
{
	for (unsigned int i = 0; i < work->nb_pairs; i++)
		drain_buffer(&work->pairs[i]);
}

/* Inlined with a constant for `capture`, so that no burst looks it up. */
static __rte_always_inline void
forward_rounds(struct queue_pair *pairs, unsigned int nb_pairs, bool capture)
{
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int i = 0; i < nb_pairs; i++)
			forward_burst(&pairs[i], capture);
}

int
forward_loop(void *argument)
{
	const struct lcore_work *work = argument;
	const uint64_t interval = rte_get_tsc_hz() * DRAIN_INTERVAL_US / US_PER_S;
	/* An lcore without queues leaves its core to others, but must see the stop flag soon. */
	const struct timespec nap = {.tv_nsec = 1000 * 1000};
	struct queue_pair *const pairs = work->pairs;
	const unsigned int nb_pairs = work->nb_pairs;
	const bool capture = nb_pairs > 0 && pairs->capture;
	struct gap_watch gaps;
	struct idle idle;
	uint64_t due = rte_rdtsc() + interval;

	begin_gap_watch(&gaps);
	begin_idle(&idle, work);
	while (!atomic_load_explicit(work->stop, memory_order_relaxed)) {
		const uint64_t now = rte_rdtsc();

		if (unlikely(now >= due)) {
			watch_gap(&gaps, work, now - due);
			drain_buffers(work);
			if (work->periodic != NULL)
				work->periodic(work->argument, now);
			/* After a sleep, drain again as soon as all queues have been polled. */
			due = sleep_if_idle(&idle, work) ? rte_rdtsc() : now + interval;
		}
		if (nb_pairs == 0)
			nanosleep(&nap, NULL);
		if (unlikely(capture))
			forward_rounds(pairs, nb_pairs, true);
		else
			forward_rounds(pairs, nb_pairs, false);
	}

	drain_buffers(work);
	end_idle(&idle, work);
	return 0;
}
