/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A DPDK plug-in (EAL option -d) that gives any forwarder three telemetry commands, by DPDK's
 * public callbacks on the ports' queues:
 *
 *   /bench/refuse,PERCENT  the transmit side takes only the rest of the frames that it is offered
 *   /bench/count,1         count polls from now on; 0: no longer
 *   /bench/polls           {polls, empty, frames} counted so far
 *
 * Without one of the first two nothing is added to the data path.
 */

#include <stdint.h>
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_telemetry.h>

#define QUEUES_MAX 64

/* One writer each, the lcore that owns the queue; on cache lines of their own. */
struct counts {
	uint64_t polls;
	uint64_t empty;
	uint64_t frames;
	/* Hundredths of a frame that the transmit side may still take. */
	uint64_t credit;
	const struct rte_eth_rxtx_callback *counting;
} __rte_cache_aligned;

static struct counts counts[RTE_MAX_ETHPORTS][QUEUES_MAX];
static unsigned int taken_percent = 100;

static uint16_t
count_poll(uint16_t port, uint16_t queue, struct rte_mbuf *frames[], uint16_t received,
	uint16_t room, void *argument)
{
	struct counts *mine = argument;

	(void)port;
	(void)queue;
	(void)frames;
	(void)room;
	mine->polls++;
	mine->empty += received == 0;
	mine->frames += received;
	return received;
}

static uint16_t
refuse(uint16_t port, uint16_t queue, struct rte_mbuf *frames[], uint16_t offered, void *argument)
{
	struct counts *mine = argument;
	uint16_t taken;

	(void)port;
	(void)queue;
	(void)frames;
	mine->credit += (uint64_t)offered * taken_percent;
	taken = (uint16_t)RTE_MIN(mine->credit / 100, offered);
	mine->credit -= (uint64_t)taken * 100;
	return taken;
}

static uint16_t
queues_of(uint16_t port, bool tx)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port, &info) != 0)
		return 0;
	return RTE_MIN(tx ? info.nb_tx_queues : info.nb_rx_queues, QUEUES_MAX);
}

static int
handle_refuse(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	unsigned long percent = parameters != NULL ? strtoul(parameters, NULL, 10) : 0;
	uint16_t port;
	int queues = 0;

	(void)command;
	if (percent > 100)
		return -EINVAL;
	taken_percent = 100 - (unsigned int)percent;
	RTE_ETH_FOREACH_DEV (port)
		for (uint16_t queue = 0; queue < queues_of(port, true); queue++)
			if (rte_eth_add_tx_callback(port, queue, refuse, &counts[port][queue]) !=
				NULL)
				queues++;
	rte_tel_data_start_dict(answer);
	return rte_tel_data_add_dict_int(answer, "queues", queues);
}

static int
handle_count(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	bool wanted = parameters != NULL && strtoul(parameters, NULL, 10) != 0;
	uint16_t port;
	int queues = 0;

	(void)command;
	RTE_ETH_FOREACH_DEV (port)
		for (uint16_t queue = 0; queue < queues_of(port, false); queue++) {
			struct counts *mine = &counts[port][queue];

			if (mine->counting != NULL)
				rte_eth_remove_rx_callback(port, queue, mine->counting);
			mine->counting =
				wanted ? rte_eth_add_rx_callback(port, queue, count_poll, mine)
				       : NULL;
			queues += mine->counting != NULL;
		}
	rte_tel_data_start_dict(answer);
	return rte_tel_data_add_dict_int(answer, "queues", queues);
}

static int
handle_polls(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	uint64_t polls = 0, empty = 0, frames = 0;

	(void)command;
	(void)parameters;
	for (unsigned int port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned int queue = 0; queue < QUEUES_MAX; queue++) {
			/* A port that does not receive says nothing about the load. */
			if (counts[port][queue].frames == 0)
				continue;
			polls += counts[port][queue].polls;
			empty += counts[port][queue].empty;
			frames += counts[port][queue].frames;
		}
	rte_tel_data_start_dict(answer);
	/* int: rte_tel_data_add_dict_u64 has another name since 23.03. */
	rte_tel_data_add_dict_int(answer, "polls", (int)RTE_MIN(polls, (uint64_t)INT32_MAX));
	rte_tel_data_add_dict_int(answer, "empty", (int)RTE_MIN(empty, (uint64_t)INT32_MAX));
	return rte_tel_data_add_dict_int(
		answer, "frames", (int)RTE_MIN(frames, (uint64_t)INT32_MAX));
}

RTE_INIT(bench_register)
{
	rte_telemetry_register_cmd(
		"/bench/refuse", handle_refuse, "Refuses PERCENT of what is to be sent");
	rte_telemetry_register_cmd("/bench/count", handle_count, "1: counts polls, 0: no longer");
	rte_telemetry_register_cmd("/bench/polls", handle_polls, "Returns what was counted");
}
