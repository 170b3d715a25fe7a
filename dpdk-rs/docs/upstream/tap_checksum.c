/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_tap looks at the checksum of a UDP header that the frame does not have, where an earlier
 * frame has left its bytes.
 */
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>

#define NB_MBUFS 255
#define LEN 34

/* Fills the room of every second mbuf, which so has bytes of an earlier frame. */
static void
leave_bytes(struct rte_mempool *pool)
{
	struct rte_mbuf *mbufs[NB_MBUFS];

	if (rte_pktmbuf_alloc_bulk(pool, mbufs, NB_MBUFS) != 0)
		return;
	for (int i = 0; i < NB_MBUFS; i++)
		memset(mbufs[i]->buf_addr, i % 2 == 0 ? 0 : 0x55, mbufs[i]->buf_len);
	rte_pktmbuf_free_bulk(mbufs, NB_MBUFS);
}

int
main(void)
{
	char *args[] = {"tap_checksum", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_tap0,iface=dtap0"};
	const struct rte_eth_conf conf = {.rxmode.offloads = RTE_ETH_RX_OFFLOAD_UDP_CKSUM};
	unsigned char frame[LEN] = {[12] = 0x08, [14] = 0x45, [17] = LEN - 14, [23] = 17};
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_halen = 6};
	struct rte_mempool *pool;
	struct rte_mbuf *mbuf;
	unsigned int nb_none = 0, nb_other = 0;
	int wire;

	if (access("/dev/net/tun", R_OK | W_OK) != 0 ||
		(unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)) {
		puts("no /dev/net/tun, or no network namespace can be made here");
		return 77;
	}
	if (rte_eal_init(8, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", NB_MBUFS, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	leave_bytes(pool);
	if (rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
		rte_eth_rx_queue_setup(0, 0, 16, 0, NULL, pool) != 0 ||
		rte_eth_tx_queue_setup(0, 0, 16, 0, NULL) != 0 || rte_eth_dev_start(0) != 0)
		return 1;
	address.sll_ifindex = (int)if_nametoindex("dtap0");
	wire = socket(AF_PACKET, SOCK_RAW, 0);
	for (unsigned int nb_got = 0; nb_got < 8; nb_got++) {
		sendto(wire, frame, LEN, 0, (struct sockaddr *)&address, sizeof(address));
		/* Frames of another length come from the kernel. */
		while (rte_eth_rx_burst(0, 0, &mbuf, 1) == 0 || mbuf->pkt_len != LEN)
			;
		if ((mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE)
			nb_none++;
		else
			nb_other++;
	}
	printf("of 8 equal frames without a UDP header, %u have no checksum and %u have one\n",
		nb_none, nb_other);
	return nb_none > 0 && nb_other > 0 ? 0 : 77;
}
