/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What bindgen reads. Whatever differs between the DPDK versions that we support is settled here, in C, where the
 * headers of the installed version are at hand: offsets instead of nested anonymous fields, and plain structs
 * instead of bit-fields.
 */
#ifndef DPDK_SYS_WRAPPER_H
#define DPDK_SYS_WRAPPER_H

/* For fopencookie(). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_config.h>
#include <rte_version.h>
#include <rte_acl.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_eal_memconfig.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_flow.h>
#include <rte_gro.h>
#include <rte_gso.h>
#include <rte_hash.h>
#include <rte_interrupts.h>
#include <rte_ip_frag.h>
#include <rte_latencystats.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_lpm.h>
#include <rte_lpm6.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_memory.h>
#include <rte_memzone.h>
#include <rte_meter.h>
#include <rte_metrics.h>
#include <rte_net.h>
#include <rte_pdump.h>
#include <rte_rcu_qsbr.h>
#include <rte_reorder.h>
#include <rte_rib.h>
#include <rte_rib6.h>
#include <rte_ring.h>
#include <rte_service.h>
#include <rte_service_component.h>
#include <rte_telemetry.h>
#include <rte_thash.h>
#include <rte_timer.h>
#include <rte_vfio.h>

/* struct rte_mbuf: 24.11 nests these fields in anonymous unions, 22.11 does not. */
enum {
	DPDK_SYS_MBUF_BUF_ADDR = offsetof(struct rte_mbuf, buf_addr),
	DPDK_SYS_MBUF_DATA_OFF = offsetof(struct rte_mbuf, data_off),
	DPDK_SYS_MBUF_REFCNT = offsetof(struct rte_mbuf, refcnt),
	DPDK_SYS_MBUF_NB_SEGS = offsetof(struct rte_mbuf, nb_segs),
	DPDK_SYS_MBUF_PORT = offsetof(struct rte_mbuf, port),
	DPDK_SYS_MBUF_OL_FLAGS = offsetof(struct rte_mbuf, ol_flags),
	DPDK_SYS_MBUF_PKT_LEN = offsetof(struct rte_mbuf, pkt_len),
	DPDK_SYS_MBUF_DATA_LEN = offsetof(struct rte_mbuf, data_len),
	DPDK_SYS_MBUF_BUF_LEN = offsetof(struct rte_mbuf, buf_len),
	DPDK_SYS_MBUF_POOL = offsetof(struct rte_mbuf, pool),
	DPDK_SYS_MBUF_NEXT = offsetof(struct rte_mbuf, next),
	DPDK_SYS_MBUF_PRIV_SIZE = offsetof(struct rte_mbuf, priv_size),
	DPDK_SYS_MBUF_SHINFO = offsetof(struct rte_mbuf, shinfo),
	DPDK_SYS_MBUF_PACKET_TYPE = offsetof(struct rte_mbuf, packet_type),
	DPDK_SYS_MBUF_VLAN_TCI = offsetof(struct rte_mbuf, vlan_tci),
	DPDK_SYS_MBUF_HASH_RSS = offsetof(struct rte_mbuf, hash.rss),
	DPDK_SYS_MBUF_TX_OFFLOAD = offsetof(struct rte_mbuf, tx_offload),
	DPDK_SYS_MBUF_SIZE = sizeof(struct rte_mbuf),
};

/* The width of a field that Rust reads through an offset is part of the promise. */
_Static_assert(sizeof(((struct rte_mbuf *)0)->data_off) == 2, "rte_mbuf.data_off");
_Static_assert(sizeof(((struct rte_mbuf *)0)->refcnt) == 2, "rte_mbuf.refcnt");
_Static_assert(sizeof(((struct rte_mbuf *)0)->nb_segs) == 2, "rte_mbuf.nb_segs");
_Static_assert(sizeof(((struct rte_mbuf *)0)->port) == 2, "rte_mbuf.port");
_Static_assert(sizeof(((struct rte_mbuf *)0)->ol_flags) == 8, "rte_mbuf.ol_flags");
_Static_assert(sizeof(((struct rte_mbuf *)0)->pkt_len) == 4, "rte_mbuf.pkt_len");
_Static_assert(sizeof(((struct rte_mbuf *)0)->data_len) == 2, "rte_mbuf.data_len");
_Static_assert(sizeof(((struct rte_mbuf *)0)->buf_len) == 2, "rte_mbuf.buf_len");
_Static_assert(sizeof(((struct rte_mbuf *)0)->priv_size) == 2, "rte_mbuf.priv_size");
_Static_assert(sizeof(((struct rte_mbuf *)0)->packet_type) == 4, "rte_mbuf.packet_type");
_Static_assert(sizeof(((struct rte_mbuf *)0)->vlan_tci) == 2, "rte_mbuf.vlan_tci");
_Static_assert(sizeof(((struct rte_mbuf *)0)->hash.rss) == 4, "rte_mbuf.hash.rss");
_Static_assert(sizeof(((struct rte_mbuf *)0)->tx_offload) == 8, "rte_mbuf.tx_offload");

