/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Sends back what it receives on TCP port 7 (RFC 862), on any number of connections.
 * Usage: echo [EAL OPTIONS] [-- ADDRESS/PREFIX], by default 192.0.2.1/24. Runs until SIGINT or
 * SIGTERM.
 */

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include <dpdk_sockets.h>

#define NB_MBUFS 8191
#define NB_DESCRIPTORS 1024
#define MAX_EVENTS 64
/* What the device does, if it can. */
#define RX_CHECKSUMS \
	(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM | \
		RTE_ETH_RX_OFFLOAD_UDP_CKSUM)
#define TX_CHECKSUMS \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | \
		RTE_ETH_TX_OFFLOAD_UDP_CKSUM)

static volatile sig_atomic_t stop;

static void
on_signal(int signum)
{
	(void)signum;
	stop = 1;
}

/* End with a message if a call of DPDK has failed. */
static int
check(int ret, const char *what)
{
	if (ret < 0)
		rte_exit(EXIT_FAILURE, "%s: %s\n", what, rte_strerror(-ret));
	return ret;
}

/* End with a message if a call of dpdk-sockets has failed. */
static int
check_sockets(int ret, const char *what)
{
	if (ret < 0)
		rte_exit(EXIT_FAILURE, "%s: %s\n", what, dpdk_sockets_strerror(ret));
	return ret;
}

static struct dpdk_sockets_config
parse_address(const char *text)
{
	struct dpdk_sockets_config config = {0};
	char address[INET6_ADDRSTRLEN];
	unsigned int prefix_len;
	char rest;

	if (sscanf(text, "%45[0-9a-fA-F.:]/%3u%c", address, &prefix_len, &rest) == 2) {
		if (inet_pton(AF_INET, address, config.ipv4) == 1 && prefix_len <= 32) {
			config.ipv4_prefix_len = (uint8_t)prefix_len;
			return config;
		}
		if (inet_pton(AF_INET6, address, config.ipv6) == 1 && prefix_len <= 128) {
			config.ipv6_prefix_len = (uint8_t)prefix_len;
			return config;
		}
	}
	rte_exit(EXIT_FAILURE, "'%s' is not an address: give one such as 192.0.2.1/24\n", text);
}

static void
start_port(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};
	int socket = rte_eth_dev_socket_id(port);
	unsigned int socket_id = socket < 0 ? 0 : (unsigned int)socket;

	check(rte_eth_dev_info_get(port, &info), "cannot ask the port");
	conf.rxmode.offloads = info.rx_offload_capa & RX_CHECKSUMS;
	conf.txmode.offloads = info.tx_offload_capa & TX_CHECKSUMS;
	check(rte_eth_dev_configure(port, 1, 1, &conf), "cannot configure the port");
	check(rte_eth_rx_queue_setup(port, 0, NB_DESCRIPTORS, socket_id, NULL, pool),
		"cannot set up the RX queue");
	check(rte_eth_tx_queue_setup(port, 0, NB_DESCRIPTORS, socket_id, NULL),
		"cannot set up the TX queue");
	check(rte_eth_dev_start(port), "cannot start the port");
	/* Neighbor discovery asks a group for an IPv6 address. A device without a filter refuses,
	 * and receives all frames.
	 */
	(void)rte_eth_allmulticast_enable(port);
}

/* Send back what has arrived, as far as there is space, and close when the peer does. Returns how
 * many bytes. After an error, the event of the connection's end comes last.
 */
static uint64_t
echo(struct dpdk_sockets_stack stack, struct dpdk_sockets_connection connection)
{
	char bytes[4096];
	uint64_t echoed = 0;

	for (;;) {
		int space = dpdk_sockets_space(stack, connection);
		size_t most = space < (int)sizeof(bytes) ? (size_t)space : sizeof(bytes);
		int len;

		if (space <= 0)
			return echoed;
		len = dpdk_sockets_recv(stack, connection, bytes, most);
		if (len == 0)
			dpdk_sockets_shutdown(stack, connection);
		if (len <= 0)
			return echoed;
		/* It takes all of them, since there is space. */
		dpdk_sockets_send(stack, connection, bytes, (size_t)len);
		echoed += (uint64_t)len;
	}
}

int
main(int argc, char *argv[])
{
	struct dpdk_sockets_event events[MAX_EVENTS];
	struct dpdk_sockets_listener listener;
	struct dpdk_sockets_config config;
	struct dpdk_sockets_stack stack;
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_ether_addr mac;
	struct rte_mempool *pool;
	uint64_t echoed = 0;
	const char *text;
	uint16_t port;
	int ret;

	/* stdout is for the program's own output. */
	rte_openlog_stream(stderr);
	ret = rte_eal_init(argc, argv);
	if (ret < 0)
		rte_exit(EXIT_FAILURE, "cannot initialise the EAL: %s\n", rte_strerror(rte_errno));
	text = argc > ret + 1 ? argv[ret + 1] : "192.0.2.1/24";
	config = parse_address(text);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);

	pool = rte_pktmbuf_pool_create(
		"pool", NB_MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	if (pool == NULL)
		rte_exit(EXIT_FAILURE, "cannot create the pool: %s\n", rte_strerror(rte_errno));
	port = (uint16_t)rte_eth_find_next(0);
	if (port == RTE_MAX_ETHPORTS)
		rte_exit(EXIT_FAILURE, "no port: give one with --vdev or -a\n");
	start_port(port, pool);
	check_sockets(dpdk_sockets_new(port, 0, pool, &config, &stack), "cannot make a stack");
	check_sockets(dpdk_sockets_listen(stack, 7, &listener), "cannot listen");
	check(rte_eth_dev_get_name_by_port(port, name), "cannot read the port's name");
	check(rte_eth_macaddr_get(port, &mac), "cannot read the MAC address");
	printf("port %u (%s): %s at " RTE_ETHER_ADDR_PRT_FMT " echoes on TCP port 7\n", port, name,
		text, RTE_ETHER_ADDR_BYTES(&mac));
	fflush(stdout);

	while (!stop) {
		int nb_events =
			check_sockets(dpdk_sockets_poll(stack, events, MAX_EVENTS), "cannot poll");

		for (int i = 0; i < nb_events; i++) {
			const struct dpdk_sockets_event *event = &events[i];

			if (event->events &
				(DPDK_SOCKETS_EVENT_READABLE | DPDK_SOCKETS_EVENT_WRITABLE))
				echoed += echo(stack, event->connection);
			/* Whatever went wrong with a connection, this comes last. */
			if (event->events & DPDK_SOCKETS_EVENT_ENDED)
				dpdk_sockets_close(stack, event->connection);
		}
	}
	printf("echoed %" PRIu64 " bytes\n", echoed);

	dpdk_sockets_free(stack);
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
	rte_mempool_free(pool);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
