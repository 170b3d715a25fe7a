/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * dpdk-sockets, on the first port of the EAL.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include <dpdk_sockets.h>

#include "sockets.h"

/* For full queues, and segments that the device cuts. */
#define NB_MBUFS 4095
#define DATA_ROOM 16384
#define NB_DESCRIPTORS 1024
#define MAX_EVENTS 64
/* After so many polls the counter for telemetry is read again. */
#define POLLS 1024
#define RX_OFFLOADS \
	(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM | \
		RTE_ETH_RX_OFFLOAD_UDP_CKSUM)
#define TX_OFFLOADS \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | \
		RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO)

/* A name of DPDK 22.11. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/* How long polls have found nothing. */
static _Atomic uint64_t idle_micros;

struct dpdk {
	struct sockets sockets;
	struct dpdk_sockets_stack stack;
	struct dpdk_sockets_listener listener;
	struct rte_mempool *pool;
	uint16_t port;
	uint64_t nb_polls;
};

static struct dpdk_sockets_connection
connection_of(struct socket_id id)
{
	return (struct dpdk_sockets_connection){id.id};
}

static int
dpdk_poll(struct sockets *sockets, struct sockets_event *events, int max_events, int wait_ms)
{
	struct dpdk_sockets_event found[MAX_EVENTS];
	struct dpdk *dpdk = (struct dpdk *)sockets;
	int nb_found;

	(void)wait_ms;
	if (max_events > MAX_EVENTS)
		max_events = MAX_EVENTS;
	nb_found = dpdk_sockets_poll(dpdk->stack, found, max_events);
	if (++dpdk->nb_polls % POLLS == 0) {
		uint64_t value = 0;

		(void)dpdk_sockets_counter(dpdk->stack, "idle_micros", &value);
		idle_micros = value;
	}
	for (int i = 0; i < nb_found; i++) {
		uint32_t happened = 0;

		if (found[i].events & DPDK_SOCKETS_EVENT_ACCEPTED)
			happened |= SOCKETS_ACCEPTED;
		if (found[i].events & DPDK_SOCKETS_EVENT_CONNECTED)
			happened |= SOCKETS_CONNECTED;
		/* The end of a connection is found by reading. */
		if (found[i].events & (DPDK_SOCKETS_EVENT_READABLE | DPDK_SOCKETS_EVENT_ENDED))
			happened |= SOCKETS_READABLE;
		if (found[i].events & DPDK_SOCKETS_EVENT_WRITABLE)
			happened |= SOCKETS_WRITABLE;
		events[i] = (struct sockets_event){
			happened, (struct socket_id){found[i].connection.id}, found[i].user};
	}
	return nb_found;
}

static bool
dpdk_connect(struct sockets *sockets, const struct sockaddr *to, void *user, struct socket_id *id)
{
	struct dpdk_sockets_connection connection;
	struct dpdk_sockets_address peer = {0};

	if (to->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)to;

		memcpy(peer.ip, &v4->sin_addr, sizeof(v4->sin_addr));
		peer.port = ntohs(v4->sin_port);
	} else {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)to;

		peer.is_ipv6 = 1;
		memcpy(peer.ip, &v6->sin6_addr, sizeof(v6->sin6_addr));
		peer.port = ntohs(v6->sin6_port);
	}
	if (dpdk_sockets_connect(((struct dpdk *)sockets)->stack, &peer, user, &connection) != 0)
		return false;
	*id = (struct socket_id){connection.id};
	return true;
}

static ssize_t
dpdk_receive(struct sockets *sockets, struct socket_id id, void *buf, size_t len)
{
	struct dpdk *dpdk = (struct dpdk *)sockets;
	int received = dpdk_sockets_recv(dpdk->stack, connection_of(id), buf, len);

	if (received == DPDK_SOCKETS_ERROR_AGAIN)
		return SOCKETS_NOTHING;
	return received < 0 ? SOCKETS_BROKEN : received;
}

static ssize_t
dpdk_send(struct sockets *sockets, struct socket_id id, const void *buf, size_t len)
{
	struct dpdk *dpdk = (struct dpdk *)sockets;
	int sent = dpdk_sockets_send(dpdk->stack, connection_of(id), buf, len);

	return sent < 0 ? SOCKETS_BROKEN : sent;
}

static void
dpdk_shutdown(struct sockets *sockets, struct socket_id id)
{
	/* One that is broken is closed soon. */
	dpdk_sockets_shutdown(((struct dpdk *)sockets)->stack, connection_of(id));
}

static void
dpdk_close(struct sockets *sockets, struct socket_id id)
{
	dpdk_sockets_close(((struct dpdk *)sockets)->stack, connection_of(id));
}