/* Macros with casts, which bindgen cannot evaluate. */
static const uint64_t DPDK_SYS_MBUF_F_INDIRECT = RTE_MBUF_F_INDIRECT;
static const uint64_t DPDK_SYS_MBUF_F_EXTERNAL = RTE_MBUF_F_EXTERNAL;
static const uint64_t DPDK_SYS_MBUF_F_RX_RSS_HASH = RTE_MBUF_F_RX_RSS_HASH;
static const uint64_t DPDK_SYS_MBUF_F_RX_VLAN = RTE_MBUF_F_RX_VLAN;
static const uint64_t DPDK_SYS_MBUF_F_RX_VLAN_STRIPPED = RTE_MBUF_F_RX_VLAN_STRIPPED;
static const uint64_t DPDK_SYS_MBUF_F_RX_IP_CKSUM_MASK = RTE_MBUF_F_RX_IP_CKSUM_MASK;
static const uint64_t DPDK_SYS_MBUF_F_RX_IP_CKSUM_BAD = RTE_MBUF_F_RX_IP_CKSUM_BAD;
static const uint64_t DPDK_SYS_MBUF_F_RX_IP_CKSUM_GOOD = RTE_MBUF_F_RX_IP_CKSUM_GOOD;
static const uint64_t DPDK_SYS_MBUF_F_RX_IP_CKSUM_NONE = RTE_MBUF_F_RX_IP_CKSUM_NONE;
static const uint64_t DPDK_SYS_MBUF_F_RX_L4_CKSUM_MASK = RTE_MBUF_F_RX_L4_CKSUM_MASK;
static const uint64_t DPDK_SYS_MBUF_F_RX_L4_CKSUM_BAD = RTE_MBUF_F_RX_L4_CKSUM_BAD;
static const uint64_t DPDK_SYS_MBUF_F_RX_L4_CKSUM_GOOD = RTE_MBUF_F_RX_L4_CKSUM_GOOD;
static const uint64_t DPDK_SYS_MBUF_F_RX_L4_CKSUM_NONE = RTE_MBUF_F_RX_L4_CKSUM_NONE;
static const uint64_t DPDK_SYS_MBUF_F_RX_LRO = RTE_MBUF_F_RX_LRO;
static const uint64_t DPDK_SYS_MBUF_F_TX_IP_CKSUM = RTE_MBUF_F_TX_IP_CKSUM;
static const uint64_t DPDK_SYS_MBUF_F_TX_IPV4 = RTE_MBUF_F_TX_IPV4;
static const uint64_t DPDK_SYS_MBUF_F_TX_IPV6 = RTE_MBUF_F_TX_IPV6;
static const uint64_t DPDK_SYS_MBUF_F_TX_TCP_CKSUM = RTE_MBUF_F_TX_TCP_CKSUM;
static const uint64_t DPDK_SYS_MBUF_F_TX_UDP_CKSUM = RTE_MBUF_F_TX_UDP_CKSUM;
static const uint64_t DPDK_SYS_MBUF_F_TX_TCP_SEG = RTE_MBUF_F_TX_TCP_SEG;
static const uint64_t DPDK_SYS_MBUF_F_TX_VLAN = RTE_MBUF_F_TX_VLAN;
static const uint64_t DPDK_SYS_MBUF_F_TX_OFFLOAD_MASK = RTE_MBUF_F_TX_OFFLOAD_MASK;
static const uint64_t DPDK_SYS_RX_OFFLOAD_IPV4_CKSUM = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
static const uint64_t DPDK_SYS_RX_OFFLOAD_UDP_CKSUM = RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
static const uint64_t DPDK_SYS_RX_OFFLOAD_TCP_CKSUM = RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
static const uint64_t DPDK_SYS_RX_OFFLOAD_RSS_HASH = RTE_ETH_RX_OFFLOAD_RSS_HASH;
static const uint64_t DPDK_SYS_RX_OFFLOAD_TIMESTAMP = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
static const uint64_t DPDK_SYS_RX_OFFLOAD_TCP_LRO = RTE_ETH_RX_OFFLOAD_TCP_LRO;
static const uint64_t DPDK_SYS_RX_OFFLOAD_KEEP_CRC = RTE_ETH_RX_OFFLOAD_KEEP_CRC;
static const uint64_t DPDK_SYS_RX_OFFLOAD_SCATTER = RTE_ETH_RX_OFFLOAD_SCATTER;
static const uint64_t DPDK_SYS_RX_OFFLOAD_VLAN_FILTER = RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
static const uint64_t DPDK_SYS_RX_OFFLOAD_VLAN_STRIP = RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
static const uint64_t DPDK_SYS_TX_OFFLOAD_IPV4_CKSUM = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
static const uint64_t DPDK_SYS_TX_OFFLOAD_UDP_CKSUM = RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
static const uint64_t DPDK_SYS_TX_OFFLOAD_TCP_CKSUM = RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
static const uint64_t DPDK_SYS_TX_OFFLOAD_TCP_TSO = RTE_ETH_TX_OFFLOAD_TCP_TSO;
static const uint64_t DPDK_SYS_TX_OFFLOAD_VLAN_INSERT = RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
static const uint64_t DPDK_SYS_TX_OFFLOAD_MULTI_SEGS = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
static const uint64_t DPDK_SYS_RSS_IP = RTE_ETH_RSS_IP;
static const uint64_t DPDK_SYS_RSS_UDP = RTE_ETH_RSS_UDP;
static const uint64_t DPDK_SYS_RSS_TCP = RTE_ETH_RSS_TCP;
static const uint64_t DPDK_SYS_RSS_SCTP = RTE_ETH_RSS_SCTP;
static const uint64_t DPDK_SYS_RSS_IPV4 = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER;
static const uint64_t DPDK_SYS_RSS_IPV4_TCP = RTE_ETH_RSS_NONFRAG_IPV4_TCP;
static const uint64_t DPDK_SYS_RSS_IPV4_UDP = RTE_ETH_RSS_NONFRAG_IPV4_UDP;
static const uint64_t DPDK_SYS_RSS_IPV4_SCTP = RTE_ETH_RSS_NONFRAG_IPV4_SCTP;
static const uint64_t DPDK_SYS_RSS_IPV6 =
	RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER | RTE_ETH_RSS_IPV6_EX;
static const uint64_t DPDK_SYS_RSS_IPV6_TCP = RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX;
static const uint64_t DPDK_SYS_RSS_IPV6_UDP = RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX;
static const uint64_t DPDK_SYS_RSS_IPV6_SCTP = RTE_ETH_RSS_NONFRAG_IPV6_SCTP;
/* Those that say which part of a field is hashed, or of which tunnel: bits 50 and up. */
static const uint64_t DPDK_SYS_RSS_PARTS = ~UINT64_C(0) << 50;
_Static_assert(RTE_ETH_RSS_LEVEL_INNERMOST == UINT64_C(2) << 50 && RTE_ETH_RSS_L3_SRC_ONLY == UINT64_C(1) << 63, "parts");
static const uint32_t DPDK_SYS_LINK_SPEED_FIXED = RTE_ETH_LINK_SPEED_FIXED;
static const uint32_t DPDK_SYS_LINK_SPEED_10M_HD = RTE_ETH_LINK_SPEED_10M_HD;
static const uint32_t DPDK_SYS_LINK_SPEED_10M = RTE_ETH_LINK_SPEED_10M;
static const uint32_t DPDK_SYS_LINK_SPEED_100M_HD = RTE_ETH_LINK_SPEED_100M_HD;
static const uint32_t DPDK_SYS_LINK_SPEED_100M = RTE_ETH_LINK_SPEED_100M;
static const uint32_t DPDK_SYS_LINK_SPEED_1G = RTE_ETH_LINK_SPEED_1G;
static const uint32_t DPDK_SYS_LINK_SPEED_2_5G = RTE_ETH_LINK_SPEED_2_5G;
static const uint32_t DPDK_SYS_LINK_SPEED_5G = RTE_ETH_LINK_SPEED_5G;
static const uint32_t DPDK_SYS_LINK_SPEED_10G = RTE_ETH_LINK_SPEED_10G;
static const uint32_t DPDK_SYS_LINK_SPEED_20G = RTE_ETH_LINK_SPEED_20G;
static const uint32_t DPDK_SYS_LINK_SPEED_25G = RTE_ETH_LINK_SPEED_25G;
static const uint32_t DPDK_SYS_LINK_SPEED_40G = RTE_ETH_LINK_SPEED_40G;
static const uint32_t DPDK_SYS_LINK_SPEED_50G = RTE_ETH_LINK_SPEED_50G;
static const uint32_t DPDK_SYS_LINK_SPEED_56G = RTE_ETH_LINK_SPEED_56G;
static const uint32_t DPDK_SYS_LINK_SPEED_100G = RTE_ETH_LINK_SPEED_100G;
static const uint32_t DPDK_SYS_LINK_SPEED_200G = RTE_ETH_LINK_SPEED_200G;
/* Newer releases have named these. */
#ifdef RTE_ETH_LINK_SPEED_400G
static const uint32_t DPDK_SYS_LINK_SPEED_400G = RTE_ETH_LINK_SPEED_400G;
#else
static const uint32_t DPDK_SYS_LINK_SPEED_400G = 1u << 16;
#endif
#ifdef RTE_ETH_LINK_SPEED_800G
static const uint32_t DPDK_SYS_LINK_SPEED_800G = RTE_ETH_LINK_SPEED_800G;
#else
static const uint32_t DPDK_SYS_LINK_SPEED_800G = 1u << 17;
#endif
static const uint32_t DPDK_SYS_VERSION_YEAR = RTE_VER_YEAR;
static const uint32_t DPDK_SYS_VERSION_MONTH = RTE_VER_MONTH;

/* From 23.03 on net_memif sends segments without checking their length. */
static const uint32_t DPDK_SYS_MEMIF_TRUSTS_LENGTHS = RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0);

/* struct rte_eth_link without its bit-fields and without the union that 24.11 puts around them. */
struct dpdk_sys_link {
	uint32_t speed_mbps;
	uint8_t full_duplex;
	uint8_t autoneg;
	uint8_t up;
};

