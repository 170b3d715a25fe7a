/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <string.h>

#include "kernels.h"

/* Tags that are looked behind. */
#define TAGS 2
/* Of IPv6's fragment header: both bytes with the offset and the flag, in network order. */
#define FRAGMENT_OFFSET RTE_BE16(0xfff8)
#define MORE_FRAGMENTS RTE_BE16(0x0001)

/* What is left of the frame. */
struct rest {
	const uint8_t *bytes;
	size_t length;
};

static inline void
skip(struct rest *rest, size_t length)
{
	rest->bytes += length;
	rest->length -= length;
}

/* True if the header is malformed; the protocols without ports have none. */
static inline bool
read_ports(struct rest rest, bool more_fragments, struct five_tuple *tuple)
{
	if (tuple->protocol == IPPROTO_UDP) {
		const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)rest.bytes;
		size_t length;

		if (rest.length < sizeof(*udp))
			return true;
		length = rte_be_to_cpu_16(udp->dgram_len);
		if (length < sizeof(*udp) || (length > rest.length && !more_fragments))
			return true;
		tuple->source_port = rte_be_to_cpu_16(udp->src_port);
		tuple->destination_port = rte_be_to_cpu_16(udp->dst_port);
	} else if (tuple->protocol == IPPROTO_TCP) {
		const struct rte_tcp_hdr *tcp = (const struct rte_tcp_hdr *)rest.bytes;
		size_t length;

		if (rest.length < sizeof(*tcp))
			return true;
		length = (tcp->data_off >> 4) * 4;
		if (length < sizeof(*tcp) || length > rest.length)
			return true;
		tuple->source_port = rte_be_to_cpu_16(tcp->src_port);
		tuple->destination_port = rte_be_to_cpu_16(tcp->dst_port);
	}
	return false;
}

static inline bool
read_ipv4(struct rest rest, struct five_tuple *tuple)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)rest.bytes;
	size_t total, header;
	uint16_t fragment;

	if (rest.length < sizeof(*ip))
		return true;
	if (ip->version_ihl < RTE_IPV4_VHL_DEF || ip->version_ihl > 0x4f)
		return true;
	total = rte_be_to_cpu_16(ip->total_length);
	header = rte_ipv4_hdr_len(ip);
	if (total > rest.length || total < header)
		return true;
	tuple->version = 4;
	tuple->protocol = ip->next_proto_id;
	memcpy(tuple->source, &ip->src_addr, sizeof(ip->src_addr));
	memcpy(tuple->destination, &ip->dst_addr, sizeof(ip->dst_addr));
	fragment = rte_be_to_cpu_16(ip->fragment_offset);
	if ((fragment & RTE_IPV4_HDR_OFFSET_MASK) != 0)
		return false;
	rest.length = total;
	skip(&rest, header);
	return read_ports(rest, (fragment & RTE_IPV4_HDR_MF_FLAG) != 0, tuple);
}

static inline bool
read_ipv6(struct rest rest, struct five_tuple *tuple)
{
	const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)rest.bytes;
	bool more_fragments = false;
	uint8_t next;

	if (rest.length < sizeof(*ip) || rest.bytes[0] >> 4 != 6)
		return true;
	skip(&rest, sizeof(*ip));
	if (rte_be_to_cpu_16(ip->payload_len) > rest.length)
		return true;
	rest.length = rte_be_to_cpu_16(ip->payload_len);
	next = ip->proto;
	tuple->version = 6;
	memcpy(tuple->source, &ip->src_addr, sizeof(tuple->source));
	memcpy(tuple->destination, &ip->dst_addr, sizeof(tuple->destination));
	while (next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS ||
		next == IPPROTO_FRAGMENT) {
		const bool is_fragment = next == IPPROTO_FRAGMENT;
		uint16_t fragment;
		size_t length;

		/* No extension header is shorter than this. */
		if (rest.length < RTE_IPV6_FRAG_HDR_SIZE)
			return true;
		length = is_fragment ? RTE_IPV6_FRAG_HDR_SIZE : (rest.bytes[1] + (size_t)1) * 8;
		if (length > rest.length)
			return true;
		next = rest.bytes[0];
		if (is_fragment) {
			memcpy(&fragment, rest.bytes + 2, sizeof(fragment));
			if ((fragment & FRAGMENT_OFFSET) != 0) {
				tuple->protocol = next;
				return false;
			}
			more_fragments |= (fragment & MORE_FRAGMENTS) != 0;
		}
		skip(&rest, length);
	}
	tuple->protocol = next;
	return read_ports(rest, more_fragments, tuple);
}

bool
KERNEL(w4)(const uint8_t *restrict frame, size_t length, struct five_tuple *restrict tuple)
{
	const struct rte_ether_hdr *ether = (const struct rte_ether_hdr *)frame;
	struct rest rest = {frame, length};
	rte_be16_t type;

	if (length < sizeof(*ether))
		return true;
	type = ether->ether_type;
	skip(&rest, sizeof(*ether));
	for (int tags = 0; tags < TAGS; tags++) {
		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		if (rest.length < sizeof(struct rte_vlan_hdr))
			return true;
		type = ((const struct rte_vlan_hdr *)rest.bytes)->eth_proto;
		skip(&rest, sizeof(struct rte_vlan_hdr));
	}
	tuple->source_port = 0;
	tuple->destination_port = 0;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return read_ipv4(rest, tuple);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return read_ipv6(rest, tuple);
	return true;
}
