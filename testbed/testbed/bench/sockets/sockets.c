/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The echo server of a race on dpdk_sockets.h: race-server's `polled`, in C.
 * Usage: sockets [EAL OPTIONS] -- CONNECTIONS BUFFER. Runs until SIGINT or SIGTERM.
 */

#include <signal.h>
#include <stdlib.h>

#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <dpdk_sockets.h>

#define NB_MBUFS 4095
#define NB_DESCRIPTORS 1024
#define MAX_EVENTS 64
#define REQUEST_MAX 128

static volatile sig_atomic_t stop;

static void
on_signal(int signum)
{
	(void)signum;
	stop = 1;
}

static void
start_port(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {0};

	if (rte_eth_dev_configure(port, 1, 1, &conf) < 0 ||
		rte_eth_rx_queue_setup(port, 0, NB_DESCRIPTORS, 0, NULL, pool) < 0 ||
		rte_eth_tx_queue_setup(port, 0, NB_DESCRIPTORS, 0, NULL) < 0 ||
		rte_eth_dev_start(port) < 0)
		rte_exit(EXIT_FAILURE, "cannot start the port\n");
}

static void
echo(struct dpdk_sockets_stack stack, struct dpdk_sockets_connection connection)
{
	char bytes[REQUEST_MAX];
	int len;

	/* The client notices what is missing. */
	while ((len = dpdk_sockets_recv(stack, connection, bytes, sizeof(bytes))) > 0)
		dpdk_sockets_send(stack, connection, bytes, (size_t)len);
	if (len == 0)
		dpdk_sockets_shutdown(stack, connection);
}

int
main(int argc, char *argv[])
{
	struct dpdk_sockets_config config = {.ipv4 = {10, 0, 0, 1}, .ipv4_prefix_len = 8};
	struct dpdk_sockets_event events[MAX_EVENTS];
	struct dpdk_sockets_listener listener;
	struct dpdk_sockets_stack stack;
	struct rte_mempool *pool;
	int ret;

	ret = rte_eal_init(argc, argv);
	if (ret < 0 || argc != ret + 3)
		rte_exit(EXIT_FAILURE, "give the connections, and the bytes of a buffer\n");
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	/* One that has ended is there until it is closed here, and its client opens it again at
	 * once.
	 */
	config.connections = 2 * (uint32_t)atoi(argv[ret + 1]);
	config.receive_buffer = (uint32_t)atoi(argv[ret + 2]);
	config.send_buffer = config.receive_buffer;

	pool = rte_pktmbuf_pool_create(
		"pool", NB_MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	if (pool == NULL)
		rte_exit(EXIT_FAILURE, "cannot create the pool\n");
	start_port(0, pool);
	ret = dpdk_sockets_new(0, 0, pool, &config, &stack);
	if (ret == 0)
		ret = dpdk_sockets_listen(stack, 80, &listener);
	while (ret >= 0 && !stop) {
		ret = dpdk_sockets_poll(stack, events, MAX_EVENTS);
		for (int i = 0; i < ret; i++) {
			if (events[i].events & DPDK_SOCKETS_EVENT_READABLE)
				echo(stack, events[i].connection);
			if (events[i].events & DPDK_SOCKETS_EVENT_ENDED)
				dpdk_sockets_close(stack, events[i].connection);
		}
	}
	if (ret < 0)
		rte_exit(EXIT_FAILURE, "%s\n", dpdk_sockets_strerror(ret));
	dpdk_sockets_free(stack);
	rte_eth_dev_stop(0);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
