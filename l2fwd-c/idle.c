/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Sleep of an lcore that no frames come to.
 */

#include <errno.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_lcore.h>

#include "error.h"
#include "idle.h"

/* Intervals without a frame before the devices are asked to tell of frames. In one more they are
 * polled, since of what came before they do not tell.
 */
#define QUIET_INTERVALS 10
/* The longest sleep: the stop flag, statistics and links are seen to between two. */
#define SLEEP_MS 10

/* Where a device refuses, the lcore polls from then on. Returns whether it did not. */
static bool
settle(struct idle *idle, const struct queue_pair *pair, const char *what, int ret)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	if (ret >= 0)
		return true;
	idle->sleeps = false;
	rte_eth_dev_get_name_by_port(pair->rx_port, name);
	warn("port %u (%s): cannot %s RX queue %u: %s: lcore %u polls without sleep", pair->rx_port,
		name, what, pair->queue, rte_strerror(-ret), rte_lcore_id());
	return false;
}

static bool
enable_interrupts(struct idle *idle, const struct lcore_work *work, bool on)
{
	for (unsigned int i = 0; i < work->nb_pairs; i++) {
		const struct queue_pair *pair = &work->pairs[i];
		int ret = on ? rte_eth_dev_rx_intr_enable(pair->rx_port, pair->queue)
			     : rte_eth_dev_rx_intr_disable(pair->rx_port, pair->queue);

		/* Those of some devices, such as net_tap, are always on. */
		if (ret == -ENOTSUP)
			ret = 0;
		if (!settle(idle, pair, on ? "enable the interrupt of" : "disable the interrupt of",
			    ret))
			return false;
	}
	return true;
}

void
begin_idle(struct idle *idle, const struct lcore_work *work)
{
	*idle = (struct idle){.sleeps = work->idle_sleep && work->nb_pairs > 0};
	/* Once and for all: some drivers tell only once of what they have told since, and would
	 * tell it again whenever they are asked anew (net_virtio_user).
	 */
	while (idle->sleeps && idle->nb_watched < work->nb_pairs) {
		const struct queue_pair *pair = &work->pairs[idle->nb_watched];

		if (settle(idle, pair, "wait for",
			    rte_eth_dev_rx_intr_ctl_q(pair->rx_port, pair->queue,
				    RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL)))
			idle->nb_watched++;
	}
}

void
end_idle(struct idle *idle, const struct lcore_work *work)
{
	for (; idle->nb_watched > 0; idle->nb_watched--) {
		const struct queue_pair *pair = &work->pairs[idle->nb_watched - 1];

		rte_eth_dev_rx_intr_ctl_q(
			pair->rx_port, pair->queue, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL, NULL);
	}
}

/* Sleep until one of the devices tells of frames. */
static bool
wait_for_frames(struct idle *idle, const struct lcore_work *work)
{
	struct rte_epoll_event event;

	return settle(idle, work->pairs, "wait for",
		rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, SLEEP_MS));
}

bool
see_to_idle(struct idle *idle, const struct lcore_work *work)
{
	uint64_t received = 0;

	if (!idle->sleeps)
		return false;
	for (unsigned int i = 0; i < work->nb_pairs; i++)
		received += work->pairs[i].counts.rx_packets;
	if (received != idle->received) {
		idle->received = received;
		idle->nb_quiet = 0;
		if (idle->armed) {
			idle->armed = false;
			enable_interrupts(idle, work, false);
		}
		return false;
	}
	if (idle->armed)
		return wait_for_frames(idle, work);
	if (++idle->nb_quiet == QUIET_INTERVALS)
		idle->armed = enable_interrupts(idle, work, true);
	return false;
}
