/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <string.h>

#include "../forward.h"
#include "frames.h"

void
forward_frames(uint16_t rx_port, uint16_t tx_port, const uint8_t *tx_mac, uint16_t burst,
	bool update_macs, uint32_t nb_bursts, uint64_t *counters)
{
	const struct options options = {.burst = burst, .update_macs = update_macs};
	const struct queue_assignment assignment = {.port = rx_port, .peer = tx_port};
	struct port port = {.id = tx_port};
	struct lcore_work work = {0};
	struct queue_pair pair;

	memcpy(port.mac.addr_bytes, tx_mac, RTE_ETHER_ADDR_LEN);
	hand_out_work(&assignment, 1, &options, &port, &pair, &work);
	for (uint32_t i = 0; i < nb_bursts; i++)
		forward_burst(&pair, false);
	drain_buffer(&pair);
	counters[0] = pair.counters.rx_packets;
	counters[1] = pair.counters.tx_packets;
	counters[2] = pair.counters.tx_dropped;
	counters[3] = pair.counters.rx_short;
	counters[4] = pair.counters.rx_polls;
	counters[5] = pair.counters.rx_empty_polls;
}
