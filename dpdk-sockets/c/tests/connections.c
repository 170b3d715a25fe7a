/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What becomes of connections and datagrams, and what it costs.
 */

#include "pair.h"

/* An array without room, and one for a single event: the rest waits. */
static void
few_events(void)
{
	struct dpdk_sockets_connection client, other;
	struct dpdk_sockets_event events[2];
	struct pair pair;

	init(&pair);
	EXPECT(dpdk_sockets_poll(pair.server, events, 0), DPDK_SOCKETS_ERROR_NO_EVENTS);
	EXPECT(dpdk_sockets_poll(pair.server, events, -1), DPDK_SOCKETS_ERROR_NO_EVENTS);
	connect_pair(&pair, &client);
	connect_pair(&pair, &other);
	EXPECT(dpdk_sockets_send(pair.client, client, "a", 1), 1);
	EXPECT(dpdk_sockets_send(pair.client, other, "b", 1), 1);
	EXPECT(dpdk_sockets_poll(pair.client, events, 2), 0);
	EXPECT(dpdk_sockets_poll(pair.server, events, 1), 1);
	EXPECT(dpdk_sockets_poll(pair.server, events + 1, 1), 1);
	EXPECT(events[0].events, DPDK_SOCKETS_EVENT_READABLE);
	EXPECT(events[1].events, DPDK_SOCKETS_EVENT_READABLE);
	EXPECT(events[0].connection.id != events[1].connection.id, 1);
	EXPECT(dpdk_sockets_poll(pair.server, events, 2), 0);
}

/* A connection is in an array once, and not after it was closed. */
static void
merged_events(void)
{
	struct dpdk_sockets_address peer = address_of(1, TCP_PORT);
	struct dpdk_sockets_connection client;
	struct dpdk_sockets_event events[8];
	struct pair pair;

	init(&pair);
	for (int round = 0; round < 2; round++) {
		EXPECT(dpdk_sockets_connect(pair.client, &peer, NULL, &client), 0);
		event_of(pair.client, &pair.server, DPDK_SOCKETS_EVENT_CONNECTED);
		if (round == 0)
			EXPECT(dpdk_sockets_send(pair.client, client, "a", 1), 1);
		else
			EXPECT(dpdk_sockets_shutdown(pair.client, client), 0);
		EXPECT(dpdk_sockets_poll(pair.client, events, 8), 0);
		if (round == 0) {
			EXPECT(dpdk_sockets_poll(pair.server, events, 8), 1);
			EXPECT(events[0].events,
				DPDK_SOCKETS_EVENT_ACCEPTED | DPDK_SOCKETS_EVENT_READABLE);
			EXPECT(events[0].listener.id, pair.listener.id);
			continue;
		}
		EXPECT(dpdk_sockets_poll(pair.server, events, 1), 1);
		EXPECT(events[0].events, DPDK_SOCKETS_EVENT_ACCEPTED);
		EXPECT(dpdk_sockets_close(pair.server, events[0].connection), 0);
		EXPECT(dpdk_sockets_poll(pair.server, events, 8), 0);
	}
}

/* Far more bytes at a time than fit. */
static void
large_buffers(void)
{
	struct dpdk_sockets_connection accepted, client;
	struct pair pair;

	init(&pair);
	accepted = connect_pair(&pair, &client);
	transfer(&pair, client, accepted);
}

/* Wait for the end of the client's connection, and see that everything says why. */
static void
ends(struct pair *pair, const struct dpdk_sockets_stack *other, int error)
{
	struct dpdk_sockets_event event = event_of(pair->client, other, DPDK_SOCKETS_EVENT_ENDED);
	char byte = 0;

	EXPECT(event.error, error);
	if (error == 0)
		error = DPDK_SOCKETS_ERROR_CLOSED;
	EXPECT(dpdk_sockets_recv(pair->client, event.connection, &byte, 1),
		error == DPDK_SOCKETS_ERROR_CLOSED ? 0 : error);
	EXPECT(dpdk_sockets_send(pair->client, event.connection, &byte, 1), error);
	EXPECT(dpdk_sockets_space(pair->client, event.connection), error);
	EXPECT(dpdk_sockets_shutdown(pair->client, event.connection), error);
	EXPECT(dpdk_sockets_close(pair->client, event.connection), 0);
}

