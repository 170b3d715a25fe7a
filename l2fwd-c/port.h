/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef PORT_H
#define PORT_H

#include <stdbool.h>

#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mempool.h>

#include "args.h"
#include "error.h"

struct port {
	uint16_t id;
	uint16_t peer;
	char name[RTE_ETH_NAME_MAX_LEN];
	/* Known once the port is set up. */
	struct rte_ether_addr mac;
	bool started;
	/* As report_links() last saw it. */
	bool link_down;
};

/* Check that every port of the mask exists. */
int check_mask(uint64_t port_mask, struct error *error);

/* Compare the options with the device's limits, before the device is configured. */
int check_limits(const struct port *port, const struct options *options, struct error *error);

/* The pool for the port's receive queues: one serves all ports of a socket. nb_queues is the
 * number of queue pairs of all ports. NULL on error.
 */
struct rte_mempool *open_pool(const struct port *port, const struct options *options,
	unsigned int nb_queues, struct error *error);

/* Configure and start the port, and read its MAC address. */
int setup_port(struct port *port, const struct options *options, struct rte_mempool *pool,
	struct error *error);

/* As xx:xx:xx:xx:xx:xx, in lower case as Linux writes it. Returns `text`. */
const char *format_mac(const struct rte_ether_addr *mac, char text[RTE_ETHER_ADDR_FMT_SIZE]);

/* Print the links that have changed since the last call; the first call prints those that are down.
 * A removed port counts as down. Some drivers notice that their peer has disconnected, and look for
 * a new one, only when the link is queried.
 */
void report_links(struct port *ports, unsigned int nb_ports, FILE *out);

/* Whether all ports work after a stop and a start. Warns of the first that does not. */
bool can_reset(const struct port *ports, unsigned int nb_ports);

/* Stop all ports, then start them again. No lcore may use them meanwhile. */
int reset_ports(struct port *ports, unsigned int nb_ports, struct error *error);

/* Stop and close the ports, whatever their state. */
void close_ports(const struct port *ports, unsigned int nb_ports);

#endif
