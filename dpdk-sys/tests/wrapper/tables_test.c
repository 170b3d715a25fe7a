/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Tables of routes, reorder buffers and the reassembly of datagrams.
 */

#include "eal.h"

#include "check.h"

static const uint8_t nets[3][16] = {{0x20, 1}, {0x20, 1, 0xd, 0xb8}, {0}};

static void
test_lpm6(void)
{
	const struct rte_lpm6_config config = {.max_rules = 16, .number_tbl8s = 256};
	struct rte_lpm6 *lpm = rte_lpm6_create("lpm6", SOCKET_ID_ANY, &config);
	int32_t hops[3];
	uint32_t hop = 0;

	if (!CHECK(lpm != NULL))
		return;
	CHECK_NUMBER(dpdk_sys_lpm6_add(lpm, nets[0], 16, 1), 0);
	CHECK_NUMBER(dpdk_sys_lpm6_add(lpm, nets[1], 128, (1 << 21) - 1), 0);
	CHECK(dpdk_sys_lpm6_add(lpm, nets[0], 0, 1) < 0);
	CHECK(dpdk_sys_lpm6_add(lpm, nets[0], 129, 1) < 0);
	CHECK_NUMBER(dpdk_sys_lpm6_is_rule_present(lpm, nets[1], 128, &hop), 1);
	CHECK_NUMBER(hop, (1 << 21) - 1);
	CHECK_NUMBER(dpdk_sys_lpm6_is_rule_present(lpm, nets[1], 127, &hop), 0);
	CHECK_NUMBER(dpdk_sys_lpm6_lookup(lpm, nets[0], &hop), 0);
	CHECK_NUMBER(hop, 1);
	CHECK_NUMBER(dpdk_sys_lpm6_lookup_bulk(lpm, nets, hops, 3), 0);
	CHECK(hops[0] == 1 && hops[1] == (1 << 21) - 1 && hops[2] == -1);
	CHECK_NUMBER(dpdk_sys_lpm6_lookup_bulk(lpm, nets, hops, 0), 0);
	CHECK_NUMBER(dpdk_sys_lpm6_delete(lpm, nets[0], 16), 0);
	CHECK(dpdk_sys_lpm6_delete(lpm, nets[0], 16) < 0);
	rte_lpm6_free(lpm);
}

static void
test_fib(void)
{
	struct rte_fib *fib =
		dpdk_sys_fib_create("fib", SOCKET_ID_ANY, 16, 7, RTE_FIB_DIR24_8_1B, 1);
	uint64_t hop = 0, hops[2];
	uint32_t ips[] = {0x0a000001, UINT32_MAX};

	if (!CHECK(fib != NULL))
		return;
	CHECK_NUMBER(rte_fib_add(fib, 0x0a000001, 32, 127), 0);
	CHECK_NUMBER(rte_fib_lookup_bulk(fib, ips, hops, 2), 0);
	CHECK(hops[0] == 127 && hops[1] == 7);
	CHECK_NUMBER(dpdk_sys_fib_rule(fib, 0x0a000001, 32, &hop), 1);
	CHECK_NUMBER(hop, 127);
	CHECK_NUMBER(dpdk_sys_fib_rule(fib, 0x0a000001, 31, &hop), 0);
	CHECK_NUMBER(dpdk_sys_fib_rule(fib, UINT32_MAX, 0, &hop), 0);
	rte_fib_free(fib);
	/* Without groups there is no table; other numbers are refused. */
	fib = dpdk_sys_fib_create("dummy", SOCKET_ID_ANY, 1, UINT64_MAX, RTE_FIB_DIR24_8_8B, 0);
	CHECK(fib != NULL);
	rte_fib_free(fib);
	CHECK(dpdk_sys_fib_create("none", SOCKET_ID_ANY, 16, 0, 4, 1) == NULL);
	CHECK(dpdk_sys_fib_create("none", SOCKET_ID_ANY, 16, 0, UINT32_MAX, 1) == NULL);
	CHECK(dpdk_sys_fib_create("none", SOCKET_ID_ANY, 16, 0, RTE_FIB_DIR24_8_1B, UINT32_MAX) ==
		NULL);
	CHECK(dpdk_sys_fib_create("none", SOCKET_ID_ANY, UINT32_MAX, 0, RTE_FIB_DIR24_8_1B, 1) ==
		NULL);
}