static void
refused(void)
{
	struct dpdk_sockets_address peer = address_of(1, 81);
	struct dpdk_sockets_connection client;
	struct pair pair;

	init(&pair);
	EXPECT(dpdk_sockets_connect(pair.client, &peer, NULL, &client), 0);
	ends(&pair, &pair.server, DPDK_SOCKETS_ERROR_REFUSED);
}

static void
unreachable(void)
{
	struct dpdk_sockets_address peer = address_of(77, TCP_PORT);
	struct dpdk_sockets_connection client;
	struct pair pair;

	init(&pair);
	EXPECT(dpdk_sockets_connect(pair.client, &peer, NULL, &client), 0);
	ends(&pair, &pair.server, DPDK_SOCKETS_ERROR_UNREACHABLE);
}

/* The peer has an address, but does not answer any more. */
static void
timed_out(void)
{
	struct dpdk_sockets_address peer = address_of(1, TCP_PORT);
	struct dpdk_sockets_config config = config_of(2);
	struct dpdk_sockets_connection client;
	struct pair pair;

	config.handshake_timeout_ms = 2000;
	init_ports(&pair);
	init_stacks(&pair, &config);
	connect_pair(&pair, &client);
	EXPECT(dpdk_sockets_connect(pair.client, &peer, NULL, &client), 0);
	ends(&pair, NULL, DPDK_SOCKETS_ERROR_TIMED_OUT);
}

static void
reset(void)
{
	struct dpdk_sockets_connection client;
	struct pair pair;

	init(&pair);
	EXPECT(dpdk_sockets_abort(pair.server, connect_pair(&pair, &client)), 0);
	ends(&pair, &pair.server, DPDK_SOCKETS_ERROR_RESET);
}

static void
closed(void)
{
	struct dpdk_sockets_connection client;
	struct pair pair;

	init(&pair);
	EXPECT(dpdk_sockets_close(pair.server, connect_pair(&pair, &client)), 0);
	EXPECT(dpdk_sockets_shutdown(pair.client, client), 0);
	ends(&pair, &pair.server, 0);
}

/* The value of a counter. */
static uint64_t
count(struct dpdk_sockets_stack stack, const char *name)
{
	uint64_t value = UINT64_MAX;

	EXPECT(dpdk_sockets_counter(stack, name, &value), 0);
	return value;
}

static void
counters(void)
{
	struct dpdk_sockets_connection accepted, client;
	struct dpdk_sockets_event event;
	uint64_t value = 7;
	struct pair pair;

	init(&pair);
	accepted = connect_pair(&pair, &client);
	EXPECT(count(pair.server, "accepted"), 1);
	EXPECT(count(pair.client, "accepted"), 0);
	EXPECT(count(pair.client, "connected"), 1);
	EXPECT(count(pair.server, "connections"), 1);
	EXPECT(dpdk_sockets_close(pair.server, accepted), 0);
	EXPECT(dpdk_sockets_close(pair.client, client), 0);
	while (count(pair.server, "connections") + count(pair.client, "connections") > 0)
		EXPECT(dpdk_sockets_poll(pair.server, &event, 1) +
				dpdk_sockets_poll(pair.client, &event, 1),
			0);
	EXPECT(count(pair.server, "time_waits") + count(pair.client, "time_waits") > 0, 1);
	EXPECT(dpdk_sockets_counter(pair.server, "frame", &value),
		DPDK_SOCKETS_ERROR_NO_SUCH_COUNTER);
	EXPECT(value, 7);
}

static void
own_addresses(void)
{
	struct dpdk_sockets_config config = {.slaac = 1};
	struct dpdk_sockets_address address, expected = address_of(1, 0);
	struct dpdk_sockets_stack stack;
	struct pair pair;

	init(&pair);
	EXPECT(dpdk_sockets_own_address(pair.server, 0, &address), 1);
	EXPECT(memcmp(&address.ip, &expected.ip, 4) | address.port | address.is_ipv6, 0);
	EXPECT(dpdk_sockets_own_address(pair.server, 1, &address), 0);
	EXPECT(dpdk_sockets_free(pair.server), 0);
	/* Until a router gives one, there is a link-local address. */
	EXPECT(dpdk_sockets_new(pair.ports[0], 0, pair.pool, &config, &stack), 0);
	EXPECT(dpdk_sockets_own_address(stack, 0, &address), 1);
	EXPECT(address.is_ipv6, 1);
	EXPECT(address.ip[0] << 8 | address.ip[1], 0xfe80);
	EXPECT(dpdk_sockets_own_address(stack, 1, &address), 0);
}

