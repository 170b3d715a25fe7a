/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A group of two stacks on one port. The rings have no RSS: all frames come to queue 0.
 */

#include <pthread.h>

#include "pair.h"

#define NB_QUEUES 2
#define NB_CONNECTIONS 32

struct lcore {
	struct dpdk_sockets_group group;
	uint16_t queue;
	/* What it has accepted, and whether it is to end. */
	int nb_accepted;
	volatile int stop;
};

static void
start(uint16_t port, uint16_t nb_queues, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {0};

	EXPECT(rte_eth_dev_configure(port, nb_queues, nb_queues, &conf), 0);
	for (uint16_t queue = 0; queue < nb_queues; queue++) {
		EXPECT(rte_eth_rx_queue_setup(port, queue, 256, 0, NULL, pool), 0);
		EXPECT(rte_eth_tx_queue_setup(port, queue, 256, 0, NULL), 0);
	}
	EXPECT(rte_eth_dev_start(port), 0);
}

/* The client hears both queues of the server, which hears it on the first one. */
static void
init_group_ports(struct pair *pair)
{
	struct rte_ring *up = rte_ring_create("up", 512, 0, 0);
	struct rte_ring *none = rte_ring_create("none", 512, 0, 0);
	struct rte_ring *down = rte_ring_create("down", 512, 0, 0);
	struct rte_ring *rx[NB_QUEUES] = {up, none}, *tx[NB_QUEUES] = {down, down};
	int server, client;

	pair->pool = rte_pktmbuf_pool_create("pool", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	EXPECT(pair->pool != NULL && up != NULL && none != NULL && down != NULL, 1);
	server = rte_eth_from_rings("server", rx, NB_QUEUES, tx, NB_QUEUES, 0);
	client = rte_eth_from_rings("client", &down, 1, &up, 1, 0);
	EXPECT(server >= 0 && client >= 0, 1);
	pair->ports[0] = (uint16_t)server;
	pair->ports[1] = (uint16_t)client;
	start(pair->ports[0], NB_QUEUES, pair->pool);
	start(pair->ports[1], 1, pair->pool);
}

static void *
serve(void *arg)
{
	struct lcore *lcore = arg;
	struct dpdk_sockets_listener listener;
	struct dpdk_sockets_event events[8];
	struct dpdk_sockets_stack stack;
	char byte;

	EXPECT(dpdk_sockets_take(lcore->group, lcore->queue, &stack), 0);
	EXPECT(dpdk_sockets_take(lcore->group, lcore->queue, &stack),
		DPDK_SOCKETS_ERROR_NO_SUCH_GROUP);
	EXPECT(dpdk_sockets_listen(stack, TCP_PORT, &listener), 0);
	while (!lcore->stop) {
		int nb_events = dpdk_sockets_poll(stack, events, 8);

		EXPECT(nb_events >= 0, 1);
		for (int i = 0; i < nb_events; i++) {
			if (events[i].events & DPDK_SOCKETS_EVENT_ACCEPTED)
				lcore->nb_accepted++;
			if ((events[i].events & DPDK_SOCKETS_EVENT_READABLE) &&
				dpdk_sockets_recv(stack, events[i].connection, &byte, 1) == 1)
				EXPECT(dpdk_sockets_send(stack, events[i].connection, &byte, 1), 1);
		}
	}
	EXPECT(dpdk_sockets_free(stack), 0);
	return NULL;
}

/* Each thread has a stack, and each stack has some of the connections. */
static void
threads(void)
{
	struct dpdk_sockets_config server = config_of(1), client = config_of(2);
	struct dpdk_sockets_connection connections[NB_CONNECTIONS];
	struct dpdk_sockets_address peer = address_of(1, TCP_PORT);
	struct lcore lcores[NB_QUEUES] = {0};
	struct dpdk_sockets_group group;
	pthread_t ids[NB_QUEUES];
	struct pair pair;

	init_group_ports(&pair);
	EXPECT(dpdk_sockets_new_group(pair.ports[0], NB_QUEUES, pair.pool, &server, &group), 0);
	EXPECT(dpdk_sockets_new(pair.ports[1], 0, pair.pool, &client, &pair.client), 0);
	for (uint16_t queue = 0; queue < NB_QUEUES; queue++) {
		lcores[queue] = (struct lcore){.group = group, .queue = queue};
		EXPECT(pthread_create(&ids[queue], NULL, serve, &lcores[queue]), 0);
	}
	for (int i = 0; i < NB_CONNECTIONS; i++) {
		char byte = (char)i;

		/* A thread that does not listen yet refuses. */
		for (;;) {
			struct dpdk_sockets_event event;

			EXPECT(dpdk_sockets_connect(pair.client, &peer, NULL, &connections[i]), 0);
			event = event_of(pair.client, NULL,
				DPDK_SOCKETS_EVENT_CONNECTED | DPDK_SOCKETS_EVENT_ENDED);
			if (event.events & DPDK_SOCKETS_EVENT_CONNECTED)
				break;
			EXPECT(event.error, DPDK_SOCKETS_ERROR_REFUSED);
			EXPECT(dpdk_sockets_close(pair.client, connections[i]), 0);
		}
		EXPECT(dpdk_sockets_send(pair.client, connections[i], &byte, 1), 1);
		event_of(pair.client, NULL, DPDK_SOCKETS_EVENT_READABLE);
		byte = -1;
		EXPECT(dpdk_sockets_recv(pair.client, connections[i], &byte, 1), 1);
		EXPECT(byte, i);
	}
	for (int i = 0; i < NB_QUEUES; i++) {
		lcores[i].stop = 1;
		EXPECT(pthread_join(ids[i], NULL), 0);
	}
	EXPECT(lcores[0].nb_accepted + lcores[1].nb_accepted, NB_CONNECTIONS);
	EXPECT(lcores[0].nb_accepted > 0 && lcores[1].nb_accepted > 0, 1);
	EXPECT(dpdk_sockets_free_group(group), DPDK_SOCKETS_ERROR_NO_SUCH_GROUP);
}

static void
wrong_groups(void)
{
	struct dpdk_sockets_config config = config_of(1);
	struct dpdk_sockets_group group, none = {0};
	struct dpdk_sockets_stack stack;
	struct pair pair;

	init_group_ports(&pair);
#define NEW(port, nb_queues, pool, config, group) \
	dpdk_sockets_new_group(port, nb_queues, pool, config, group)
	EXPECT(NEW(pair.ports[0], 0, pair.pool, &config, &group), DPDK_SOCKETS_ERROR_NO_SUCH_QUEUE);
	EXPECT(NEW(pair.ports[0], 3, pair.pool, &config, &group), DPDK_SOCKETS_ERROR_NO_SUCH_QUEUE);
	EXPECT(NEW(UINT16_MAX, 2, pair.pool, &config, &group), DPDK_SOCKETS_ERROR_NO_SUCH_DEVICE);
	EXPECT(NEW(pair.ports[0], 2, NULL, &config, &group), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(NEW(pair.ports[0], 2, pair.pool, NULL, &group), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(NEW(pair.ports[0], 2, pair.pool, &config, NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	config.dhcp = 1;
	EXPECT(NEW(pair.ports[0], 2, pair.pool, &config, &group),
		DPDK_SOCKETS_ERROR_AUTOMATIC_GROUP);
	config.dhcp = 0;
	EXPECT(NEW(pair.ports[0], 2, pair.pool, &config, &group), 0);
	EXPECT(dpdk_sockets_take(none, 0, &stack), DPDK_SOCKETS_ERROR_NO_SUCH_GROUP);
	EXPECT(dpdk_sockets_take(group, 2, &stack), DPDK_SOCKETS_ERROR_NO_SUCH_GROUP);
	EXPECT(dpdk_sockets_take(group, 0, NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_take(group, 0, &stack), 0);
	EXPECT(dpdk_sockets_free_group(group), 0);
	EXPECT(dpdk_sockets_take(group, 1, &stack), DPDK_SOCKETS_ERROR_NO_SUCH_GROUP);
	EXPECT(dpdk_sockets_free(stack), 0);
}

int
main(int argc, char *argv[])
{
	const struct test tests[] = {
		TEST(threads),
		TEST(wrong_groups),
	};

	return run(tests, RTE_DIM(tests), argc, argv);
}
