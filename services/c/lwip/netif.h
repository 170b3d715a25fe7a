/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * lwIP's network interface: the first port of the EAL.
 */
#ifndef NETIF_H
#define NETIF_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include <lwip/netif.h>

/* Frames that the queue has not taken yet. */
#define MAX_WAITING 1024

struct port {
	struct netif netif;
	struct rte_mempool *pool;
	uint16_t id;
	/* Which checksums lwIP writes: NETIF_CHECKSUM_GEN_*. The device writes the others. */
	uint16_t generated;
	/* Received mbufs that lwIP or a service holds. */
	size_t nb_held;
	struct rte_mbuf *waiting[MAX_WAITING];
	uint16_t nb_waiting;
};

/* Start the port. Returns what has failed, or NULL. */
const char *port_start(struct port *port);

/* Fill in an interface whose state is a port that was started. The rest is lwIP's own: output,
 * output_ip6 and input.
 */
err_t port_init_netif(struct netif *netif);

/* Give lwIP what has come. */
void port_receive(struct port *port);

/* Send what waits, as far as the queue takes it. */
void port_send(struct port *port);

void port_stop(struct port *port);

#endif