static void
user_pointers(void)
{
	struct dpdk_sockets_address peer = address_of(1, TCP_PORT);
	struct dpdk_sockets_connection accepted, client;
	struct dpdk_sockets_event event;
	struct pair pair;
	int ours, theirs;

	init(&pair);
	EXPECT(dpdk_sockets_connect(pair.client, &peer, &ours, &client), 0);
	event = event_of(pair.client, &pair.server, DPDK_SOCKETS_EVENT_CONNECTED);
	EXPECT(event.user == &ours, 1);
	event = event_of(pair.server, &pair.client, DPDK_SOCKETS_EVENT_ACCEPTED);
	EXPECT(event.user == NULL, 1);
	accepted = event.connection;
	EXPECT(dpdk_sockets_set_user(pair.server, accepted, &theirs), 0);
	EXPECT(dpdk_sockets_send(pair.client, client, "a", 1), 1);
	event = event_of(pair.server, &pair.client, DPDK_SOCKETS_EVENT_READABLE);
	EXPECT(event.user == &theirs, 1);
	EXPECT(dpdk_sockets_abort(pair.server, accepted), 0);
	event = event_of(pair.client, &pair.server, DPDK_SOCKETS_EVENT_ENDED);
	EXPECT(event.user == &ours, 1);
	/* The pointer of another connection in the same place. */
	EXPECT(dpdk_sockets_close(pair.client, client), 0);
	connect_pair(&pair, &client);
	EXPECT(dpdk_sockets_abort(pair.client, client), 0);
	event = event_of(pair.server, &pair.client, DPDK_SOCKETS_EVENT_ENDED);
	EXPECT(event.user == NULL, 1);
}

static void
datagrams(void)
{
	struct dpdk_sockets_address peer = address_of(1, 9), from;
	struct dpdk_sockets_udp client, server;
	struct dpdk_sockets_event event;
	struct pair pair;
	static char large[1 << 20];
	char bytes[2000] = "";

	init(&pair);
	EXPECT(dpdk_sockets_bind_udp(pair.server, 9, &server), 0);
	EXPECT(dpdk_sockets_bind_udp(pair.client, 10, &client), 0);
	EXPECT(dpdk_sockets_recv_from(pair.server, server, bytes, 9, &from),
		DPDK_SOCKETS_ERROR_AGAIN);
	EXPECT(dpdk_sockets_send_to(pair.client, client, bytes, 1473, &peer),
		DPDK_SOCKETS_ERROR_TOO_LONG);
	EXPECT(dpdk_sockets_send_to(pair.client, client, large, sizeof(large), &peer),
		DPDK_SOCKETS_ERROR_TOO_LONG);
	EXPECT(dpdk_sockets_send_to(pair.client, client, "datagram", 8, &peer), 0);
	event = event_of(pair.server, &pair.client, DPDK_SOCKETS_EVENT_DATAGRAM);
	EXPECT(event.socket.id, server.id);
	EXPECT(dpdk_sockets_recv_from(pair.server, server, bytes, 4, &from), 8);
	EXPECT(memcmp(bytes, "data", 4), 0);
	EXPECT(memcmp(from.ip, (uint8_t[]){192, 0, 2, 2}, 4), 0);
	EXPECT(from.port, 10);
	peer.port = 0;
	EXPECT(dpdk_sockets_send_to(pair.client, client, bytes, 1, &peer),
		DPDK_SOCKETS_ERROR_NO_PEER);
	peer = (struct dpdk_sockets_address){.ip = {198, 51, 100, 1}, .port = 9};
	EXPECT(dpdk_sockets_send_to(pair.client, client, bytes, 1, &peer),
		DPDK_SOCKETS_ERROR_NO_ROUTE);
	/* Nobody takes frames off the ring: it is full, and then what waits for it. */
	peer = address_of(1, 9);
	for (int i = 0; i < 512 + 32; i++)
		if (dpdk_sockets_send_to(pair.client, client, bytes, 1, &peer) != 0)
			return;
	EXPECT(dpdk_sockets_send_to(pair.client, client, bytes, 1, &peer),
		DPDK_SOCKETS_ERROR_AGAIN);
}

