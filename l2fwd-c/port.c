/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "port.h"

#define POOL_CACHE 256
#define POOL_MIN UINT64_C(8192)
/* The header fields that RSS hashes, as far as the device can. */
#define RSS_TYPES (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP)
/* This driver closes its sockets on stop and opens none on start. After that it receives nothing
 * and waits forever for room to send.
 */
#define STOPS_FOR_GOOD "net_af_packet"

/* "2, 3" for 0xc. */
static const char *
list_ports(uint64_t mask, char text[MASK_PORTS * 4])
{
	size_t length = 0;

	text[0] = '\0';
	for (unsigned int port = 0; port < MASK_PORTS; port++) {
		if (in_mask(mask, port))
			length += (size_t)sprintf(
				&text[length], "%s%u", length == 0 ? "" : ", ", port);
	}
	return text;
}

int
check_mask(uint64_t port_mask, struct error *error)
{
	char missing[MASK_PORTS * 4];
	char present[MASK_PORTS * 4];
	uint64_t available = 0;
	uint16_t port;

	RTE_ETH_FOREACH_DEV (port)
		available |= port < MASK_PORTS ? UINT64_C(1) << port : 0;

	if (available == 0)
		return set_error(error, STATUS_FAILED,
			"no Ethernet ports: bind a NIC to a DPDK driver with dpdk-devbind.py, "
			"or add a virtual device with --vdev");
	if ((port_mask & ~available) != 0)
		return set_error(error, STATUS_FAILED,
			"port mask %#" PRIx64 " names ports that do not exist: %s (available: %s)",
			port_mask, list_ports(port_mask & ~available, missing),
			list_ports(available, present));
	return 0;
}

static int
check_queues(const struct port *port, const char *direction, uint16_t asked, uint16_t max,
	struct error *error)
{
	if (asked <= max)
		return 0;
	return set_error(error, STATUS_FAILED,
		"port %u (%s): --queues requests %u %s queue%s, "
		"but the device supports at most %u",
		port->id, port->name, asked, direction, asked == 1 ? "" : "s", max);
}

static int
check_descriptors(const struct port *port, const char *direction, const char *option,
	uint16_t asked, const struct rte_eth_desc_lim *limits, struct error *error)
{
	const uint16_t step = limits->nb_align == 0 ? 1 : limits->nb_align;

	if (asked >= limits->nb_min && asked <= limits->nb_max && asked % step == 0)
		return 0;
	return set_error(error, STATUS_FAILED,
		"port %u (%s): %s requests %u %s descriptors, "
		"but the device supports %u to %u in steps of %u",
		port->id, port->name, option, asked, direction, limits->nb_min, limits->nb_max,
		step);
}

static int
port_error(
	struct error *error, const struct port *port, const char *what, int item, int error_number)
{
	char number[16] = "";

	if (item >= 0)
		snprintf(number, sizeof(number), " %d", item);
	return set_error(error, STATUS_FAILED, "port %u (%s): cannot %s%s: %s", port->id,
		port->name, what, number, rte_strerror(error_number));
}

int
check_limits(const struct port *port, const struct options *options, struct error *error)
{
	struct rte_eth_dev_info info;
	const uint16_t queues = options->queues_per_port;
	int ret = rte_eth_dev_info_get(port->id, &info);

	if (ret != 0)
		return port_error(error, port, "configure the port", -1, -ret);
	if (check_queues(port, "RX", queues, info.max_rx_queues, error) != 0 ||
		check_queues(port, "TX", queues, info.max_tx_queues, error) != 0 ||
		check_descriptors(port, "RX", "--rxd", options->rx_descriptors, &info.rx_desc_lim,
			error) != 0 ||
		check_descriptors(port, "TX", "--txd", options->tx_descriptors, &info.tx_desc_lim,
			error) != 0)
		return -1;
	if (options->mtu != 0 && (options->mtu < info.min_mtu || options->mtu > info.max_mtu))
		return set_error(error, STATUS_FAILED,
			"port %u (%s): --mtu requests MTU %u, but the device supports %u to %u",
			port->id, port->name, options->mtu, info.min_mtu, info.max_mtu);
	return 0;
}

/* The port's NUMA node; for a virtual device, which has none, that of the main lcore. */
static int
socket_of(const struct port *port)
{
	int socket = rte_eth_dev_socket_id(port->id);

	if (socket < 0)
		socket = (int)rte_lcore_to_socket_id(rte_get_main_lcore());
	return socket < 0 ? 0 : socket;
}

struct rte_mempool *
open_pool(const struct port *port, const struct options *options, unsigned int nb_queues,
	struct error *error)
{
	/* Full queues on both sides, one burst in each TX buffer, and the caches of all lcores. */
	const uint64_t frames_per_queue = (uint64_t)options->rx_descriptors +
					  options->tx_descriptors + options->burst +
					  (uint64_t)rte_lcore_count() * POOL_CACHE;
	const uint64_t frames = nb_queues * frames_per_queue;
	const uint64_t size = RTE_MAX(frames, POOL_MIN);
	const int socket = socket_of(port);
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "mbuf_pool_%d", socket);
	pool = rte_mempool_lookup(name);
	if (pool != NULL)
		return pool;

	rte_errno = ENOMEM;
	if (size <= UINT32_MAX)
		pool = rte_pktmbuf_pool_create(
			name, (unsigned int)size, POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, socket);
	if (pool == NULL)
		set_error(error, STATUS_FAILED,
			"cannot create a pool of %" PRIu64 " mbufs on socket %d: %s: "
			"reserve more hugepages, or use fewer descriptors",
			size, socket, rte_strerror(rte_errno));
	return pool;
}

