/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Mbufs: offsets of their fields, their flags, and mbufs whose data is elsewhere.
 */
#ifndef DPDK_SYS_MBUF_H
#define DPDK_SYS_MBUF_H

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

#endif
