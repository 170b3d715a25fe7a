/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The data path, driven burst by burst.
 */

#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Forward nb_bursts bursts from the first queue of rx_port to that of tx_port, and send what is
 * buffered then. Both ports are started. Fills in the six counters, in the order of struct
 * queue_counters.
 */
void forward_frames(uint16_t rx_port, uint16_t tx_port, const uint8_t *tx_mac, uint16_t burst,
	bool update_macs, uint32_t nb_bursts, uint64_t *counters);

#endif
