/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Which port sends the frames that another receives, and which lcore forwards them.
 */

#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/* A port mask has 64 bits, so no port above 63 can be chosen. */
#define MASK_PORTS 64

struct port_map {
	/* As given; NULL: no map, neighbours are paired. */
	const char *text;
	/* Mask of the ports in the map. */
	uint64_t ports;
	uint8_t peer[MASK_PORTS];
};

/* A port in use. Its peer sends the frames that it receives; peers are a permutation of the ports.
 */
struct port_pair {
	uint16_t port;
	uint16_t peer;
};

/* One RX queue with the TX queue of the same number on the peer port, and the lcore that owns
 * both.
 */
struct queue_assignment {
	unsigned int lcore;
	uint16_t port;
	uint16_t peer;
	uint16_t queue;
};

/* Whether a port is in a mask. */
bool in_mask(uint64_t port_mask, unsigned int port);

/* Check only the grammar: the port mask may come later on the command line. */
int parse_port_map(const char *text, struct port_map *map, struct error *error);

/* Check the ports against each other and the mask, and fill in the peers. */
int check_port_map(struct port_map *map, uint64_t port_mask, struct error *error);

/* Fill in the ports in use, in ascending order. Returns their number. */
unsigned int pair_ports(
	uint64_t port_mask, const struct port_map *map, struct port_pair pairs[MASK_PORTS]);

/* Assign the queue pairs in order, up to per_lcore to each lcore. `assignments` has room for
 * nb_pairs * queues. Returns the number of lcores used, or -1 if there are too few.
 */
int assign_queues(const struct port_pair *pairs, unsigned int nb_pairs, uint16_t queues,
	const unsigned int *lcores, unsigned int nb_lcores, uint16_t per_lcore,
	struct queue_assignment *assignments, struct error *error);

#endif
