/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Rules for received frames.
 */
#ifndef DPDK_SYS_FLOW_H
#define DPDK_SYS_FLOW_H

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

#endif
