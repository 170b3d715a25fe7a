/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Two stacks of one program, 192.0.2.1 and 192.0.2.2, on two ports that rings connect.
 */
#ifndef PAIR_H
#define PAIR_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <dpdk_sockets.h>

#define TCP_PORT 80
/* A test that takes longer hangs. */
#define DEADLINE_S 120

/* End if a value is another one than it should be. */
#define EXPECT(actual, expected) \
	expect((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)

#define TEST(name) \
	{ \
#name, name \
	}

struct test {
	const char *name;
	void (*run)(void);
};

struct pair {
	struct rte_mempool *pool;
	uint16_t ports[2];
	struct dpdk_sockets_stack server;
	struct dpdk_sockets_stack client;
	struct dpdk_sockets_listener listener;
};

static inline void
expect(long long actual, long long expected, const char *what, const char *file, int line)
{
	if (actual == expected)
		return;
	fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, what, actual, expected);
	_exit(EXIT_FAILURE);
}

static inline struct dpdk_sockets_config
config_of(uint8_t host)
{
	return (struct dpdk_sockets_config){.ipv4 = {192, 0, 2, host}, .ipv4_prefix_len = 24};
}

static inline struct dpdk_sockets_address
address_of(uint8_t host, uint16_t port)
{
	return (struct dpdk_sockets_address){.ip = {192, 0, 2, host}, .port = port};
}

static inline uint16_t
ring_port(const char *name, struct rte_ring *rx, struct rte_ring *tx, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {0};
	int port = rte_eth_from_rings(name, &rx, 1, &tx, 1, 0);

	EXPECT(port >= 0, 1);
	EXPECT(rte_eth_dev_configure((uint16_t)port, 1, 1, &conf), 0);
	EXPECT(rte_eth_rx_queue_setup((uint16_t)port, 0, 256, 0, NULL, pool), 0);
	EXPECT(rte_eth_tx_queue_setup((uint16_t)port, 0, 256, 0, NULL), 0);
	EXPECT(rte_eth_dev_start((uint16_t)port), 0);
	return (uint16_t)port;
}

static inline void
init_ports(struct pair *pair)
{
	struct rte_ring *rings[2];

	pair->pool = rte_pktmbuf_pool_create("pool", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	rings[0] = rte_ring_create("up", 512, 0, 0);
	rings[1] = rte_ring_create("down", 512, 0, 0);
	EXPECT(pair->pool != NULL && rings[0] != NULL && rings[1] != NULL, 1);
	pair->ports[0] = ring_port("server", rings[0], rings[1], pair->pool);
	pair->ports[1] = ring_port("client", rings[1], rings[0], pair->pool);
}

/* The limits of the client are those of the config. */
static inline void
init_stacks(struct pair *pair, const struct dpdk_sockets_config *client)
{
	struct dpdk_sockets_config server = config_of(1);

	EXPECT(dpdk_sockets_new(pair->ports[0], 0, pair->pool, &server, &pair->server), 0);
	EXPECT(dpdk_sockets_new(pair->ports[1], 0, pair->pool, client, &pair->client), 0);
	EXPECT(dpdk_sockets_listen(pair->server, TCP_PORT, &pair->listener), 0);
}

static inline void
init(struct pair *pair)
{
	struct dpdk_sockets_config config = config_of(2);

	init_ports(pair);
	init_stacks(pair, &config);
}

/* Poll a stack until it has an event. Before each poll, poll another one, whose events are lost, if
 * there is one.
 */
static inline struct dpdk_sockets_event
event_of(struct dpdk_sockets_stack stack, const struct dpdk_sockets_stack *other, uint32_t wanted)
{
	struct dpdk_sockets_event event, lost;

	for (;;) {
		if (other != NULL)
			EXPECT(dpdk_sockets_poll(*other, &lost, 1) >= 0, 1);
		if (dpdk_sockets_poll(stack, &event, 1) == 1 && (event.events & wanted) != 0)
			return event;
	}
}

/* Connect the client. Returns the server's connection, and the client's in *client. */
static inline struct dpdk_sockets_connection
connect_pair(struct pair *pair, struct dpdk_sockets_connection *client)
{
	struct dpdk_sockets_address peer = address_of(1, TCP_PORT);

	EXPECT(dpdk_sockets_connect(pair->client, &peer, NULL, client), 0);
	event_of(pair->client, &pair->server, DPDK_SOCKETS_EVENT_CONNECTED);
	return event_of(pair->server, &pair->client, DPDK_SOCKETS_EVENT_ACCEPTED).connection;
}

/* Send far more bytes at a time than fit, from the client to the server. */
static inline void
transfer(struct pair *pair, struct dpdk_sockets_connection client,
	struct dpdk_sockets_connection accepted)
{
	static uint8_t sent[1 << 20], received[1 << 20];
	size_t nb_sent = 0, nb_received = 0;
	struct dpdk_sockets_event event;

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i * 7 + i / 256);
	EXPECT(dpdk_sockets_space(pair->client, client), 65535);
	EXPECT(dpdk_sockets_send(pair->client, client, sent, sizeof(sent)), 65535);
	EXPECT(dpdk_sockets_space(pair->client, client), 0);
	EXPECT(dpdk_sockets_send(pair->client, client, sent, sizeof(sent)), 0);
	event_of(pair->client, &pair->server, DPDK_SOCKETS_EVENT_WRITABLE);
	nb_sent = 65535;
	while (nb_received < sizeof(received)) {
		int len = dpdk_sockets_recv(pair->server, accepted, received + nb_received,
			sizeof(received) - nb_received);

		EXPECT(len == DPDK_SOCKETS_ERROR_AGAIN || (len > 0 && len <= 65535), 1);
		if (len > 0)
			nb_received += (size_t)len;
		len = dpdk_sockets_send(
			pair->client, client, sent + nb_sent, sizeof(sent) - nb_sent);
		EXPECT(len >= 0, 1);
		nb_sent += (size_t)len;
		EXPECT(dpdk_sockets_poll(pair->client, &event, 1) >= 0, 1);
		EXPECT(dpdk_sockets_poll(pair->server, &event, 1) >= 0, 1);
	}
	EXPECT(memcmp(sent, received, sizeof(sent)), 0);
}

/* Run the test that the first argument names; the others are the EAL's. Returns the exit status. */
static inline int
run(const struct test *tests, size_t nb_tests, int argc, char *argv[])
{
	for (size_t i = 0; i < nb_tests; i++) {
		if (argc < 2 || strcmp(argv[1], tests[i].name) != 0)
			continue;
		/* To begin with, there is none. */
		if (argc > 2)
			EXPECT(rte_eal_init(argc - 1, argv + 1) >= 0, 1);
		alarm(DEADLINE_S);
		tests[i].run();
		printf("%s has passed\n", argv[1]);
		return EXIT_SUCCESS;
	}
	fprintf(stderr, "usage: %s NAME [EAL OPTIONS]\n", argv[0]);
	return EXIT_FAILURE;
}

#endif
