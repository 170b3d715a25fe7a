/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A stack on a device that writes checksums and cuts segments: virtio, with a vhost device of the
 * same program at its other end.
 */

#include "pair.h"

#define NB_MBUFS 1023
#define DATA_ROOM 16384
#define CHECKSUMS (RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM)
/* Of a segment in a packet of 1,500 bytes. */
#define SEGMENT_SIZE 1460

/* A new device, whose socket is where that of the first one is. */
static uint16_t
start(const char *name, const char *form, struct rte_mempool *pool, uint64_t tx_offloads)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};
	char args[256];
	uint16_t port;

	snprintf(args, sizeof(args), form, getenv("RUNTIME_DIRECTORY"));
	EXPECT(rte_eal_hotplug_add("vdev", name, args), 0);
	EXPECT(rte_eth_dev_get_port_by_name(name, &port), 0);
	EXPECT(rte_eth_dev_info_get(port, &info), 0);
	EXPECT(info.tx_offload_capa & tx_offloads, tx_offloads);
	conf.txmode.offloads = tx_offloads;
	conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	EXPECT(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	EXPECT(rte_eth_rx_queue_setup(port, 0, 256, 0, NULL, pool), 0);
	EXPECT(rte_eth_tx_queue_setup(port, 0, 256, 0, NULL), 0);
	EXPECT(rte_eth_dev_start(port), 0);
	return port;
}

static uint64_t
counted(struct dpdk_sockets_stack stack, const char *name)
{
	uint64_t value = 0;

	EXPECT(dpdk_sockets_counter(stack, name, &value), 0);
	return value;
}

/* Returns how many bytes a segment of the client has carried on average. */
static uint64_t
sent_with(uint64_t tx_offloads)
{
	struct dpdk_sockets_config config = config_of(2);
	struct dpdk_sockets_connection accepted, client;
	struct pair pair;

	pair.pool = rte_pktmbuf_pool_create("pool", NB_MBUFS, 0, 0, DATA_ROOM, 0);
	EXPECT(pair.pool != NULL, 1);
	pair.ports[0] = start("net_vhost0", "iface=%s/wire,tso=1", pair.pool, 0);
	pair.ports[1] = start("net_virtio_user0", "path=%s/wire", pair.pool, tx_offloads);
	init_stacks(&pair, &config);
	accepted = connect_pair(&pair, &client);
	transfer(&pair, client, accepted);
	EXPECT(counted(pair.server, "damaged"), 0);
	return counted(pair.client, "bytes_sent") / counted(pair.client, "segments_sent");
}

static void
checksums(void)
{
	EXPECT(sent_with(CHECKSUMS) <= SEGMENT_SIZE, 1);
}

static void
segments(void)
{
	EXPECT(sent_with(CHECKSUMS | RTE_ETH_TX_OFFLOAD_TCP_TSO) > SEGMENT_SIZE, 1);
}

int
main(int argc, char *argv[])
{
	const struct test tests[] = {
		TEST(checksums),
		TEST(segments),
	};

	return run(tests, RTE_DIM(tests), argc, argv);
}