/* rte_eth_link_get_nowait(), or rte_eth_link_get() when `wait` is not 0. */
static inline int
dpdk_sys_eth_link_get(uint16_t port_id, int wait, struct dpdk_sys_link *out)
{
	struct rte_eth_link link = {0};
	int ret = wait ? rte_eth_link_get(port_id, &link) : rte_eth_link_get_nowait(port_id, &link);

	out->speed_mbps = link.link_speed;
	out->full_duplex = link.link_duplex;
	out->autoneg = link.link_autoneg;
	out->up = link.link_status;
	return ret;
}

/* Asks for these TX offloads, on all queues. */
static inline void
dpdk_sys_eth_conf_tx_offloads(struct rte_eth_conf *conf, uint64_t offloads)
{
	conf->txmode.offloads = offloads;
}

/* Spreads frames over the RX queues by a hash of these fields; with none, the device decides. */
static inline void
dpdk_sys_eth_conf_rss(struct rte_eth_conf *conf, uint64_t fields)
{
	conf->rxmode.mq_mode = fields != 0 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE;
	conf->rx_adv_conf.rss_conf.rss_hf = fields;
}

/* With this key for that hash, of as many bytes as the device asks for; NULL for the device's own. */
static inline void
dpdk_sys_eth_conf_rss_key(struct rte_eth_conf *conf, uint8_t *key, uint8_t len)
{
	conf->rx_adv_conf.rss_conf.rss_key = key;
	conf->rx_adv_conf.rss_conf.rss_key_len = len;
}

/* Asks for interrupts on link change, if the device has them; whether it has. */
static inline int
dpdk_sys_eth_conf_lsc(struct rte_eth_conf *conf, const struct rte_eth_dev_info *info)
{
	conf->intr_conf.lsc = info->dev_flags != NULL && (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	return conf->intr_conf.lsc;
}

/* The flag of a device that net_bonding combines with others; 23.11 has renamed it. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
static const uint32_t DPDK_SYS_ETH_DEV_MEMBER = RTE_ETH_DEV_BONDING_MEMBER;
#else
static const uint32_t DPDK_SYS_ETH_DEV_MEMBER = RTE_ETH_DEV_BONDED_SLAVE;
#endif

/* What a device of net_bonding combines, and how. */
struct dpdk_sys_bonding {
	int mode;
	/* The port that it prefers; negative without members. */
	int primary;
	int count;
	uint16_t members[RTE_MAX_ETHPORTS];
};

/* Asks net_bonding, a plug-in that programs are not linked with. Negative if it does not answer. */
static inline int
dpdk_sys_bonding_get(const struct rte_eth_dev_info *info, uint16_t port_id, struct dpdk_sys_bonding *bonding)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	const char *list = "rte_eth_bond_members_get";
#else
	const char *list = "rte_eth_bond_slaves_get";
#endif
	int (*members)(uint16_t port_id, uint16_t *ids, uint16_t len);
	int (*mode)(uint16_t port_id);
	int (*primary)(uint16_t port_id);
	Dl_info driver;
	void *plugin;

	bonding->count = -1;
	/* The driver's name is in the driver's file. */
	if (dladdr(info->driver_name, &driver) == 0)
		return -1;
	plugin = dlopen(driver.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (plugin == NULL)
		return -1;
	members = (int (*)(uint16_t, uint16_t *, uint16_t))(uintptr_t)dlsym(plugin, list);
	mode = (int (*)(uint16_t))(uintptr_t)dlsym(plugin, "rte_eth_bond_mode_get");
	primary = (int (*)(uint16_t))(uintptr_t)dlsym(plugin, "rte_eth_bond_primary_get");
	if (members != NULL && mode != NULL && primary != NULL) {
		bonding->mode = mode(port_id);
		bonding->primary = primary(port_id);
		bonding->count = members(port_id, bonding->members, RTE_MAX_ETHPORTS);
	}
	/* The EAL keeps the plug-in. */
	dlclose(plugin);
	return bonding->count;
}

/* Whether the network namespace of the thread has an interface of this number. */
static inline int
dpdk_sys_has_interface(unsigned int index)
{
	char name[IF_NAMESIZE];

	return if_indextoname(index, name) != NULL;
}

/* Asks for interrupts on received frames. */
static inline void
dpdk_sys_eth_conf_rxq(struct rte_eth_conf *conf)
{
	conf->intr_conf.rxq = 1;
}

/* A list of interrupts to wait for: its file, or a negative error number. */
static inline int
dpdk_sys_epoll_create(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	return epoll >= 0 ? epoll : -errno;
}

/* Adds the interrupt of an RX queue to a list, or takes it away from the list that it is in. */
static inline int
dpdk_sys_eth_rx_intr_watch(uint16_t port_id, uint16_t queue_id, int epoll, int on)
{
	return rte_eth_dev_rx_intr_ctl_q(port_id, queue_id, epoll, on ? RTE_INTR_EVENT_ADD : RTE_INTR_EVENT_DEL, NULL);
}

/* Waits until one of a list has something to report, and does not ask what: 1, or 0 when the time is over or a signal comes. */
static inline int
dpdk_sys_epoll_ready(int epoll, int timeout_ms)
{
	struct pollfd list = {.fd = epoll, .events = POLLIN};
	int ret = poll(&list, 1, timeout_ms);

	return ret >= 0 ? ret : errno == EINTR ? 0 : -errno;
}

/* Whether one of a list has something to report, which it has reported then. */
static inline int
dpdk_sys_epoll_reported(int epoll)
{
	struct rte_epoll_event event;

	return rte_epoll_wait(epoll, &event, 1, 0);
}

/* rte_mbuf.tx_offload: the lengths of three headers and of a segment's payload, in bytes. */
static inline uint64_t
dpdk_sys_mbuf_tx_offload(uint8_t l2_len, uint16_t l3_len, uint8_t l4_len, uint16_t segment_len)
{
	return rte_mbuf_tx_offload(l2_len, l3_len, l4_len, segment_len, 0, 0, 0);
}

/* A field of bits: how long the link header is, as rte_mbuf.tx_offload says. */
static inline uint8_t
dpdk_sys_mbuf_l2_len(const struct rte_mbuf *mbuf)
{
	return mbuf->l2_len;
}

/* rte_softrss(): the Toeplitz hash of `len` words, with a key of one word more. */
static inline uint32_t
dpdk_sys_softrss(uint32_t *words, uint32_t len, const uint8_t *key)
{
	return rte_softrss(words, len, key);
}

/* A field of bits: how many bytes each segment has of which a device has made this packet. */
static inline uint16_t
dpdk_sys_mbuf_tso_segsz(const struct rte_mbuf *mbuf)
{
	return mbuf->tso_segsz;
}

/* What rte_mbuf.packet_type says, without tunnels. */
enum {
	DPDK_SYS_PTYPE_L2_MASK = RTE_PTYPE_L2_MASK,
	DPDK_SYS_PTYPE_L2_ETHER = RTE_PTYPE_L2_ETHER,
	DPDK_SYS_PTYPE_L2_ETHER_ARP = RTE_PTYPE_L2_ETHER_ARP,
	DPDK_SYS_PTYPE_L2_ETHER_VLAN = RTE_PTYPE_L2_ETHER_VLAN,
	DPDK_SYS_PTYPE_L2_ETHER_QINQ = RTE_PTYPE_L2_ETHER_QINQ,
	DPDK_SYS_PTYPE_L3_MASK = RTE_PTYPE_L3_MASK,
	DPDK_SYS_PTYPE_L3_IPV4 = RTE_PTYPE_L3_IPV4,
	DPDK_SYS_PTYPE_L3_IPV4_EXT = RTE_PTYPE_L3_IPV4_EXT,
	DPDK_SYS_PTYPE_L3_IPV4_EXT_UNKNOWN = RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
	DPDK_SYS_PTYPE_L3_IPV6 = RTE_PTYPE_L3_IPV6,
	DPDK_SYS_PTYPE_L3_IPV6_EXT = RTE_PTYPE_L3_IPV6_EXT,
	DPDK_SYS_PTYPE_L3_IPV6_EXT_UNKNOWN = RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
	DPDK_SYS_PTYPE_L4_MASK = RTE_PTYPE_L4_MASK,
	DPDK_SYS_PTYPE_L4_TCP = RTE_PTYPE_L4_TCP,
	DPDK_SYS_PTYPE_L4_UDP = RTE_PTYPE_L4_UDP,
	DPDK_SYS_PTYPE_L4_FRAG = RTE_PTYPE_L4_FRAG,
	DPDK_SYS_PTYPE_L4_SCTP = RTE_PTYPE_L4_SCTP,
	DPDK_SYS_PTYPE_L4_ICMP = RTE_PTYPE_L4_ICMP,
};

/* Segments have the id of the packet. */
static const uint64_t DPDK_SYS_GSO_FLAG_IPID_FIXED = RTE_GSO_FLAG_IPID_FIXED;

/* The kind of packets that GRO joins here: TCP segments in IPv4. */
static const uint64_t DPDK_SYS_GRO_TCP_IPV4 = RTE_GRO_TCP_IPV4;
enum { DPDK_SYS_GRO_MAX_BURST = RTE_GRO_MAX_BURST_ITEM_NUM };

/* The mode of flow control is an enum: 1 is RX_PAUSE, 2 TX_PAUSE, 3 both. */
_Static_assert(RTE_ETH_FC_RX_PAUSE == 1 && RTE_ETH_FC_TX_PAUSE == 2 && RTE_ETH_FC_FULL == 3, "rte_eth_fc_mode");

/* The specification of an item of a flow pattern begins with the bytes of the header, as they are in a frame. */
_Static_assert(offsetof(struct rte_flow_item_eth, hdr) == 0 && sizeof(struct rte_ether_hdr) == 14, "rte_flow_item_eth");
_Static_assert(offsetof(struct rte_flow_item_vlan, hdr) == 0 && sizeof(struct rte_vlan_hdr) == 4, "rte_flow_item_vlan");
_Static_assert(offsetof(struct rte_flow_item_ipv4, hdr) == 0 && sizeof(struct rte_ipv4_hdr) == 20, "rte_flow_item_ipv4");
_Static_assert(offsetof(struct rte_flow_item_ipv6, hdr) == 0 && sizeof(struct rte_ipv6_hdr) == 40, "rte_flow_item_ipv6");
_Static_assert(offsetof(struct rte_flow_item_tcp, hdr) == 0 && sizeof(struct rte_tcp_hdr) == 20, "rte_flow_item_tcp");
_Static_assert(offsetof(struct rte_flow_item_udp, hdr) == 0 && sizeof(struct rte_udp_hdr) == 8, "rte_flow_item_udp");

/* Bytes for the longest of these specifications. */
enum {
	DPDK_SYS_FLOW_ITEM_SIZE = 64,
};
_Static_assert(sizeof(struct rte_flow_item_eth) <= DPDK_SYS_FLOW_ITEM_SIZE, "rte_flow_item_eth");
_Static_assert(sizeof(struct rte_flow_item_vlan) <= DPDK_SYS_FLOW_ITEM_SIZE, "rte_flow_item_vlan");
_Static_assert(sizeof(struct rte_flow_item_ipv6) <= DPDK_SYS_FLOW_ITEM_SIZE, "rte_flow_item_ipv6");

/* For received frames. struct rte_flow_attr is made of bit-fields. */
static inline int
dpdk_sys_flow_validate(uint16_t port_id, uint32_t group, uint32_t priority, const struct rte_flow_item *pattern,
		const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = {.group = group, .priority = priority, .ingress = 1};

	return rte_flow_validate(port_id, &attr, pattern, actions, error);
}

static inline struct rte_flow *
dpdk_sys_flow_create(uint16_t port_id, uint32_t group, uint32_t priority, const struct rte_flow_item *pattern,
		const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = {.group = group, .priority = priority, .ingress = 1};

	return rte_flow_create(port_id, &attr, pattern, actions, error);
}

/* struct rte_flow_query_count without its bit-fields. */
struct dpdk_sys_flow_count {
	uint64_t hits;
	uint64_t bytes;
	uint8_t hits_set;
	uint8_t bytes_set;
};

/* What the rule's action COUNT has counted. */
static inline int
dpdk_sys_flow_query_count(uint16_t port_id, struct rte_flow *flow, struct dpdk_sys_flow_count *out,
		struct rte_flow_error *error)
{
	const struct rte_flow_action_count conf = {0};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_COUNT, .conf = &conf},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow_query_count count = {0};
	int ret = rte_flow_query(port_id, flow, actions, &count, error);

	out->hits = count.hits;
	out->bytes = count.bytes;
	out->hits_set = count.hits_set;
	out->bytes_set = count.bytes_set;
	return ret;
}

