/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * How an lcore sleeps while no frames arrive.
 */

#include <errno.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_lcore.h>

#include "error.h"
#include "idle.h"

/* Intervals without a frame before the interrupts are enabled. The queues are polled for one more
 * interval, since frames that arrived earlier raise no interrupt.
 */
#define QUIET_INTERVALS 10
/* The longest sleep. It delays the reaction to the stop flag, the statistics and the link check. */
#define SLEEP_MS 10

/* Check the result of a device call: after a failure the lcore no longer sleeps. Returns whether
 * the call succeeded.
 */
static bool
settle(struct idle *idle, const struct queue_pair *pair, const char *what, int ret)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	if (ret >= 0)
		return true;
	idle->sleeps = false;
	rte_eth_dev_get_name_by_port(pair->rx_port, name);
	warn("port %u (%s): cannot %s RX queue %u: %s: lcore %u does not sleep", pair->rx_port,
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

		/* Some devices, such as net_tap, have interrupts that are always on. */
		if (ret == -ENOTSUP)
			ret = 0;
		if (!settle(idle, pair, on ? "enable the interrupt of" : "disable the interrupt of",
			    ret))
			return false;
	}
	return true;
}

/* Sleep until frames come to one of the queues. */
static bool
wait_for_frames(struct idle *idle, const struct lcore_work *work)
{
	struct rte_epoll_event event;

	return settle(idle, work->pairs, "wait for",
		rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, SLEEP_MS));
}

void
begin_idle(struct idle *idle, const struct lcore_work *work)
{
	*idle = (struct idle){.sleeps = work->idle_sleep && work->nb_pairs > 0};
	/* Registered only once: some drivers (net_virtio_user) report old events again after each
	 * registration.
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

bool
sleep_if_idle(struct idle *idle, const struct lcore_work *work)
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