/* A route of 25 bits or more takes groups; when none is left, a new route leaves nothing. */
static void
test_fib6(void)
{
	struct rte_fib6 *fib =
		dpdk_sys_fib6_create("fib6", SOCKET_ID_ANY, 64, 5, RTE_FIB6_TRIE_2B, 16);
	uint64_t hop = 0, hops[2];
	uint8_t ip[16] = {0x20, 1};

	if (!CHECK(fib != NULL))
		return;
	CHECK_NUMBER(dpdk_sys_fib6_add(fib, nets[0], 16, 1), 0);
	CHECK_NUMBER(dpdk_sys_fib6_add(fib, nets[0], 16, 2), 0);
	CHECK_NUMBER(dpdk_sys_fib6_rule(fib, nets[0], 16, &hop), 1);
	CHECK_NUMBER(hop, 2);
	/* The default route, and one hop more than its entries hold. */
	CHECK_NUMBER(dpdk_sys_fib6_add(fib, nets[2], 0, 0), 0);
	CHECK(dpdk_sys_fib6_add(fib, nets[1], 32, 1 << 15) != 0);
	CHECK_NUMBER(dpdk_sys_fib6_rule(fib, nets[1], 32, &hop), 0);
	CHECK_NUMBER(dpdk_sys_fib6_add(fib, nets[1], 128, 3), 0);
	CHECK(dpdk_sys_fib6_add(fib, nets[1], 129, 3) != 0);
	ip[4] = 1;
	CHECK(dpdk_sys_fib6_add(fib, ip, 128, 4) != 0);
	CHECK_NUMBER(dpdk_sys_fib6_rule(fib, ip, 128, &hop), 0);
	CHECK_NUMBER(dpdk_sys_fib6_lookup_bulk(fib, nets, hops, 2), 0);
	CHECK(hops[0] == 2 && hops[1] == 3);
	CHECK_NUMBER(dpdk_sys_fib6_delete(fib, nets[1], 128), 0);
	CHECK(dpdk_sys_fib6_delete(fib, nets[1], 128) < 0);
	CHECK_NUMBER(dpdk_sys_fib6_rule(fib, nets[1], 128, &hop), 0);
	rte_fib6_free(fib);
	fib = dpdk_sys_fib6_create("dummy6", SOCKET_ID_ANY, 1, 0, RTE_FIB6_TRIE_8B, 0);
	CHECK(fib != NULL);
	rte_fib6_free(fib);
	CHECK(dpdk_sys_fib6_create("none", SOCKET_ID_ANY, 16, 0, 0, 16) == NULL);
	CHECK(dpdk_sys_fib6_create("none", SOCKET_ID_ANY, UINT32_MAX, 0, RTE_FIB6_TRIE_2B, 16) ==
		NULL);
}

static void
test_reorder(struct rte_mempool *pool, uint32_t size)
{
	struct rte_reorder_buffer *buffer = dpdk_sys_reorder_create(SOCKET_ID_ANY, size);
	struct rte_mbuf *mbuf, *drained[4];
	const uint32_t numbers[] = {UINT32_MAX, 1, 0};

	if (!CHECK(buffer != NULL))
		return;
	for (size_t i = 0; i < RTE_DIM(numbers); i++) {
		mbuf = rte_pktmbuf_alloc(pool);
		*RTE_MBUF_DYNFIELD(mbuf, dpdk_sys_reorder_seqn_offset(), uint32_t *) = numbers[i];
		if (dpdk_sys_reorder_insert(buffer, mbuf) != 0)
			rte_pktmbuf_free(mbuf);
	}
	rte_pktmbuf_free_bulk(drained, rte_reorder_drain(buffer, drained, 4));
	/* What is still in it is freed with it. */
	mbuf = rte_pktmbuf_alloc(pool);
	*RTE_MBUF_DYNFIELD(mbuf, dpdk_sys_reorder_seqn_offset(), uint32_t *) = 1u << 31;
	CHECK_NUMBER(dpdk_sys_reorder_insert(buffer, mbuf), -ERANGE);
	rte_pktmbuf_free(mbuf);
	dpdk_sys_reorder_free(buffer);
	CHECK(dpdk_sys_mempool_full(pool));
}

