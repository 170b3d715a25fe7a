/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Each call with each kind of bad input: an error, and nothing else has changed.
 */

#include <pthread.h>

#include "pair.h"

static void
null_pointers(void)
{
	struct dpdk_sockets_address address = address_of(1, TCP_PORT);
	struct dpdk_sockets_config config = config_of(3);
	struct dpdk_sockets_connection connection;
	struct dpdk_sockets_stack stack;
	struct dpdk_sockets_udp udp;
	struct pair pair;
	uint64_t count;
	char byte = 0;

	init(&pair);
	connection = connect_pair(&pair, &connection);
	EXPECT(dpdk_sockets_bind_udp(pair.server, 9, &udp), 0);

	EXPECT(dpdk_sockets_new(0, 0, NULL, &config, &stack), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_new(0, 0, pair.pool, NULL, &stack), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_new(0, 0, pair.pool, &config, NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_poll(pair.server, NULL, 1), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_listen(pair.server, 81, NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_connect(pair.client, NULL, NULL, &connection),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_connect(pair.client, &address, NULL, NULL),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_peer(pair.server, connection, NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_recv(pair.server, connection, NULL, 1),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_send(pair.server, connection, NULL, 1),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_counter(pair.server, NULL, &count), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_counter(pair.server, "frames", NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_own_address(pair.server, 0, NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_bind_udp(pair.server, 10, NULL), DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_recv_from(pair.server, udp, NULL, 1, &address),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_recv_from(pair.server, udp, &byte, 1, NULL),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_send_to(pair.server, udp, NULL, 1, &address),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	EXPECT(dpdk_sockets_send_to(pair.server, udp, &byte, 1, NULL),
		DPDK_SOCKETS_ERROR_NULL_POINTER);
	/* They have changed nothing. */
	EXPECT(dpdk_sockets_listen(pair.server, 81, &pair.listener), 0);
	EXPECT(dpdk_sockets_bind_udp(pair.server, 10, &udp), 0);
}

static void
bad_configs(void)
{
	struct dpdk_sockets_config config = config_of(3);
	struct rte_mempool *small;
	struct dpdk_sockets_stack stack;
	struct pair pair;

	init(&pair);
#define WITH(field, value, result) \
	config = config_of(3); \
	config.field = value; \
	EXPECT(dpdk_sockets_new(0, 0, pair.pool, &config, &stack), result)

	WITH(ipv4[0], 224, DPDK_SOCKETS_ERROR_ADDRESS);
	WITH(ipv4_prefix_len, 33, DPDK_SOCKETS_ERROR_PREFIX_LENGTH);
	WITH(ipv4_gateway[0], 10, DPDK_SOCKETS_ERROR_GATEWAY);
	WITH(mtu, 575, DPDK_SOCKETS_ERROR_MTU);
	WITH(receive_buffer, 65536, DPDK_SOCKETS_ERROR_BUFFER);
	WITH(initial_buffer, 65536, DPDK_SOCKETS_ERROR_BUFFER);
	WITH(send_buffer, UINT32_MAX, DPDK_SOCKETS_ERROR_BUFFER);
	WITH(mtu, 9000, DPDK_SOCKETS_ERROR_SMALL_POOL);
	WITH(mtu, RTE_MBUF_DEFAULT_DATAROOM - 14, 0);
	WITH(mtu, RTE_MBUF_DEFAULT_DATAROOM - 13, DPDK_SOCKETS_ERROR_SMALL_POOL);
	WITH(vlan, 4095, DPDK_SOCKETS_ERROR_VLAN);
	WITH(receive_buffer, 65535, 0);

	config = config_of(3);
	EXPECT(dpdk_sockets_new(2, 0, pair.pool, &config, &stack),
		DPDK_SOCKETS_ERROR_NO_SUCH_DEVICE);
	EXPECT(dpdk_sockets_new(UINT16_MAX, 0, pair.pool, &config, &stack),
		DPDK_SOCKETS_ERROR_NO_SUCH_DEVICE);
	EXPECT(dpdk_sockets_new(0, 1, pair.pool, &config, &stack),
		DPDK_SOCKETS_ERROR_NO_SUCH_QUEUE);
	small = rte_pktmbuf_pool_create("small", 31, 0, 0, 256, 0);
	EXPECT(dpdk_sockets_new(0, 0, small, &config, &stack), DPDK_SOCKETS_ERROR_SMALL_POOL);
}

/* The EAL is not initialised. */
static void
no_eal(void)
{
	struct dpdk_sockets_config config = config_of(3);
	struct dpdk_sockets_stack stack;
	uint64_t pool;

	EXPECT(dpdk_sockets_new(0, 0, (struct rte_mempool *)&pool, &config, &stack),
		DPDK_SOCKETS_ERROR_NO_SUCH_DEVICE);
}

static void *
poll_elsewhere(void *stack)
{
	struct dpdk_sockets_event event;

	EXPECT(dpdk_sockets_poll(*(struct dpdk_sockets_stack *)stack, &event, 1),
		DPDK_SOCKETS_ERROR_NO_SUCH_STACK);
	return NULL;
}

/* Handles that were closed, that never existed, and of another thread's stack. */
static void
old_handles(void)
{
	struct dpdk_sockets_address address = address_of(2, TCP_PORT);
	struct dpdk_sockets_connection accepted, connection;
	struct dpdk_sockets_event event;
	struct dpdk_sockets_udp udp;
	pthread_t thread;
	struct pair pair;
	char byte = 0;

	init(&pair);
	accepted = connect_pair(&pair, &connection);
	EXPECT(dpdk_sockets_close(pair.server, accepted), 0);
	for (uint64_t number = 0; number < 4; number++) {
		EXPECT(dpdk_sockets_close(pair.server, accepted),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		EXPECT(dpdk_sockets_abort(pair.server, accepted),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		EXPECT(dpdk_sockets_shutdown(pair.server, accepted),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		EXPECT(dpdk_sockets_space(pair.server, accepted),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		EXPECT(dpdk_sockets_send(pair.server, accepted, &byte, 1),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		EXPECT(dpdk_sockets_recv(pair.server, accepted, &byte, 1),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		EXPECT(dpdk_sockets_peer(pair.server, accepted, &address),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		EXPECT(dpdk_sockets_set_user(pair.server, accepted, NULL),
			DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION);
		accepted.id = UINT64_MAX / 3 * number;
	}

	EXPECT(dpdk_sockets_bind_udp(pair.server, 9, &udp), 0);
	EXPECT(dpdk_sockets_close_udp(pair.server, udp), 0);
	EXPECT(dpdk_sockets_close_udp(pair.server, udp), 0);
	EXPECT(dpdk_sockets_recv_from(pair.server, udp, &byte, 1, &address),
		DPDK_SOCKETS_ERROR_NO_SUCH_SOCKET);
	EXPECT(dpdk_sockets_send_to(pair.server, udp, &byte, 1, &address),
		DPDK_SOCKETS_ERROR_NO_SUCH_SOCKET);
	EXPECT(dpdk_sockets_close_listener(pair.server, pair.listener), 0);
	EXPECT(dpdk_sockets_close_listener(pair.server, pair.listener), 0);

	EXPECT(pthread_create(&thread, NULL, poll_elsewhere, &pair.client), 0);
	EXPECT(pthread_join(thread, NULL), 0);
	EXPECT(dpdk_sockets_free(pair.client), 0);
	EXPECT(dpdk_sockets_free(pair.client), DPDK_SOCKETS_ERROR_NO_SUCH_STACK);
	EXPECT(dpdk_sockets_poll(pair.client, &event, 1), DPDK_SOCKETS_ERROR_NO_SUCH_STACK);
	EXPECT(dpdk_sockets_send(pair.client, connection, &byte, 1),
		DPDK_SOCKETS_ERROR_NO_SUCH_STACK);
}

static void
ports_in_use(void)
{
	struct dpdk_sockets_listener listener;
	struct dpdk_sockets_udp udp, other;
	struct pair pair;

	init(&pair);
	EXPECT(dpdk_sockets_listen(pair.server, TCP_PORT, &listener), DPDK_SOCKETS_ERROR_IN_USE);
	EXPECT(dpdk_sockets_listen(pair.server, 0, &listener), DPDK_SOCKETS_ERROR_PORT_ZERO);
	EXPECT(dpdk_sockets_bind_udp(pair.server, TCP_PORT, &udp), 0);
	EXPECT(dpdk_sockets_bind_udp(pair.server, TCP_PORT, &other), DPDK_SOCKETS_ERROR_IN_USE);
	EXPECT(dpdk_sockets_bind_udp(pair.server, 0, &other), DPDK_SOCKETS_ERROR_PORT_ZERO);
	EXPECT(dpdk_sockets_close_listener(pair.server, pair.listener), 0);
	EXPECT(dpdk_sockets_close_udp(pair.server, udp), 0);
	EXPECT(dpdk_sockets_listen(pair.server, TCP_PORT, &listener), 0);
	EXPECT(dpdk_sockets_bind_udp(pair.server, TCP_PORT, &udp), 0);
}

static void
bad_peers(void)
{
	struct dpdk_sockets_config config = config_of(2);
	struct dpdk_sockets_address peer = address_of(1, 0);
	struct dpdk_sockets_connection connection;
	struct pair pair;

	config.connections = 16385;
	config.receive_buffer = 1;
	config.send_buffer = 1;
	init_ports(&pair);
	init_stacks(&pair, &config);
#define CONNECT() dpdk_sockets_connect(pair.client, &peer, NULL, &connection)
	EXPECT(CONNECT(), DPDK_SOCKETS_ERROR_NO_PEER);
	peer = address_of(2, TCP_PORT);
	EXPECT(CONNECT(), DPDK_SOCKETS_ERROR_NO_PEER);
	peer = (struct dpdk_sockets_address){.ip = {255, 255, 255, 255}, .port = TCP_PORT};
	EXPECT(CONNECT(), DPDK_SOCKETS_ERROR_NO_PEER);
	peer = (struct dpdk_sockets_address){.ip = {198, 51, 100, 1}, .port = TCP_PORT};
	EXPECT(CONNECT(), DPDK_SOCKETS_ERROR_NO_ROUTE);
	peer = address_of(1, TCP_PORT);
	for (int port = 49152; port <= 65535; port++)
		EXPECT(CONNECT(), 0);
	EXPECT(CONNECT(), DPDK_SOCKETS_ERROR_NO_PORT);
	peer = address_of(1, TCP_PORT + 1);
	EXPECT(CONNECT(), 0);
	EXPECT(CONNECT(), DPDK_SOCKETS_ERROR_FULL);
}

/* Calls at the wrong time. */
static void
wrong_stages(void)
{
	struct dpdk_sockets_address peer = address_of(1, TCP_PORT);
	struct dpdk_sockets_connection accepted, client;
	struct pair pair;
	char bytes[2];

	init(&pair);
	EXPECT(dpdk_sockets_connect(pair.client, &peer, NULL, &client), 0);
	EXPECT(dpdk_sockets_send(pair.client, client, "a", 1), DPDK_SOCKETS_ERROR_NOT_ESTABLISHED);
	EXPECT(dpdk_sockets_space(pair.client, client), DPDK_SOCKETS_ERROR_NOT_ESTABLISHED);
	EXPECT(dpdk_sockets_shutdown(pair.client, client), DPDK_SOCKETS_ERROR_NOT_ESTABLISHED);
	EXPECT(dpdk_sockets_recv(pair.client, client, bytes, 2), DPDK_SOCKETS_ERROR_AGAIN);
	EXPECT(dpdk_sockets_close(pair.client, client), 0);

	accepted = connect_pair(&pair, &client);
	EXPECT(dpdk_sockets_peer(pair.client, client, &peer), 0);
	EXPECT(memcmp(peer.ip, (uint8_t[]){192, 0, 2, 1}, 4), 0);
	EXPECT(peer.port, TCP_PORT);
	EXPECT(dpdk_sockets_recv(pair.server, accepted, bytes, 2), DPDK_SOCKETS_ERROR_AGAIN);
	EXPECT(dpdk_sockets_send(pair.client, client, "a", 0), 0);
	EXPECT(dpdk_sockets_send(pair.client, client, "a", 1), 1);
	EXPECT(dpdk_sockets_shutdown(pair.client, client), 0);
	EXPECT(dpdk_sockets_send(pair.client, client, "b", 1), DPDK_SOCKETS_ERROR_SHUT_DOWN);
	event_of(pair.server, &pair.client, DPDK_SOCKETS_EVENT_READABLE);
	EXPECT(dpdk_sockets_recv(pair.server, accepted, bytes, 0), DPDK_SOCKETS_ERROR_AGAIN);
	EXPECT(dpdk_sockets_recv(pair.server, accepted, bytes, 2), 1);
	EXPECT(bytes[0], 'a');
	EXPECT(dpdk_sockets_recv(pair.server, accepted, bytes, 2), 0);
	EXPECT(dpdk_sockets_send(pair.server, accepted, "c", 1), 1);
}

static void
texts(void)
{
	const char *unknown = dpdk_sockets_strerror(DPDK_SOCKETS_ERROR_AUTOMATIC_GROUP - 1);

	for (int error = DPDK_SOCKETS_ERROR_AUTOMATIC_GROUP; error < 0; error++)
		EXPECT(strlen(dpdk_sockets_strerror(error)) > 10 &&
				strcmp(dpdk_sockets_strerror(error), unknown) != 0,
			1);
	EXPECT(strcmp(dpdk_sockets_strerror(0), unknown), 0);
	EXPECT(strcmp(dpdk_sockets_strerror(INT32_MIN), unknown), 0);
}

int
main(int argc, char *argv[])
{
	const struct test tests[] = {
		TEST(null_pointers),
		TEST(bad_configs),
		TEST(no_eal),
		TEST(old_handles),
		TEST(ports_in_use),
		TEST(bad_peers),
		TEST(wrong_stages),
		TEST(texts),
	};

	return run(tests, RTE_DIM(tests), argc, argv);
}
