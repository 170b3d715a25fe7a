/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_tap cuts a packet in an external buffer into segments, whose headers then claim to lie in an
 * external buffer too. It frees them with data that they do not have.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#define LEN 1054

static void
report(int signal)
{
	static const char text[] = "net_tap has followed a pointer that a header lacks: SIGSEGV\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

static void
free_nothing(void *address, void *arg)
{
	(void)address;
	(void)arg;
}

int
main(void)
{
	char *args[] = {"tap_tso", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_tap0"};
	const struct rte_eth_conf conf = {
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS};
	static struct rte_mbuf_ext_shared_info shared = {.free_cb = free_nothing};
	static char buffer[2048];
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(buffer + 14);
	struct rte_mempool *pool;
	struct rte_mbuf *mbuf;

	if (access("/dev/net/tun", R_OK | W_OK) != 0 ||
		(unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)) {
		puts("no /dev/net/tun, or no network namespace can be made here");
		return 77;
	}
	if (rte_eal_init(8, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 255, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
		rte_eth_tx_queue_setup(0, 0, 64, 0, NULL) != 0 ||
		rte_eth_rx_queue_setup(0, 0, 64, 0, NULL, pool) != 0 || rte_eth_dev_start(0) != 0)
		return 1;
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(LEN - 14);
	((struct rte_tcp_hdr *)(ip + 1))->data_off = 0x50;
	mbuf = rte_pktmbuf_alloc(pool);
	rte_mbuf_ext_refcnt_set(&shared, 1);
	rte_pktmbuf_attach_extbuf(mbuf, buffer, RTE_BAD_IOVA, sizeof(buffer), &shared);
	rte_pktmbuf_append(mbuf, LEN);
	mbuf->l2_len = 14;
	mbuf->l3_len = 20;
	mbuf->l4_len = 20;
	mbuf->tso_segsz = 500;
	mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	signal(SIGSEGV, report);
	printf("sent: %d\n", rte_eth_tx_burst(0, 0, &mbuf, 1));
	return 77;
}