/* Numbers in what a telemetry command answers: 23.03 has renamed those of 64 bits, and widened the others. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
static const uint32_t DPDK_SYS_TEL_UINT = RTE_TEL_UINT_VAL;
#else
static const uint32_t DPDK_SYS_TEL_UINT = RTE_TEL_U64_VAL;
#endif

static inline int
dpdk_sys_tel_data_add_dict_int(struct rte_tel_data *d, const char *name, int32_t x)
{
	return rte_tel_data_add_dict_int(d, name, x);
}

static inline int
dpdk_sys_tel_data_add_array_uint(struct rte_tel_data *d, uint64_t x)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_array_uint(d, x);
#else
	return rte_tel_data_add_array_u64(d, x);
#endif
}

static inline int
dpdk_sys_tel_data_add_dict_uint(struct rte_tel_data *d, const char *name, uint64_t x)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_dict_uint(d, name, x);
#else
	return rte_tel_data_add_dict_u64(d, name, x);
#endif
}

/* The driver's own arguments of a device, such as "size=64,copy=1"; NULL without any. */
static inline const char *
dpdk_sys_dev_args(const struct rte_device *dev)
{
	const struct rte_devargs *devargs = rte_dev_devargs(dev);

	return devargs != NULL ? devargs->args : NULL;
}

/* rte_errno is a macro over a thread-local variable. */
static inline int
dpdk_sys_errno(void)
{
	return rte_errno;
}

/* For calls that fail without setting one. */
static inline void
dpdk_sys_set_errno(int number)
{
	rte_errno = number;
}

/* rte_pktmbuf_pool_create(), with the driver of this name unless it is NULL, and with an rte_errno in every case: DPDK 22.11 sets
 * none if it has no memory for the pool's entry in the list of pools.
 */
static inline struct rte_mempool *
dpdk_sys_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache_size, uint16_t priv_size,
		uint16_t data_room_size, int socket_id, const char *ops_name)
{
	rte_errno = ENOMEM;
	return rte_pktmbuf_pool_create_by_ops(name, n, cache_size, priv_size, data_room_size, socket_id, ops_name);
}

/* The same, with the mbufs' buffers in these areas; DPDK 22.11 calls it experimental. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline struct rte_mempool *
dpdk_sys_pktmbuf_pool_create_extbuf(const char *name, unsigned int n, unsigned int cache_size, uint16_t priv_size,
		uint16_t data_room_size, int socket_id, const struct rte_pktmbuf_extmem *areas, unsigned int area_count)
{
	rte_errno = ENOMEM;
	return rte_pktmbuf_pool_create_extbuf(name, n, cache_size, priv_size, data_room_size, socket_id, areas,
			area_count);
}
#pragma GCC diagnostic pop

/* Sends the log to stderr from the first line on: the EAL's own default writes to stdout and syslog. */
static inline int
dpdk_sys_log_to_stderr(void)
{
	return rte_openlog_stream(stderr);
}

