/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What is received is not copied: a pbuf stands in the private area of each mbuf. What is sent is
 * copied, since lwIP keeps it for a retransmission in memory that no device may read.
 */

#include <string.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include <lwip/pbuf.h>

#include "netif.h"

/* For full queues, what waits to be sent, and what is held. */
#define NB_MBUFS 8191
#define NB_DESCRIPTORS 1024
#define BURST 64
/* Beyond, what is received is copied, or slow services would leave the device without mbufs. */
#define MAX_HELD 4096
#define RX_OFFLOADS (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM)
#define TX_OFFLOADS (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM)

/* In the private area of an mbuf. */
struct held {
	struct pbuf_custom pbuf;
	struct rte_mbuf *mbuf;
	struct port *port;
};

static void
free_held(struct pbuf *pbuf)
{
	struct held *held = (struct held *)pbuf;

	held->port->nb_held--;
	rte_pktmbuf_free(held->mbuf);
}

/* Returns the bytes of an mbuf, which is then the pbuf's or is freed, or NULL without memory. */
static struct pbuf *
pbuf_of(struct port *port, struct rte_mbuf *mbuf)
{
	const uint16_t len = mbuf->data_len;
	struct held *held = rte_mbuf_to_priv(mbuf);
	struct pbuf *pbuf;

	if (port->nb_held < MAX_HELD) {
		port->nb_held++;
		held->pbuf.custom_free_function = free_held;
		held->mbuf = mbuf;
		held->port = port;
		return pbuf_alloced_custom(
			PBUF_RAW, len, PBUF_REF, &held->pbuf, rte_pktmbuf_mtod(mbuf, void *), len);
	}
	pbuf = pbuf_alloc(PBUF_RAW, len, PBUF_RAM);
	if (pbuf != NULL)
		memcpy(pbuf->payload, rte_pktmbuf_mtod(mbuf, void *), len);
	rte_pktmbuf_free(mbuf);
	return pbuf;
}

/* Which checksums lwIP has to look at: NETIF_CHECKSUM_CHECK_*. Those of ICMP no device does. */
static uint16_t
unchecked(uint64_t flags)
{
	const uint64_t ip = flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	const uint64_t tcp = flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
	uint16_t found = NETIF_CHECKSUM_CHECK_ICMP | NETIF_CHECKSUM_CHECK_ICMP6;

	/* NONE: it was never on a wire. lwIP finds what the device calls bad too. */
	if (ip != RTE_MBUF_F_RX_IP_CKSUM_GOOD && ip != RTE_MBUF_F_RX_IP_CKSUM_NONE)
		found |= NETIF_CHECKSUM_CHECK_IP;
	if (tcp != RTE_MBUF_F_RX_L4_CKSUM_GOOD && tcp != RTE_MBUF_F_RX_L4_CKSUM_NONE)
		found |= NETIF_CHECKSUM_CHECK_TCP;
	return found;
}

void
port_receive(struct port *port)
{
	struct rte_mbuf *mbufs[BURST];
	const uint16_t nb_mbufs = rte_eth_rx_burst(port->id, 0, mbufs, BURST);

	for (uint16_t i = 0; i < nb_mbufs; i++) {
		const uint16_t to_check = unchecked(mbufs[i]->ol_flags);
		struct pbuf *pbuf = pbuf_of(port, mbufs[i]);

		if (pbuf == NULL)
			continue;
		NETIF_SET_CHECKSUM_CTRL(&port->netif, (uint16_t)(port->generated | to_check));
		if (port->netif.input(pbuf, &port->netif) != ERR_OK)
			pbuf_free(pbuf);
	}
}

/* Say which checksums the device is to write. */
static void
offload(const struct port *port, struct rte_mbuf *mbuf)
{
	const bool tcp = (port->generated & NETIF_CHECKSUM_GEN_TCP) == 0;
	const struct rte_ether_hdr *ethernet = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);

	mbuf->l2_len = sizeof(*ethernet);
	if (ethernet->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)) {
		const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(ethernet + 1);
		struct rte_tcp_hdr *header = rte_pktmbuf_mtod_offset(
			mbuf, struct rte_tcp_hdr *, sizeof(*ethernet) + sizeof(*ip));

		mbuf->l3_len = sizeof(*ip);
		mbuf->ol_flags |= RTE_MBUF_F_TX_IPV4;
		if ((port->generated & NETIF_CHECKSUM_GEN_IP) == 0)
			mbuf->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
		if (tcp && ip->next_proto_id == IPPROTO_TCP) {
			mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_CKSUM;
			header->cksum = rte_ipv4_phdr_cksum(ip, mbuf->ol_flags);
		}
	} else if (ethernet->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)) {
		const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)(ethernet + 1);
		struct rte_tcp_hdr *header = rte_pktmbuf_mtod_offset(
			mbuf, struct rte_tcp_hdr *, sizeof(*ethernet) + sizeof(*ip));

		mbuf->l3_len = sizeof(*ip);
		if (tcp && ip->proto == IPPROTO_TCP) {
			mbuf->ol_flags |= RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM;
			header->cksum = rte_ipv6_phdr_cksum(ip, mbuf->ol_flags);
		}
	}
}

