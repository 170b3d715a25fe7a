/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_af_packet compares a frame with its place in the ring, and then inserts a tag. The frame
 * reaches into the next place.
 */
#include <inttypes.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#define PLACE_LEN 2048
/* What the driver compares a frame with: struct tpacket2_hdr lies before the frame. */
#define FRAME_LEN (PLACE_LEN - 32)

/* The driver maps the ring for received frames and the one for frames to send at once. */
static const uint32_t *
second_place(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t start = 0, end = 0;
	char line[256];

	while (fgets(line, sizeof(line), maps) != NULL && strstr(line, "socket:[") == NULL)
		;
	fclose(maps);
	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) != 2)
		return NULL;
	return (const uint32_t *)(start + (end - start) / 2 + PLACE_LEN);
}

int
main(void)
{
	char *args[] = {"af_packet_vlan", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_af_packet0,iface=lo"};
	const struct rte_eth_conf conf = {.txmode.offloads = RTE_ETH_TX_OFFLOAD_VLAN_INSERT};
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	const uint32_t *next;
	struct rte_mempool *pool;
	struct rte_mbuf *mbuf;

	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
		puts("no network namespace can be made here");
		return 77;
	}
	if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &request) != 0)
		return 1;
	if (rte_eal_init(8, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 2047, 0, 0, 4096, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
		rte_eth_rx_queue_setup(0, 0, 512, 0, NULL, pool) != 0 ||
		rte_eth_tx_queue_setup(0, 0, 512, 0, NULL) != 0 || rte_eth_dev_start(0) != 0)
		return 1;
	next = second_place();
	mbuf = rte_pktmbuf_alloc(pool);
	if (next == NULL || mbuf == NULL || *next != 0)
		return 1;
	memset(rte_pktmbuf_append(mbuf, FRAME_LEN), 0x55, FRAME_LEN);
	mbuf->ol_flags = RTE_MBUF_F_TX_VLAN;
	if (rte_eth_tx_burst(0, 0, &mbuf, 1) != 1)
		return 1;
	printf("the status of the next place: 0x%08" PRIx32 " instead of 0\n", *next);
	return *next != 0 ? 0 : 77;
}