/* Whether a bus has a driver for a virtual device of this name, or takes it for the address of a device. */
static inline int
dpdk_sys_device_known(const char *name)
{
	struct rte_devargs devargs = {0};
	int ret = rte_devargs_parse(&devargs, name);

	/* What rte_devargs_reset() does, which is experimental. */
	free(devargs.data);
	return ret == 0;
}

/* The CPUs that the calling thread may use; the result is 0, or an error number. */
static inline int
dpdk_sys_thread_cpus(rte_cpuset_t *cpus)
{
	return pthread_getaffinity_np(pthread_self(), sizeof(*cpus), cpus);
}

/* Lets the calling thread use these CPUs without those of the EAL's lcores, or all of these if none is left. */
static inline int
dpdk_sys_leave_lcores(const rte_cpuset_t *cpus)
{
	rte_cpuset_t left = *cpus;
	unsigned int lcore, cpu;

	for (lcore = 0; lcore < RTE_MAX_LCORE; lcore++) {
		enum rte_lcore_role_t role = rte_eal_lcore_role(lcore);
		rte_cpuset_t taken = rte_lcore_cpuset(lcore);

		if (role != ROLE_RTE && role != ROLE_SERVICE)
			continue;
		for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &taken))
				CPU_CLR(cpu, &left);
	}
	if (CPU_COUNT(&left) == 0)
		left = *cpus;
	return pthread_setaffinity_np(pthread_self(), sizeof(left), &left);
}

/* The first device of --vdev that its driver refused, or null. DPDK calls the iterator experimental. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline const char *
dpdk_sys_refused_vdev(void)
{
	struct rte_dev_iterator iterator;
	struct rte_device *dev;

	/* Devices that other devices have brought along are of other types. */
	RTE_DEV_FOREACH (dev, "bus=vdev", &iterator)
		if (!rte_dev_is_probed(dev) && rte_dev_devargs(dev)->type == RTE_DEVTYPE_VIRTUAL)
			return rte_dev_name(dev);
	return NULL;
}
#pragma GCC diagnostic pop

static inline int
ignore_message(const struct rte_mp_msg *message, const void *peer)
{
	(void)message;
	(void)peer;
	return 0;
}

/* Whether other processes can attach to this one: else it takes no messages from any. */
static inline int
dpdk_sys_is_shared(void)
{
	const char *name = "dpdk_sys_is_shared";

	if (rte_mp_action_register(name, ignore_message) != 0)
		return rte_errno == EEXIST;
	rte_mp_action_unregister(name);
	return 1;
}

/* What is given each line of the log, with its level and type. */
typedef void (*dpdk_sys_log_fn)(uint32_t level, uint32_t type, const char *text, size_t len);

static inline ssize_t
write_log(void *cookie, const char *text, size_t len)
{
	const uint32_t level = (uint32_t)rte_log_cur_msg_loglevel(), type = (uint32_t)rte_log_cur_msg_logtype();

	((dpdk_sys_log_fn)cookie)(level, type, text, len);
	return (ssize_t)len;
}

/* Sends the log to a function. Without a buffer, in which lines of several threads would mix. */
static inline int
dpdk_sys_log_to(dpdk_sys_log_fn function)
{
	const cookie_io_functions_t functions = {.write = write_log};
	FILE *stream = fopencookie((void *)function, "w", functions);

	if (stream == NULL)
		return -1;
	setvbuf(stream, NULL, _IONBF, 0);
	return rte_openlog_stream(stream);
}

/* All types of the log with their numbers, names and levels, a line each; NULL without memory. */
static inline char *
dpdk_sys_log_types(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	if (stream == NULL)
		return NULL;
	rte_log_dump(stream);
	fclose(stream);
	return text;
}

static inline void
dpdk_sys_log_types_free(char *types)
{
	free(types);
}

static inline void
dpdk_sys_log(uint32_t level, uint32_t type, const char *line)
{
	rte_log(level, type, "%s\n", line);
}

/* A line in DPDK's log, at level WARNING. */
static inline void
dpdk_sys_log_warning(const char *message)
{
	rte_log(RTE_LOG_WARNING, RTE_LOGTYPE_USER1, "%s\n", message);
}

/* Every mbuf of the pool is back in it (caches included), and nobody is inside its driver any more who has put one back. The
 * driver `stack` counts an mbuf before it opens its lock again: taking one waits for that. The fence orders the caller's
 * later free of the pool's memory after the last put by a thread that has no cache.
 */
static inline int
dpdk_sys_mempool_full(struct rte_mempool *mp)
{
	int full = rte_mempool_full(mp);
	void *object;

	if (full && rte_mempool_ops_dequeue_bulk(mp, &object, 1) == 0)
		rte_mempool_ops_enqueue_bulk(mp, &object, 1);
	rte_smp_mb();
	return full;
}