void
port_send(struct port *port)
{
	uint16_t nb_sent;

	if (port->nb_waiting == 0)
		return;
	nb_sent = rte_eth_tx_burst(port->id, 0, port->waiting, port->nb_waiting);
	port->nb_waiting = (uint16_t)(port->nb_waiting - nb_sent);
	memmove(port->waiting, port->waiting + nb_sent,
		port->nb_waiting * sizeof(port->waiting[0]));
}

/* lwIP sends later what has found no room. */
static err_t
netif_output(struct netif *netif, struct pbuf *pbuf)
{
	struct port *port = netif->state;
	struct rte_mbuf *mbuf;
	char *room;

	if (port->nb_waiting == MAX_WAITING)
		port_send(port);
	if (port->nb_waiting == MAX_WAITING)
		return ERR_MEM;
	mbuf = rte_pktmbuf_alloc(port->pool);
	if (mbuf == NULL)
		return ERR_MEM;
	room = rte_pktmbuf_append(mbuf, pbuf->tot_len);
	if (room == NULL) {
		rte_pktmbuf_free(mbuf);
		return ERR_BUF;
	}
	pbuf_copy_partial(pbuf, room, pbuf->tot_len, 0);
	offload(port, mbuf);
	port->waiting[port->nb_waiting++] = mbuf;
	return ERR_OK;
}

err_t
port_init_netif(struct netif *netif)
{
	struct port *port = netif->state;
	struct rte_ether_addr mac;

	if (rte_eth_macaddr_get(port->id, &mac) != 0)
		return ERR_IF;
	memcpy(netif->hwaddr, mac.addr_bytes, sizeof(mac.addr_bytes));
	netif->hwaddr_len = sizeof(mac.addr_bytes);
	netif->name[0] = 'd';
	netif->name[1] = 'p';
	netif->mtu = RTE_ETHER_MTU;
	netif->flags =
		NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
	netif->linkoutput = netif_output;
	NETIF_SET_CHECKSUM_CTRL(netif, port->generated);
	return ERR_OK;
}

const char *
port_start(struct port *port)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};

	port->id = (uint16_t)rte_eth_find_next(0);
	if (port->id == RTE_MAX_ETHPORTS)
		return "no port: give one with --vdev or -a";
	port->pool = rte_pktmbuf_pool_create("services", NB_MBUFS, 256,
		RTE_ALIGN(sizeof(struct held), RTE_MBUF_PRIV_ALIGN), RTE_MBUF_DEFAULT_BUF_SIZE,
		(int)rte_socket_id());
	if (port->pool == NULL)
		return "cannot create a pool of mbufs: give more memory";
	if (rte_eth_dev_info_get(port->id, &info) != 0)
		return "cannot ask the port what it is";
	conf.rxmode.offloads = info.rx_offload_capa & RX_OFFLOADS;
	conf.txmode.offloads = info.tx_offload_capa & TX_OFFLOADS;
	if (rte_eth_dev_configure(port->id, 1, 1, &conf) != 0 ||
		rte_eth_rx_queue_setup(port->id, 0, NB_DESCRIPTORS, 0, NULL, port->pool) != 0 ||
		rte_eth_tx_queue_setup(port->id, 0, NB_DESCRIPTORS, 0, NULL) != 0 ||
		rte_eth_dev_start(port->id) != 0)
		return "cannot start the port";
	/* For neighbor discovery, as in dpdk.c. */
	(void)rte_eth_allmulticast_enable(port->id);
	port->generated = NETIF_CHECKSUM_GEN_ICMP | NETIF_CHECKSUM_GEN_ICMP6;
	if ((conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) == 0)
		port->generated |= NETIF_CHECKSUM_GEN_IP;
	if ((conf.txmode.offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM) == 0)
		port->generated |= NETIF_CHECKSUM_GEN_TCP;
	return NULL;
}

void
port_stop(struct port *port)
{
	port_send(port);
	rte_eth_dev_stop(port->id);
	rte_eth_dev_close(port->id);
	rte_mempool_free(port->pool);
}
