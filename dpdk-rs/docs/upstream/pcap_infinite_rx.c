/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_pcap frees the ring of infinite_rx when a queue is not set up, and again when the port is
 * closed. Meanwhile the memory can belong to another ring.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

static void
write_file(const char *path)
{
	const uint32_t head[] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1},
		       record[] = {0, 0, 60, 60};
	const char frame[60] = {0};
	FILE *file = fopen(path, "w");

	fwrite(head, sizeof(head), 1, file);
	for (int i = 0; i < 7; i++) {
		fwrite(record, sizeof(record), 1, file);
		fwrite(frame, sizeof(frame), 1, file);
	}
	fclose(file);
}

int
main(void)
{
	static char path[64], vdev[128];
	char *args[] = {"pcap_infinite_rx", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", vdev};
	const struct rte_eth_conf conf = {0};
	struct rte_mempool *pool;
	struct rte_ring *ring;

	snprintf(path, sizeof(path), "/tmp/pcap_infinite_rx-%d.pcap", getpid());
	snprintf(vdev, sizeof(vdev), "--vdev=net_pcap0,rx_pcap=%s,infinite_rx=1", path);
	write_file(path);
	if (rte_eal_init(8, args) < 0)
		return 1;
	/* Fewer mbufs than the file has frames. */
	pool = rte_pktmbuf_pool_create("pool", 3, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(0, 1, 0, &conf) != 0)
		return 1;
	if (rte_eth_rx_queue_setup(0, 0, 64, 0, NULL, pool) == 0) {
		puts("the queue was set up");
		return 77;
	}
	ring = rte_ring_create("program", 8, SOCKET_ID_ANY, 0);
	rte_ring_enqueue(ring, rte_pktmbuf_alloc(pool));
	rte_eth_dev_close(0);
	remove(path);
	printf("the program's ring is %s\n",
		rte_ring_lookup("program") == NULL ? "freed" : "there");
	return rte_ring_lookup("program") == NULL ? 0 : 77;
}