/* Every mbuf is back in its pool when the stacks are freed and the rings are empty. */
static void
mbufs_return(void)
{
	struct dpdk_sockets_connection client;
	struct rte_mbuf *mbufs[32];
	struct pair pair;

	init(&pair);
	connect_pair(&pair, &client);
	EXPECT(dpdk_sockets_send(pair.client, client, "a", 1), 1);
	event_of(pair.server, &pair.client, DPDK_SOCKETS_EVENT_READABLE);
	EXPECT(dpdk_sockets_free(pair.server), 0);
	EXPECT(dpdk_sockets_free(pair.client), 0);
	for (int i = 0; i < 2; i++) {
		uint16_t count;

		while ((count = rte_eth_rx_burst(pair.ports[i], 0, mbufs, 32)) > 0)
			rte_pktmbuf_free_bulk(mbufs, count);
	}
	EXPECT(rte_mempool_in_use_count(pair.pool), 0);
}

/* Calls of malloc and its like, which the linker sends here. */
static uint64_t nb_allocations;

#define COUNTED(name, parameters, arguments) \
	void *__real_##name parameters; \
	void *__wrap_##name parameters; \
	void *__wrap_##name parameters \
	{ \
		nb_allocations++; \
		return __real_##name arguments; \
	}
COUNTED(malloc, (size_t size), (size))
COUNTED(calloc, (size_t count, size_t size), (count, size))
COUNTED(realloc, (void *old, size_t size), (old, size))

/* A request and a response on an open connection, again and again. */
static void
no_allocation(void)
{
	const uint64_t nb_rounds = 5000;
	struct dpdk_sockets_connection accepted, client;
	uint64_t in_calls = 0, before;
	struct pair pair;
	char bytes[100] = "";

	init(&pair);
	EXPECT(nb_allocations > 0, 1);
	accepted = connect_pair(&pair, &client);
	for (uint64_t round = 0; round <= nb_rounds; round++) {
		/* In the first round the stack's tables grow. */
		if (round == 1)
			in_calls = nb_allocations = 0;
		before = nb_allocations;
		EXPECT(dpdk_sockets_send(pair.client, client, bytes, 100), 100);
		in_calls += nb_allocations - before;
		event_of(pair.server, &pair.client, DPDK_SOCKETS_EVENT_READABLE);
		before = nb_allocations;
		EXPECT(dpdk_sockets_recv(pair.server, accepted, bytes, 100), 100);
		EXPECT(dpdk_sockets_space(pair.server, accepted) > 0, 1);
		EXPECT(dpdk_sockets_send(pair.server, accepted, bytes, 100), 100);
		in_calls += nb_allocations - before;
		event_of(pair.client, &pair.server, DPDK_SOCKETS_EVENT_READABLE);
		before = nb_allocations;
		EXPECT(dpdk_sockets_recv(pair.client, client, bytes, 100), 100);
		EXPECT(dpdk_sockets_recv(pair.client, client, bytes, 100),
			DPDK_SOCKETS_ERROR_AGAIN);
		in_calls += nb_allocations - before;
	}
	EXPECT(in_calls, 0);
	/* There are at least four polls in a round. The timers allocate a list for each tick, once.
	 */
	EXPECT(nb_allocations < 2 * nb_rounds, 1);
}

int
main(int argc, char *argv[])
{
	const struct test tests[] = {
		TEST(few_events),
		TEST(merged_events),
		TEST(large_buffers),
		TEST(refused),
		TEST(unreachable),
		TEST(timed_out),
		TEST(reset),
		TEST(closed),
		TEST(counters),
		TEST(own_addresses),
		TEST(user_pointers),
		TEST(datagrams),
		TEST(mbufs_return),
		TEST(no_allocation),
	};

	return run(tests, RTE_DIM(tests), argc, argv);
}
