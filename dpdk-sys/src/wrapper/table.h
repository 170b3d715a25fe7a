/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Tables of routes, reorder buffers and the reassembly of datagrams.
 */
#ifndef DPDK_SYS_TABLE_H
#define DPDK_SYS_TABLE_H

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

#endif