static void
dpdk_abort(struct sockets *sockets, struct socket_id id)
{
	dpdk_sockets_abort(((struct dpdk *)sockets)->stack, connection_of(id));
}

static void
dpdk_stop_listening(struct sockets *sockets)
{
	struct dpdk *dpdk = (struct dpdk *)sockets;

	dpdk_sockets_close_listener(dpdk->stack, dpdk->listener);
}

static void
dpdk_set_user(struct sockets *sockets, struct socket_id id, void *user)
{
	dpdk_sockets_set_user(((struct dpdk *)sockets)->stack, connection_of(id), user);
}

static void
dpdk_free(struct sockets *sockets)
{
	struct dpdk *dpdk = (struct dpdk *)sockets;

	dpdk_sockets_free(dpdk->stack);
	rte_eth_dev_stop(dpdk->port);
	rte_eth_dev_close(dpdk->port);
	rte_mempool_free(dpdk->pool);
	free(dpdk);
}

/* As the command of the same name for stacks in Rust, as far as it is needed. */
static int
tell_counters(const char *command, const char *parameters, struct rte_tel_data *data)
{
	(void)command;
	(void)parameters;
	rte_tel_data_start_dict(data);
	return rte_tel_data_add_dict_uint(data, "idle_micros", idle_micros);
}

/* Returns what has failed, or NULL. */
static const char *
start_port(struct dpdk *dpdk)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};

	dpdk->port = (uint16_t)rte_eth_find_next(0);
	if (dpdk->port == RTE_MAX_ETHPORTS)
		return "no port: give one with --vdev or -a";
	dpdk->pool = rte_pktmbuf_pool_create(
		"services", NB_MBUFS, 256, 0, DATA_ROOM, (int)rte_socket_id());
	if (dpdk->pool == NULL)
		return "cannot create a pool of mbufs: give more memory";
	if (rte_eth_dev_info_get(dpdk->port, &info) != 0)
		return "cannot ask the port what it is";
	conf.rxmode.offloads = info.rx_offload_capa & RX_OFFLOADS;
	conf.txmode.offloads = info.tx_offload_capa & TX_OFFLOADS;
	if (rte_eth_dev_configure(dpdk->port, 1, 1, &conf) != 0 ||
		rte_eth_rx_queue_setup(dpdk->port, 0, NB_DESCRIPTORS, 0, NULL, dpdk->pool) != 0 ||
		rte_eth_tx_queue_setup(dpdk->port, 0, NB_DESCRIPTORS, 0, NULL) != 0 ||
		rte_eth_dev_start(dpdk->port) != 0)
		return "cannot start the port";
	/* Neighbor discovery asks a group for an IPv6 address. A device without a filter refuses,
	 * and receives all frames.
	 */
	(void)rte_eth_allmulticast_enable(dpdk->port);
	return NULL;
}

struct sockets *
dpdk_listen(const struct sockaddr *address, uint8_t prefix_len, uint16_t port, const char **error)
{
	struct dpdk_sockets_config config = {0};
	struct dpdk *dpdk = calloc(1, sizeof(*dpdk));
	int ret;

	*error = "no memory";
	if (dpdk == NULL)
		return NULL;
	dpdk->sockets = (struct sockets){
		.poll = dpdk_poll,
		.connect = dpdk_connect,
		.receive = dpdk_receive,
		.send = dpdk_send,
		.shutdown = dpdk_shutdown,
		.close = dpdk_close,
		.abort = dpdk_abort,
		.set_user = dpdk_set_user,
		.stop_listening = dpdk_stop_listening,
		.free = dpdk_free,
	};
	if (address->sa_family == AF_INET) {
		memcpy(config.ipv4, &((const struct sockaddr_in *)address)->sin_addr,
			sizeof(config.ipv4));
		config.ipv4_prefix_len = prefix_len;
	} else {
		memcpy(config.ipv6, &((const struct sockaddr_in6 *)address)->sin6_addr,
			sizeof(config.ipv6));
		config.ipv6_prefix_len = prefix_len;
	}
	*error = start_port(dpdk);
	if (*error == NULL) {
		ret = dpdk_sockets_new(dpdk->port, 0, dpdk->pool, &config, &dpdk->stack);
		if (ret == 0)
			ret = dpdk_sockets_listen(dpdk->stack, port, &dpdk->listener);
		if (ret == 0) {
			rte_telemetry_register_cmd("/sockets/counters", tell_counters,
				"Returns how long polls have found nothing, in microseconds");
			return &dpdk->sockets;
		}
		*error = dpdk_sockets_strerror(ret);
	}
	free(dpdk);
	return NULL;
}