static void
choose_configuration(const struct rte_eth_dev_info *info, const struct options *options,
	struct rte_eth_conf *conf)
{
	*conf = (struct rte_eth_conf){0};

	conf->intr_conf.rxq = options->idle_sleep;
	if (options->queues_per_port > 1 && (info->flow_type_rss_offloads & RSS_TYPES) != 0) {
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & RSS_TYPES;
	}
	/* When its peer disconnects or returns, this driver registers an interrupt handler. It
	 * removes the handler on close only if link interrupts are enabled; otherwise the EAL's
	 * interrupt thread finds a closed file and ends the process.
	 */
	if (strcmp(info->driver_name, "net_virtio_user") == 0)
		conf->intr_conf.lsc = (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	if (options->mtu > RTE_ETHER_MTU) {
		conf->rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
		conf->txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	}
}

int
setup_port(struct port *port, const struct options *options, struct rte_mempool *pool,
	struct error *error)
{
	const uint16_t queues = options->queues_per_port;
	const int rte_socket = rte_eth_dev_socket_id(port->id);
	const unsigned int socket = (unsigned int)rte_socket;
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	int ret = rte_eth_dev_info_get(port->id, &info);

	if (ret != 0)
		return port_error(error, port, "configure the port", -1, -ret);
	choose_configuration(&info, options, &conf);
	ret = rte_eth_dev_configure(port->id, queues, queues, &conf);
	if (ret != 0)
		return port_error(error, port, "configure the port", -1, -ret);

	if (options->mtu != 0) {
		ret = rte_eth_dev_set_mtu(port->id, options->mtu);
		/* Some drivers take an MTU only with the configuration. */
		if (ret == -ENOTSUP) {
			conf.rxmode.mtu = options->mtu;
			ret = rte_eth_dev_configure(port->id, queues, queues, &conf);
		}
		if (ret != 0)
			return port_error(error, port, "set MTU", options->mtu, -ret);
	}

	for (uint16_t queue = 0; queue < queues; queue++) {
		info.default_rxconf.offloads = conf.rxmode.offloads;
		ret = rte_eth_rx_queue_setup(port->id, queue, options->rx_descriptors, socket,
			&info.default_rxconf, pool);
		if (ret != 0)
			return port_error(error, port, "set up RX queue", queue, -ret);
	}
	for (uint16_t queue = 0; queue < queues; queue++) {
		info.default_txconf.offloads = conf.txmode.offloads;
		ret = rte_eth_tx_queue_setup(
			port->id, queue, options->tx_descriptors, socket, &info.default_txconf);
		if (ret != 0)
			return port_error(error, port, "set up TX queue", queue, -ret);
	}

	ret = rte_eth_dev_start(port->id);
	if (ret != 0)
		return port_error(error, port, "start the port", -1, -ret);
	port->started = true;
	ret = rte_eth_macaddr_get(port->id, &port->mac);
	if (ret != 0)
		return port_error(error, port, "read the MAC address", -1, -ret);

	if (options->promiscuous) {
		ret = rte_eth_promiscuous_enable(port->id);
		if (ret != 0)
			warn("port %u (%s): cannot enable promiscuous mode: %s", port->id,
				port->name, rte_strerror(-ret));
	}
	return 0;
}

const char *
format_mac(const struct rte_ether_addr *mac, char text[RTE_ETHER_ADDR_FMT_SIZE])
{
	const uint8_t *bytes = mac->addr_bytes;

	snprintf(text, RTE_ETHER_ADDR_FMT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1],
		bytes[2], bytes[3], bytes[4], bytes[5]);
	return text;
}

void
report_links(struct port *ports, unsigned int nb_ports, FILE *out)
{
	for (unsigned int i = 0; i < nb_ports; i++) {
		struct port *port = &ports[i];
		struct rte_eth_link link;
		const bool down = rte_eth_link_get_nowait(port->id, &link) != 0 ||
				  link.link_status == RTE_ETH_LINK_DOWN;

		if (down != port->link_down)
			fprintf(out, "l2fwd: port %u (%s): link %s\n", port->id, port->name,
				down ? "down" : "up");
		port->link_down = down;
	}
	fflush(out);
}

bool
can_reset(const struct port *ports, unsigned int nb_ports)
{
	for (unsigned int i = 0; i < nb_ports; i++) {
		const struct port *port = &ports[i];
		struct rte_eth_dev_info info;

		if (rte_eth_dev_info_get(port->id, &info) == 0 &&
			strcmp(info.driver_name, STOPS_FOR_GOOD) == 0) {
			warn("port %u (%s): no port is reset: " STOPS_FOR_GOOD
			     " does not work after a stop",
				port->id, port->name);
			return false;
		}
	}
	return true;
}

int
reset_ports(struct port *ports, unsigned int nb_ports, struct error *error)
{
	for (unsigned int i = 0; i < nb_ports; i++) {
		int ret = rte_eth_dev_stop(ports[i].id);

		if (ret != 0)
			return port_error(error, &ports[i], "stop the port", -1, -ret);
		ports[i].started = false;
	}
	for (unsigned int i = 0; i < nb_ports; i++) {
		int ret = rte_eth_dev_start(ports[i].id);

		if (ret != 0)
			return port_error(error, &ports[i], "start the port", -1, -ret);
		ports[i].started = true;
	}
	return 0;
}

void
close_ports(const struct port *ports, unsigned int nb_ports)
{
	for (unsigned int i = 0; i < nb_ports; i++) {
		/* A device may have been unplugged. Results are ignored: there is no remedy for a
		 * port that cannot be stopped.
		 */
		if (!rte_eth_dev_is_valid_port(ports[i].id))
			continue;
		if (ports[i].started)
			rte_eth_dev_stop(ports[i].id);
		rte_eth_dev_close(ports[i].id);
	}
}
