/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_tap compares the MTU with the Ethernet header and the packet that it would cut, so that it
 * never takes segments that make packets as long as the MTU.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#define MTU 1500
#define HEADERS (sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr))
#define DATA 2920
#define ATTEMPTS 1000

/* How often the driver has to be asked to take a frame that it has to cut; 0 if it never does. */
static int
attempts(struct rte_mempool *pool, uint16_t segment)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	struct rte_ipv4_hdr *ip;
	uint16_t len = RTE_ETHER_HDR_LEN + HEADERS + DATA;
	int i;

	ip = (struct rte_ipv4_hdr *)(memset(rte_pktmbuf_append(mbuf, len), 0, len) +
				     RTE_ETHER_HDR_LEN);
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(len - RTE_ETHER_HDR_LEN);
	((struct rte_tcp_hdr *)(ip + 1))->data_off = 0x50;
	mbuf->l2_len = RTE_ETHER_HDR_LEN;
	mbuf->l3_len = sizeof(struct rte_ipv4_hdr);
	mbuf->l4_len = sizeof(struct rte_tcp_hdr);
	mbuf->tso_segsz = segment;
	mbuf->ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	for (i = 1; i <= ATTEMPTS; i++)
		if (rte_eth_tx_burst(0, 0, &mbuf, 1) == 1)
			return i;
	rte_pktmbuf_free(mbuf);
	return 0;
}

int
main(void)
{
	char *args[] = {"tap_tso_size", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_tap0"};
	const struct rte_eth_conf conf = {
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS};
	const uint16_t longest = MTU - HEADERS;
	struct rte_mempool *pool;
	int without, with;

	if (access("/dev/net/tun", R_OK | W_OK) != 0 ||
		(unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)) {
		puts("no /dev/net/tun, or no network namespace can be made here");
		return 77;
	}
	if (rte_eal_init(8, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 255, 0, 0, 4096, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
		rte_eth_tx_queue_setup(0, 0, 64, 0, NULL) != 0 ||
		rte_eth_rx_queue_setup(0, 0, 64, 0, NULL, pool) != 0 || rte_eth_dev_start(0) != 0)
		return 1;
	without = attempts(pool, longest - RTE_ETHER_HDR_LEN);
	with = attempts(pool, longest);
	printf("segments for packets of %d bytes: taken at attempt %d\n", MTU - RTE_ETHER_HDR_LEN,
		without);
	printf("segments for packets of %d bytes: not taken in %d attempts\n", MTU, ATTEMPTS);
	return without == 1 && with == 0 ? 0 : 77;
}