static void
test_reorder_sizes(struct rte_mempool *pool)
{
	test_reorder(pool, 2);
	test_reorder(pool, 1 << 16);
	CHECK(dpdk_sys_reorder_create(SOCKET_ID_ANY, 0) == NULL);
	CHECK(dpdk_sys_reorder_create(SOCKET_ID_ANY, 3) == NULL);
	CHECK(dpdk_sys_reorder_create(SOCKET_ID_ANY, 1u << 31) == NULL);
	CHECK(dpdk_sys_reorder_create(SOCKET_ID_ANY, UINT32_MAX) == NULL);
}

/* An Ethernet header, one of IPv4 or IPv6, and 16 bytes of data. */
static struct rte_mbuf *
fragment(struct rte_mempool *pool, bool v6, uint16_t offset, bool more, void **header)
{
	const uint16_t l3_len = v6 ? sizeof(struct rte_ipv6_hdr) + RTE_IPV6_FRAG_HDR_SIZE
				   : sizeof(struct rte_ipv4_hdr);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	char *data = rte_pktmbuf_append(mbuf, (uint16_t)(RTE_ETHER_HDR_LEN + l3_len + 16));

	memset(data, 0, RTE_ETHER_HDR_LEN + l3_len + (size_t)16);
	*header = data + RTE_ETHER_HDR_LEN;
	mbuf->tx_offload = dpdk_sys_mbuf_tx_offload(RTE_ETHER_HDR_LEN, l3_len, 0, 0);
	if (v6) {
		struct rte_ipv6_hdr *ip = *header;
		struct rte_ipv6_fragment_ext *ext = (struct rte_ipv6_fragment_ext *)(ip + 1);

		ip->proto = IPPROTO_FRAGMENT;
		ip->payload_len = rte_cpu_to_be_16(RTE_IPV6_FRAG_HDR_SIZE + 16);
		ext->frag_data = rte_cpu_to_be_16((uint16_t)(offset << 3 | more));
		ext->next_header = IPPROTO_UDP;
	} else {
		struct rte_ipv4_hdr *ip = *header;

		ip->version_ihl = RTE_IPV4_VHL_DEF;
		ip->total_length = rte_cpu_to_be_16((uint16_t)(l3_len + 16));
		ip->fragment_offset =
			rte_cpu_to_be_16((uint16_t)((more ? RTE_IPV4_HDR_MF_FLAG : 0) | offset));
	}
	return mbuf;
}

static void
test_reassembly(struct rte_mempool *pool, bool v6)
{
	struct rte_ip_frag_tbl *table =
		rte_ip_frag_table_create(4, 4, 16, UINT64_MAX / 2, SOCKET_ID_ANY);
	struct rte_mbuf *whole = NULL;
	uint32_t freed = 99;
	void *header;

	if (!CHECK(table != NULL))
		return;
	/* In order, then one fragment too many: the table frees what it has. */
	for (uint16_t i = 0; i < 2; i++) {
		struct rte_mbuf *mbuf = fragment(pool, v6, (uint16_t)(i * 2), i == 0, &header);

		whole = v6 ? dpdk_sys_ipv6_reassemble(table, mbuf, 1, header, &freed)
			   : dpdk_sys_ipv4_reassemble(table, mbuf, 1, header, &freed);
		CHECK_NUMBER(freed, 0);
	}
	if (CHECK(whole != NULL)) {
		CHECK_NUMBER(whole->nb_segs, 2);
		rte_pktmbuf_free(whole);
	}
	freed = 0;
	for (uint16_t i = 0; i <= RTE_LIBRTE_IP_FRAG_MAX_FRAG && freed == 0; i++) {
		struct rte_mbuf *mbuf = fragment(pool, v6, (uint16_t)(i * 2), true, &header);

		CHECK((v6 ? dpdk_sys_ipv6_reassemble(table, mbuf, 1, header, &freed)
			  : dpdk_sys_ipv4_reassemble(table, mbuf, 1, header, &freed)) == NULL);
	}
	CHECK(freed > 1);
	rte_ip_frag_table_destroy(table);
	CHECK(dpdk_sys_mempool_full(pool));
}

int
main(void)
{
	struct rte_mempool *pool;

	start_eal("tables", NULL);
	pool = rte_pktmbuf_pool_create("pool", 63, 0, 0, 512, SOCKET_ID_ANY);
	if (!CHECK(pool != NULL))
		return check_result();
	test_lpm6();
	test_fib();
	test_fib6();
	test_reorder_sizes(pool);
	test_reassembly(pool, false);
	test_reassembly(pool, true);
	rte_mempool_free(pool);
	rte_eal_cleanup();
	return check_result();
}