/* Whether there is a driver of this name. */
static inline int
dpdk_sys_mempool_driver_known(const char *name)
{
	uint32_t i;

	for (i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return 1;
	return 0;
}

/* How many objects the cache of an lcore holds. */
static inline uint32_t
dpdk_sys_mempool_cached(const struct rte_mempool *mp, uint32_t lcore_id)
{
	return mp->cache_size == 0 || lcore_id >= RTE_MAX_LCORE ? 0 : mp->local_cache[lcore_id].len;
}

/* Gives what the cache of the calling lcore holds to the others. */
static inline void
dpdk_sys_mempool_flush(struct rte_mempool *mp)
{
	rte_mempool_cache_flush(NULL, mp);
}

/* Gives what a cache that belongs to no lcore holds back to the pool. */
static inline void
dpdk_sys_mempool_cache_flush(struct rte_mempool *mp, struct rte_mempool_cache *cache)
{
	rte_mempool_cache_flush(cache, mp);
}

static inline uint32_t
dpdk_sys_mempool_cache_len(const struct rte_mempool_cache *cache)
{
	return cache->len;
}

/* rte_pktmbuf_alloc_bulk() by way of a cache that belongs to no lcore. */
static inline int
dpdk_sys_pktmbuf_alloc_cached(struct rte_mempool *mp, struct rte_mempool_cache *cache, struct rte_mbuf **mbufs,
		unsigned int n)
{
	unsigned int i;
	int ret = rte_mempool_generic_get(mp, (void **)mbufs, n, cache);

	if (ret != 0)
		return ret;
	for (i = 0; i < n; i++)
		rte_pktmbuf_reset(mbufs[i]);
	return 0;
}

/* rte_pktmbuf_free_bulk() of chains, for those of their mbufs that are of this pool by way of a cache. */
static inline void
dpdk_sys_pktmbuf_free_cached(struct rte_mempool *mp, struct rte_mempool_cache *cache, struct rte_mbuf **mbufs,
		unsigned int n)
{
	void *own[64];
	unsigned int i, count = 0;

	for (i = 0; i < n; i++) {
		struct rte_mbuf *next, *m;

		for (m = mbufs[i]; m != NULL; m = next) {
			next = m->next;
			m = rte_pktmbuf_prefree_seg(m);
			if (m == NULL)
				continue;
			if (m->pool != mp) {
				rte_mbuf_raw_free(m);
				continue;
			}
			own[count++] = m;
			if (count == RTE_DIM(own)) {
				rte_mempool_generic_put(mp, own, count, cache);
				count = 0;
			}
		}
	}
	if (count != 0)
		rte_mempool_generic_put(mp, own, count, cache);
}

/* What rte_pktmbuf_copy() writes to the first mbuf of a copy besides the data. It also takes the mark of a pinned buffer away, and
 * leaves it so if there is no mbuf for the rest; this does not.
 */
static inline void
dpdk_sys_pktmbuf_copy_hdr(struct rte_mbuf *to, const struct rte_mbuf *from)
{
	const uint64_t elsewhere = RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;

	__rte_pktmbuf_copy_hdr(to, from);
	to->ol_flags = (from->ol_flags & ~elsewhere) | (to->ol_flags & elsewhere);
}

/* struct rte_malloc_socket_stats of a NUMA node, or of all of them for SOCKET_ID_ANY. */
static inline void
dpdk_sys_malloc_stats(int socket_id, struct rte_malloc_socket_stats *sum)
{
	const struct rte_malloc_socket_stats none = {0};
	unsigned int i;

	*sum = none;
	for (i = 0; i < rte_socket_count(); i++) {
		struct rte_malloc_socket_stats one = {0};
		int id = rte_socket_id_by_idx(i);

		if (id < 0 || (socket_id != SOCKET_ID_ANY && socket_id != id) || rte_malloc_get_socket_stats(id, &one) != 0)
			continue;
		sum->heap_totalsz_bytes += one.heap_totalsz_bytes;
		sum->heap_freesz_bytes += one.heap_freesz_bytes;
		sum->heap_allocsz_bytes += one.heap_allocsz_bytes;
		sum->greatest_free_size = RTE_MAX(sum->greatest_free_size, one.greatest_free_size);
		sum->alloc_count += one.alloc_count;
		sum->free_count += one.free_count;
	}
}

/* struct rte_memzone, which is packed and has an anonymous union. */
struct dpdk_sys_memzone {
	void *addr;
	size_t len;
	uint64_t iova;
	uint64_t page_len;
	int32_t socket_id;
};

static inline void
dpdk_sys_memzone_get(const struct rte_memzone *mz, struct dpdk_sys_memzone *out)
{
	out->addr = mz->addr;
	out->len = mz->len;
	out->iova = mz->iova;
	out->page_len = mz->hugepage_sz;
	out->socket_id = mz->socket_id;
}

/* No address that devices can see. */
static const uint64_t DPDK_SYS_BAD_IOVA = RTE_BAD_IOVA;
static const uint64_t DPDK_SYS_NOT_IN_A_ROW = RTE_BAD_IOVA - 1;

/* Where devices see some bytes: BAD_IOVA if they are not in DPDK's memory, NOT_IN_A_ROW if devices see them in pieces. */
static inline uint64_t
dpdk_sys_mem_iova(const void *start, size_t len)
{
	const char *at = (const char *)start;
	const char *end = at + len;
	uint64_t first = DPDK_SYS_BAD_IOVA;

	while (at < end) {
		const struct rte_memseg *seg = rte_mem_virt2memseg(at, NULL);
		uint64_t here;

		if (seg == NULL)
			return DPDK_SYS_BAD_IOVA;
		here = seg->iova + (size_t)(at - (const char *)seg->addr);
		if (at == (const char *)start)
			first = here;
		if (seg->iova == RTE_BAD_IOVA || here != first + (size_t)(at - (const char *)start))
			return DPDK_SYS_NOT_IN_A_ROW;
		at = (const char *)seg->addr + seg->len;
	}
	return first;
}

struct memory_range {
	const char *start;
	size_t len;
};

static int
memory_list_meets(const struct rte_memseg_list *list, void *range_ptr)
{
	const struct memory_range *range = (const struct memory_range *)range_ptr;
	const char *base = (const char *)list->base_va;

	return base < range->start + range->len && range->start < base + list->len;
}

/* Whether DPDK knows one of these bytes: as its own, or since they were registered. */
static inline int
dpdk_sys_mem_known(const void *start, size_t len)
{
	struct memory_range range = { (const char *)start, len };

	return rte_memseg_list_walk(memory_list_meets, &range) != 0;
}

/* Whether devices see DPDK's memory where the processor does. */
static inline int
dpdk_sys_iova_is_va(void)
{
	return rte_eal_iova_mode() == RTE_IOVA_VA;
}

/* The kernel's smallest page, in bytes. */
static inline size_t
dpdk_sys_page_len(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* The negative error of a call that sets rte_errno at some failures, and at others leaves the kernel's errno: the caller has set both
 * to 0 before.
 */
static inline int
dpdk_sys_either_errno(int result)
{
	if (result == 0)
		return 0;
	if (rte_errno != 0)
		return -rte_errno;
	return errno != 0 ? -errno : -EIO;
}

/* Registers memory, which devices are to see where the processor does; 0 or a negative error. */
static inline int
dpdk_sys_extmem_register(void *start, size_t len, uint64_t *iovas, unsigned int pages, size_t page_len)
{
	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(rte_extmem_register(start, len, iovas, pages, page_len));
}

static inline int
dpdk_sys_extmem_unregister(void *start, size_t len)
{
	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(rte_extmem_unregister(start, len));
}

/* Has the IOMMU let all devices on VFIO reach memory, at the addresses that it has for the processor; 0 or a negative error. */
static inline int
dpdk_sys_vfio_map(const void *start, size_t len)
{
	uint64_t address = (uint64_t)(uintptr_t)start;

	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(
			rte_vfio_container_dma_map(RTE_VFIO_DEFAULT_CONTAINER_FD, address, address, len));
}

static inline int
dpdk_sys_vfio_unmap(const void *start, size_t len)
{
	uint64_t address = (uint64_t)(uintptr_t)start;

	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(
			rte_vfio_container_dma_unmap(RTE_VFIO_DEFAULT_CONTAINER_FD, address, address, len));
}

/* Puts the mark back that a driver has written over: the mbufs of such pools have their buffers elsewhere, for ever. */
static inline void
dpdk_sys_pktmbuf_mark_pinned(struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		if ((rte_pktmbuf_priv_flags(m->pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) != 0)
			m->ol_flags |= RTE_MBUF_F_EXTERNAL;
}

/* Attaches a buffer whose counter is 1 from here on. */
static inline void
dpdk_sys_pktmbuf_attach_extbuf(struct rte_mbuf *m, void *start, uint64_t iova, uint16_t len,
		struct rte_mbuf_ext_shared_info *shared, rte_mbuf_extbuf_free_callback_t free_cb, void *opaque)
{
	shared->free_cb = free_cb;
	shared->fcb_opaque = opaque;
	rte_mbuf_ext_refcnt_set(shared, 1);
	rte_pktmbuf_attach_extbuf(m, start, iova, len, shared);
}

/* Addresses are 16 bytes each. From 24.11 on DPDK has a struct of them: a pointer to void becomes either. */
static inline int
dpdk_sys_lpm6_add(struct rte_lpm6 *lpm, const void *ip, uint8_t depth, uint32_t next_hop)
{
	return rte_lpm6_add(lpm, ip, depth, next_hop);
}

static inline int
dpdk_sys_lpm6_is_rule_present(struct rte_lpm6 *lpm, const void *ip, uint8_t depth, uint32_t *next_hop)
{
	return rte_lpm6_is_rule_present(lpm, ip, depth, next_hop);
}

static inline int
dpdk_sys_lpm6_delete(struct rte_lpm6 *lpm, const void *ip, uint8_t depth)
{
	return rte_lpm6_delete(lpm, ip, depth);
}

static inline int
dpdk_sys_lpm6_lookup(const struct rte_lpm6 *lpm, const void *ip, uint32_t *next_hop)
{
	return rte_lpm6_lookup(lpm, ip, next_hop);
}

/* The addresses are only read. */
static inline int
dpdk_sys_lpm6_lookup_bulk(const struct rte_lpm6 *lpm, const void *ips, int32_t *next_hops, unsigned int n)
{
	return rte_lpm6_lookup_bulk_func(lpm, (void *)(uintptr_t)ips, next_hops, n);
}

/* A FIB whose entries have 1 << entry_size_log2 bytes each, with so many groups behind its table of the first 24 bits; without any
 * groups it has no table. `none` is what a look-up finds where there is no route.
 */
static inline struct rte_fib *
dpdk_sys_fib_create(const char *name, int socket_id, uint32_t routes, uint64_t none, uint32_t entry_size_log2, uint32_t tbl8s)
{
	struct rte_fib_conf conf = {0};

	conf.type = tbl8s != 0 ? RTE_FIB_DIR24_8 : RTE_FIB_DUMMY;
	conf.default_nh = none;
	conf.max_routes = (int)routes;
	conf.dir24_8.nh_sz = (enum rte_fib_dir24_8_nh_sz)entry_size_log2;
	conf.dir24_8.num_tbl8 = tbl8s;
	return rte_fib_create(name, socket_id, &conf);
}

/* Whether there is a route for this prefix, and its next hop. */
static inline int
dpdk_sys_fib_rule(struct rte_fib *fib, uint32_t ip, uint8_t depth, uint64_t *next_hop)
{
	const struct rte_rib_node *node = rte_rib_lookup_exact(rte_fib_get_rib(fib), ip, depth);

	return node != NULL && rte_rib_get_nh(node, next_hop) == 0;
}

/* The same for IPv6: entries of 2 bytes or more. */
static inline struct rte_fib6 *
dpdk_sys_fib6_create(const char *name, int socket_id, uint32_t routes, uint64_t none, uint32_t entry_size_log2, uint32_t tbl8s)
{
	struct rte_fib6_conf conf = {0};

	conf.type = tbl8s != 0 ? RTE_FIB6_TRIE : RTE_FIB6_DUMMY;
	conf.default_nh = none;
	conf.max_routes = (int)routes;
	conf.trie.nh_sz = (enum rte_fib_trie_nh_sz)entry_size_log2;
	conf.trie.num_tbl8 = tbl8s;
	return rte_fib6_create(name, socket_id, &conf);
}

static inline int
dpdk_sys_fib6_rule(struct rte_fib6 *fib, const void *ip, uint8_t depth, uint64_t *next_hop)
{
	const struct rte_rib6_node *node = rte_rib6_lookup_exact(rte_fib6_get_rib(fib), ip, depth);

	return node != NULL && rte_rib6_get_nh(node, next_hop) == 0;
}

/* Adds a route, or changes it. DPDK reserves groups for a route that is new: more than it needs, and up to 24.11 for ever, so that
 * the table is full once routes have come and gone often enough. For one that is changed it reserves none. So a new route is one
 * that is changed: it is in the tree of routes before, with another next hop. Whoever calls this has counted the groups.
 */
static inline int
dpdk_sys_fib6_add(struct rte_fib6 *fib, const void *ip, uint8_t depth, uint64_t next_hop)
{
	struct rte_rib6 *rib = rte_fib6_get_rib(fib);
	struct rte_rib6_node *node = rte_rib6_lookup_exact(rib, ip, depth);
	int is_new = node == NULL, ret;
	uint64_t now = 0;

	if (is_new) {
		node = rte_rib6_insert(rib, ip, depth);
		if (node == NULL)
			return -rte_errno;
		rte_rib6_set_nh(node, next_hop ^ 1);
	}
	ret = rte_fib6_add(fib, ip, depth, next_hop);
	/* Up to 25.11 a change that failed is no error. */
	rte_rib6_get_nh(node, &now);
	if (ret == 0 && now != next_hop)
		ret = -ENOSPC;
	if (ret != 0 && is_new)
		rte_rib6_remove(rib, ip, depth);
	return ret;
}

static inline int
dpdk_sys_fib6_delete(struct rte_fib6 *fib, const void *ip, uint8_t depth)
{
	return rte_fib6_delete(fib, ip, depth);
}

/* The addresses are only read. */
static inline int
dpdk_sys_fib6_lookup_bulk(struct rte_fib6 *fib, const void *ips, uint64_t *next_hops, int n)
{
	return rte_fib6_lookup_bulk(fib, (void *)(uintptr_t)ips, next_hops, n);
}

/* A reorder buffer in memory of its own. rte_reorder_create() would give a second owner of a name the buffer of the first one. */
static inline struct rte_reorder_buffer *
dpdk_sys_reorder_create(int socket_id, uint32_t size)
{
	/* The struct is DPDK's own. rte_reorder_init() refuses what is too small for it and two tables of mbufs. */
	size_t len = 1024 + 2 * (size_t)size * sizeof(struct rte_mbuf *);
	void *memory = rte_zmalloc_socket("dpdk-rs reorder buffer", len, RTE_CACHE_LINE_SIZE, socket_id);
	struct rte_reorder_buffer *buffer;

	if (memory == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	buffer = rte_reorder_init((struct rte_reorder_buffer *)memory, (unsigned int)len, "dpdk-rs", size);
	if (buffer == NULL)
		rte_free(memory);
	return buffer;
}

/* With the mbufs in it. */
static inline void
dpdk_sys_reorder_free(struct rte_reorder_buffer *buffer)
{
	rte_reorder_reset(buffer);
	rte_free(buffer);
}

/* Where rte_reorder_init() has had room for the number in mbufs; DPDK 22.11 calls the function for it experimental. */
static inline size_t
dpdk_sys_reorder_seqn_offset(void)
{
	return (size_t)rte_reorder_seqn_dynfield_offset;
}

static inline int
dpdk_sys_reorder_insert(struct rte_reorder_buffer *buffer, struct rte_mbuf *m)
{
	return rte_reorder_insert(buffer, m) == 0 ? 0 : -rte_errno;
}

/* The reassembly of datagrams, for one fragment. It puts what the table gives up on a list without checking its end: one
 * call adds 18 mbufs at most, so that a new list for each, which is freed before the call returns, is long enough.
 */
_Static_assert(RTE_IP_FRAG_DEATH_ROW_MBUF_LEN >= 2 * (RTE_LIBRTE_IP_FRAG_MAX_FRAG + 1), "rte_ip_frag_death_row.row");

static inline struct rte_mbuf *
dpdk_sys_ipv4_reassemble(struct rte_ip_frag_tbl *table, struct rte_mbuf *fragment, uint64_t now, void *header, uint32_t *freed)
{
	struct rte_ip_frag_death_row row;
	struct rte_mbuf *whole;

	row.cnt = 0;
	whole = rte_ipv4_frag_reassemble_packet(table, &row, fragment, now, (struct rte_ipv4_hdr *)header);
	*freed = row.cnt;
	rte_ip_frag_free_death_row(&row, 0);
	return whole;
}

/* The fragment header follows that of IPv6. */
static inline struct rte_mbuf *
dpdk_sys_ipv6_reassemble(struct rte_ip_frag_tbl *table, struct rte_mbuf *fragment, uint64_t now, void *header, uint32_t *freed)
{
	struct rte_ip_frag_death_row row;
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)header;
	struct rte_mbuf *whole;

	row.cnt = 0;
	whole = rte_ipv6_frag_reassemble_packet(table, &row, fragment, now, ip, (struct rte_ipv6_fragment_ext *)(ip + 1));
	*freed = row.cnt;
	rte_ip_frag_free_death_row(&row, 0);
	return whole;
}

/* What another process has to know of a pool of packets before it uses it. */
enum {
	DPDK_SYS_POOL_MISSING,
	/* Its objects are not mbufs with a buffer behind each. */
	DPDK_SYS_POOL_OTHER,
	/* Its driver is not for several processes, or is another one here. */
	DPDK_SYS_POOL_DRIVER,
	DPDK_SYS_POOL_EXHAUSTED,
	DPDK_SYS_POOL_FOUND,
};

struct dpdk_sys_pool {
	const char *name;
	struct rte_mempool *pool;
	/* An mbuf that is kept out of the pool: while one is missing, its owner does not take it for unused. */
	struct rte_mbuf *kept;
	uint32_t size;
	uint32_t state;
	uint16_t data_room;
	uint16_t private_len;
};

/* What the driver is that this process has under a pool's number. */
enum {
	/* Another one than that which the pool was made with. */
	DPDK_SYS_DRIVER_DIFFERS,
	/* The same as far as can be seen, and none for several processes, or not known. */
	DPDK_SYS_DRIVER_OTHER,
	/* The same, and several processes can use it at once. */
	DPDK_SYS_DRIVER_SHARED,
};

/* Processes number drivers in the order in which they register them, and pools have no more than the number. The ring that is in
 * a pool shows which of the drivers on rings has made it.
 */
static inline int
dpdk_sys_pool_driver(const struct rte_mempool *mp)
{
	static const struct {
		const char *name;
		enum rte_ring_sync_type prod, cons;
		int kind;
	} drivers[] = {
		{"ring_mp_mc", RTE_RING_SYNC_MT, RTE_RING_SYNC_MT, DPDK_SYS_DRIVER_SHARED},
		{"ring_mt_rts", RTE_RING_SYNC_MT_RTS, RTE_RING_SYNC_MT_RTS, DPDK_SYS_DRIVER_SHARED},
		{"ring_mt_hts", RTE_RING_SYNC_MT_HTS, RTE_RING_SYNC_MT_HTS, DPDK_SYS_DRIVER_SHARED},
		{"ring_sp_sc", RTE_RING_SYNC_ST, RTE_RING_SYNC_ST, DPDK_SYS_DRIVER_OTHER},
		{"ring_mp_sc", RTE_RING_SYNC_MT, RTE_RING_SYNC_ST, DPDK_SYS_DRIVER_OTHER},
		{"ring_sp_mc", RTE_RING_SYNC_ST, RTE_RING_SYNC_MT, DPDK_SYS_DRIVER_OTHER},
	};
	char name[RTE_RING_NAMESIZE];
	const struct rte_ring *ring;
	const char *driver;
	size_t i;

	if (mp->ops_index < 0 || (uint32_t)mp->ops_index >= rte_mempool_ops_table.num_ops)
		return DPDK_SYS_DRIVER_DIFFERS;
	driver = rte_mempool_ops_table.ops[mp->ops_index].name;
	if (snprintf(name, sizeof(name), RTE_MEMPOOL_MZ_FORMAT, mp->name) >= (int)sizeof(name))
		return DPDK_SYS_DRIVER_OTHER;
	ring = rte_ring_lookup(name);
	if (ring != NULL && ring != mp->pool_data)
		ring = NULL;
	for (i = 0; i < RTE_DIM(drivers); i++)
		if (strcmp(driver, drivers[i].name) == 0)
			return ring != NULL && ring->prod.sync_type == drivers[i].prod &&
				ring->cons.sync_type == drivers[i].cons ? drivers[i].kind : DPDK_SYS_DRIVER_DIFFERS;
	return ring != NULL ? DPDK_SYS_DRIVER_DIFFERS : DPDK_SYS_DRIVER_OTHER;
}

static inline void
look_at_driver(struct rte_mempool *mp, void *state)
{
	struct dpdk_sys_pool *found = (struct dpdk_sys_pool *)state;

	if (found->pool == NULL && mp->populated_size > 0 && dpdk_sys_pool_driver(mp) == DPDK_SYS_DRIVER_DIFFERS)
		found->pool = mp;
}

/* A pool whose driver differs in this process; NULL if there is none. */
static inline const char *
dpdk_sys_pool_of_other_driver(void)
{
	struct dpdk_sys_pool found = {0};

	rte_mempool_walk(look_at_driver, &found);
	return found.pool == NULL ? NULL : found.pool->name;
}

static inline void
look_at_pool(struct rte_mempool *mp, void *state)
{
	struct dpdk_sys_pool *found = (struct dpdk_sys_pool *)state;
	const struct rte_pktmbuf_pool_private *own;

	if (strcmp(mp->name, found->name) != 0)
		return;
	found->state = DPDK_SYS_POOL_OTHER;
	if (mp->private_data_size < sizeof(*own))
		return;
	own = (const struct rte_pktmbuf_pool_private *)rte_mempool_get_priv(mp);
	found->data_room = own->mbuf_data_room_size;
	found->private_len = own->mbuf_priv_size;
	if (own->flags != 0 || mp->elt_size != sizeof(struct rte_mbuf) + found->private_len + found->data_room)
		return;
	found->state = DPDK_SYS_POOL_DRIVER;
	if (dpdk_sys_pool_driver(mp) != DPDK_SYS_DRIVER_SHARED)
		return;
	found->state = DPDK_SYS_POOL_EXHAUSTED;
	found->kept = rte_pktmbuf_alloc(mp);
	if (found->kept == NULL)
		return;
	found->pool = mp;
	found->size = mp->size;
	found->state = DPDK_SYS_POOL_FOUND;
}

/* The pool of this name, with one of its mbufs taken out. The list of pools is locked meanwhile: whoever looks whether a pool
 * is unused before it frees it has to lock it too.
 */
static inline void
dpdk_sys_pool_find(const char *name, struct dpdk_sys_pool *found)
{
	const struct dpdk_sys_pool none = {.name = name, .state = DPDK_SYS_POOL_MISSING};

	*found = none;
	rte_mempool_walk(look_at_pool, found);
}

/* What is known of a ring that another process has made. */
struct dpdk_sys_ring {
	struct rte_ring *ring;
	uint32_t capacity;
	/* Its memory has the size of so many elements of the size asked for. */
	uint8_t fits;
	uint8_t several_producers;
	uint8_t several_consumers;
};

/* The ring of this name, in the light of elements of so many bytes; NULL if there is none. */
static inline void
dpdk_sys_ring_find(const char *name, uint32_t element_len, struct dpdk_sys_ring *found)
{
	struct rte_ring *ring = rte_ring_lookup(name);
	const struct dpdk_sys_ring none = {0};

	*found = none;
	if (ring == NULL)
		return;
	found->ring = ring;
	found->capacity = ring->capacity;
	found->fits = ring->memzone != NULL &&
		(ssize_t)ring->memzone->len == rte_ring_get_memsize_elem(element_len, ring->size);
	found->several_producers = ring->prod.sync_type != RTE_RING_SYNC_ST;
	found->several_consumers = ring->cons.sync_type != RTE_RING_SYNC_ST;
}

/* Takes the calling thread's number of an lcore away, as rte_thread_unregister() does: it uses no lcore's cache any more. */
static inline void
dpdk_sys_forget_lcore(void)
{
	RTE_PER_LCORE(_lcore_id) = LCORE_ID_ANY;
}

/* Frees the replies that rte_mp_request_sync() has allocated; the descriptors in them are left. */
static inline void
dpdk_sys_mp_reply_free(struct rte_mp_reply *reply)
{
	free(reply->msgs);
	reply->msgs = NULL;
	reply->nb_received = 0;
}

/* Has programs that this one starts not inherit a descriptor; negative if there is none of this number. */
static inline int
dpdk_sys_close_on_exec(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Has whoever cancels this thread, as rte_eal_cleanup() does, wait until it may be cancelled again; what was before. */
static inline int
dpdk_sys_hold_cancellation(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void
dpdk_sys_release_cancellation(int before)
{
	pthread_setcancelstate(before, &before);
}

#endif
