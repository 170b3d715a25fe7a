/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef FORWARD_H
#define FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "queue_pair.h"

/* Write the MACs into each frame. Stops and returns false at the first frame that is too short for
 * an Ethernet header; the frames before it are written.
 */
bool rewrite_macs(const struct queue_pair *pair, struct rte_mbuf **frames, unsigned int nb_frames);

/* Drop the frames that are too short for an Ethernet header, and write the MACs into the others.
 * Returns the number of frames kept, which stay in order.
 */
unsigned int drop_runts(struct queue_pair *pair, struct rte_mbuf **frames, unsigned int nb_frames);

/* Receive one burst, and send it or put it into the TX buffer; `capture` as in the pair. */
void forward_burst(struct queue_pair *pair, bool capture);

/* Send what is in the TX buffer, and publish the counters. */
void drain_buffer(struct queue_pair *pair);

/* Forward until the stop flag is set. The argument is a struct lcore_work. */
int forward_loop(void *argument);

#endif
