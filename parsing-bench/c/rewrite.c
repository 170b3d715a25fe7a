/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>
#include <string.h>

#include "kernels.h"

/* The headers of Ethernet and IPv4 without options. */
#define HEADERS_LEN (sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr))
/* In network order. */
#define FRAGMENT_OFFSET RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)
#define MORE_FRAGMENTS RTE_BE16(RTE_IPV4_HDR_MF_FLAG)

static inline struct rte_ipv4_hdr *
ipv4_of(uint8_t *frame)
{
	return (struct rte_ipv4_hdr *)(frame + sizeof(struct rte_ether_hdr));
}

static inline bool
is_ipv4(const uint8_t *frame, size_t length)
{
	const struct rte_ether_hdr *ether = (const struct rte_ether_hdr *)frame;

	return length >= HEADERS_LEN && ether->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4);
}

/* Whether the packet lies within the frame, and its header within the packet; how long the payload
 * is. */
static inline bool
is_well_formed(const struct rte_ipv4_hdr *ip, size_t room, uint32_t *payload)
{
	const uint32_t total = rte_be_to_cpu_16(ip->total_length);
	const uint32_t header = rte_ipv4_hdr_len(ip);

	*payload = total - header;
	/* Version 4 and five double words or more are one range of values. */
	return ip->version_ihl >= RTE_IPV4_VHL_DEF && ip->version_ihl <= 0x4f && total <= room &&
	       total >= header;
}

static inline struct rte_udp_hdr *
udp_of(struct rte_ipv4_hdr *ip)
{
	return (struct rte_udp_hdr *)((uint8_t *)ip + rte_ipv4_hdr_len(ip));
}

static inline uint32_t
address_of(const struct rule *rule)
{
	uint32_t address;

	memcpy(&address, rule->address, sizeof(address));
	return address;
}

static inline void
write_addresses(uint8_t *frame, const struct rule *rule)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)frame;

	/* Both MAC addresses, the destination first. */
	memcpy(ether, rule, offsetof(struct rule, address));
	ipv4_of(frame)->dst_addr = address_of(rule);
}

/* Adding the swapped halves brings the carry of the lower half to the upper. */
static inline uint16_t
fold(uint32_t sum)
{
	return (sum + (sum << 16 | sum >> 16)) >> 16;
}

/* RFC 1624, equation 3: what a change of the address adds to a checksum, half folded. */
static inline uint32_t
change_of(uint32_t old, uint32_t new)
{
	const uint64_t sum = (uint64_t)(uint32_t)~old + new;

	return (uint32_t)(sum & 0xffff) + (uint32_t)(sum >> 16);
}

static inline uint16_t
updated(uint16_t checksum, uint32_t change)
{
	return ~fold((uint16_t)~checksum + change);
}

bool
KERNEL(w1)(uint8_t *restrict frame, size_t length, const struct rule *restrict rule)
{
	if (!is_ipv4(frame, length))
		return true;
	write_addresses(frame, rule);
	return false;
}

bool
KERNEL(w2)(uint8_t *restrict frame, size_t length, const struct rule *restrict rule)
{
	struct rte_ipv4_hdr *ip = ipv4_of(frame);
	uint32_t payload, change;

	if (!is_ipv4(frame, length))
		return true;
	if (!is_well_formed(ip, length - sizeof(struct rte_ether_hdr), &payload))
		return true;
	change = change_of(ip->dst_addr, address_of(rule));
	if (ip->next_proto_id == IPPROTO_UDP && (ip->fragment_offset & FRAGMENT_OFFSET) == 0) {
		struct rte_udp_hdr *udp = udp_of(ip);
		uint32_t length;

		if (payload < sizeof(*udp))
			return true;
		length = rte_be_to_cpu_16(udp->dgram_len);
		/* A length below that of the header wraps round: what fits is right, and that is
		 * one comparison. */
		if (length - sizeof(*udp) > payload - sizeof(*udp) &&
			(length < sizeof(*udp) || (ip->fragment_offset & MORE_FRAGMENTS) == 0))
			return true;
		if (udp->dgram_cksum != 0) {
			const uint16_t checksum = updated(udp->dgram_cksum, change);

			udp->dgram_cksum = checksum == 0 ? 0xffff : checksum;
		}
	}
	ip->hdr_checksum = updated(ip->hdr_checksum, change);
	write_addresses(frame, rule);
	return false;
}

/* The checksum of a datagram, which is never 0; not rte_ipv4_udptcp_cksum(), which takes all of the
 * packet's payload for the datagram. */
static inline uint16_t
udp_checksum(const struct rte_ipv4_hdr *ip, const struct rte_udp_hdr *udp)
{
	uint32_t sum = rte_raw_cksum(udp, rte_be_to_cpu_16(udp->dgram_len));
	uint16_t checksum;

	sum += rte_raw_cksum(&ip->src_addr, 2 * sizeof(ip->src_addr));
	sum += RTE_BE16(IPPROTO_UDP) + udp->dgram_len;
	checksum = ~fold(sum);
	return checksum == 0 ? 0xffff : checksum;
}

bool
KERNEL(w3)(uint8_t *restrict frame, size_t length, const struct rule *restrict rule)
{
	struct rte_ipv4_hdr *ip = ipv4_of(frame);
	struct rte_udp_hdr *udp = NULL;
	uint32_t payload;

	if (!is_ipv4(frame, length))
		return true;
	if (!is_well_formed(ip, length - sizeof(struct rte_ether_hdr), &payload))
		return true;
	if ((ip->fragment_offset & (FRAGMENT_OFFSET | MORE_FRAGMENTS)) != 0)
		return true;
	if (ip->next_proto_id == IPPROTO_UDP) {
		udp = udp_of(ip);
		if (payload < sizeof(*udp) || rte_be_to_cpu_16(udp->dgram_len) > payload ||
			rte_be_to_cpu_16(udp->dgram_len) < sizeof(*udp))
			return true;
	}
	write_addresses(frame, rule);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (udp != NULL && udp->dgram_cksum != 0) {
		udp->dgram_cksum = 0;
		udp->dgram_cksum = udp_checksum(ip, udp);
	}
	return false;
}
