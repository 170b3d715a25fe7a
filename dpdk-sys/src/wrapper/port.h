/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Ports: their configuration, links and interrupts.
 */
#ifndef DPDK_SYS_PORT_H
#define DPDK_SYS_PORT_H

/* Macros with casts, of ports. */
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

/* The TX offloads that a port is configured for; none if there is no such port. DPDK calls the function experimental. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline uint64_t
dpdk_sys_eth_tx_offloads(uint16_t port_id)
{
	struct rte_eth_conf conf;

	return rte_eth_dev_conf_get(port_id, &conf) == 0 ? conf.txmode.offloads : 0;
}
#pragma GCC diagnostic pop

/* The mode of flow control is an enum: 1 is RX_PAUSE, 2 TX_PAUSE, 3 both. */
_Static_assert(RTE_ETH_FC_RX_PAUSE == 1 && RTE_ETH_FC_TX_PAUSE == 2 && RTE_ETH_FC_FULL == 3, "rte_eth_fc_mode");

/* The driver's own arguments of a device, such as "size=64,copy=1"; NULL without any. */
static inline const char *
dpdk_sys_dev_args(const struct rte_device *dev)
{
	const struct rte_devargs *devargs = rte_dev_devargs(dev);

	return devargs != NULL ? devargs->args : NULL;
}

/* Whether a device is a virtual one, as --vdev makes them. */
static inline int
dpdk_sys_dev_is_virtual(const struct rte_device *dev)
{
	return strcmp(rte_bus_name(rte_dev_bus(dev)), "vdev") == 0;
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

#endif
