/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * vhost counts the mbufs of a received frame in 16 bits: 65,546 of them become 10. The guest is
 * virtio-user, here.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#define HALF 32773

static int
start(uint16_t port, struct rte_mempool *pool)
{
	const struct rte_eth_conf conf = {.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS};

	return pool == NULL || rte_eth_dev_configure(port, 1, 1, &conf) != 0 ||
	       rte_eth_rx_queue_setup(port, 0, 256, 0, NULL, pool) != 0 ||
	       rte_eth_tx_queue_setup(port, 0, 256, 0, NULL) != 0 || rte_eth_dev_start(port) != 0;
}

int
main(void)
{
	static char vhost[64], virtio[64];
	char *args[] = {"vhost_segments", "--no-huge", "-m", "512", "--no-pci", "--no-telemetry",
		"--no-shconf", vhost};
	struct rte_mempool *large;
	struct rte_mbuf *sent, *tail, *got;
	unsigned int nb_mbufs = 0;

	snprintf(vhost, sizeof(vhost), "--vdev=net_vhost0,iface=/tmp/vhost_segments-%d", getpid());
	snprintf(virtio, sizeof(virtio), "path=/tmp/vhost_segments-%d", getpid());
	if (rte_eal_init(8, args) < 0)
		return 1;
	large = rte_pktmbuf_pool_create("large", 511, 0, 0, 40000, SOCKET_ID_ANY);
	/* The mbufs of net_vhost have room for one byte after the headroom. */
	if (start(0, rte_pktmbuf_pool_create("small", 131071, 0, 0, RTE_PKTMBUF_HEADROOM + 1,
			     SOCKET_ID_ANY)) != 0 ||
		rte_eal_hotplug_add("vdev", "net_virtio_user0", virtio) != 0 ||
		start(1, large) != 0)
		return 1;
	sent = rte_pktmbuf_alloc(large);
	tail = rte_pktmbuf_alloc(large);
	rte_pktmbuf_append(sent, HALF);
	rte_pktmbuf_append(tail, HALF);
	rte_pktmbuf_chain(sent, tail);
	while (rte_eth_tx_burst(1, 0, &sent, 1) == 0)
		;
	while (rte_eth_rx_burst(0, 0, &got, 1) == 0)
		;
	for (struct rte_mbuf *m = got; m != NULL; m = m->next)
		nb_mbufs++;
	remove(virtio + strlen("path="));
	printf("%u mbufs, and nb_segs is %u\n", nb_mbufs, got->nb_segs);
	return nb_mbufs != got->nb_segs ? 0 : 77;
}
