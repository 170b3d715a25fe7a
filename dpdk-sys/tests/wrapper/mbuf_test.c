/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Fields of mbufs, and mbufs whose data is elsewhere.
 */

#include "eal.h"

#include "check.h"

static struct rte_mempool *pool;
static unsigned int nb_freed;

static void
count_free(void *start, void *opaque)
{
	CHECK(opaque == &nb_freed);
	memset(start, 0xff, 1);
	nb_freed++;
}

static void
test_lengths(void)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	/* The widest that the fields hold: 7, 9, 8 and 16 bits. */
	mbuf->tx_offload = dpdk_sys_mbuf_tx_offload(127, 511, 255, 65535);
	CHECK_NUMBER(mbuf->l2_len, 127);
	CHECK_NUMBER(mbuf->l3_len, 511);
	CHECK_NUMBER(mbuf->l4_len, 255);
	CHECK_NUMBER(mbuf->tso_segsz, 65535);
	CHECK_NUMBER(mbuf->outer_l2_len, 0);
	CHECK_NUMBER(dpdk_sys_mbuf_l2_len(mbuf), 127);
	CHECK_NUMBER(dpdk_sys_mbuf_tso_segsz(mbuf), 65535);
	CHECK_NUMBER(dpdk_sys_mbuf_tx_offload(0, 0, 0, 0), 0);
	rte_pktmbuf_free(mbuf);
}

static void
test_external_buffer(uint16_t len)
{
	struct rte_mbuf_ext_shared_info shared;
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool), *second = rte_pktmbuf_alloc(pool);
	char *buffer = malloc(len);

	nb_freed = 0;
	dpdk_sys_pktmbuf_attach_extbuf(mbuf, buffer, 1, len, &shared, count_free, &nb_freed);
	CHECK_NUMBER(rte_mbuf_ext_refcnt_read(&shared), 1);
	CHECK_NUMBER(mbuf->buf_len, len);
	CHECK((mbuf->ol_flags & DPDK_SYS_MBUF_F_EXTERNAL) != 0);
	rte_pktmbuf_attach(second, mbuf);
	rte_pktmbuf_free(mbuf);
	CHECK_NUMBER(nb_freed, 0);
	rte_pktmbuf_free(second);
	CHECK_NUMBER(nb_freed, 1);
	free(buffer);
}

/* A copy keeps the marks of its own buffer, and takes all others. */
static void
test_copied_header(void)
{
	const uint64_t elsewhere = RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	struct rte_mbuf *from = rte_pktmbuf_alloc(pool), *to = rte_pktmbuf_alloc(pool);

	from->ol_flags = elsewhere | RTE_MBUF_F_RX_RSS_HASH;
	from->port = 65535;
	from->vlan_tci = 65535;
	to->ol_flags = 0;
	dpdk_sys_pktmbuf_copy_hdr(to, from);
	CHECK_NUMBER(to->ol_flags, RTE_MBUF_F_RX_RSS_HASH);
	CHECK_NUMBER(to->port, 65535);
	CHECK_NUMBER(to->vlan_tci, 65535);
	to->ol_flags = RTE_MBUF_F_EXTERNAL;
	from->ol_flags = 0;
	dpdk_sys_pktmbuf_copy_hdr(to, from);
	CHECK_NUMBER(to->ol_flags, RTE_MBUF_F_EXTERNAL);
	to->ol_flags = 0;
	rte_pktmbuf_free(from);
	rte_pktmbuf_free(to);
}

static void
test_pinned_mark(void)
{
	const unsigned int room = 256, nb_mbufs = 4;
	char *memory = aligned_alloc(64, (size_t)room * nb_mbufs);
	const struct rte_pktmbuf_extmem area = {.buf_ptr = memory,
		.buf_iova = 1,
		.buf_len = (size_t)room * nb_mbufs,
		.elt_size = (uint16_t)room};
	struct rte_mempool *pinned = dpdk_sys_pktmbuf_pool_create_extbuf(
		"pinned", nb_mbufs, 0, 0, (uint16_t)room, SOCKET_ID_ANY, &area, 1);
	struct rte_mbuf *head, *next;

	if (!CHECK(pinned != NULL))
		return;
	head = rte_pktmbuf_alloc(pinned);
	next = rte_pktmbuf_alloc(pinned);
	CHECK(rte_pktmbuf_chain(head, next) == 0);
	/* As a driver does that writes over the flags; only mbufs of such pools get the mark back.
	 */
	head->ol_flags = 0;
	next->ol_flags = 0;
	next->next = rte_pktmbuf_alloc(pool);
	head->nb_segs = 3;
	dpdk_sys_pktmbuf_mark_pinned(head);
	CHECK_NUMBER(head->ol_flags, RTE_MBUF_F_EXTERNAL);
	CHECK_NUMBER(next->ol_flags, RTE_MBUF_F_EXTERNAL);
	CHECK_NUMBER(next->next->ol_flags, 0);
	dpdk_sys_pktmbuf_mark_pinned(NULL);
	rte_pktmbuf_free(head);
	CHECK(dpdk_sys_mempool_full(pinned));
	rte_mempool_free(pinned);
	free(memory);

	rte_errno = 0;
	CHECK(dpdk_sys_pktmbuf_pool_create_extbuf(
		      "none", nb_mbufs, 0, 0, (uint16_t)room, SOCKET_ID_ANY, NULL, 0) == NULL);
	CHECK_NUMBER(rte_errno, ENOMEM);
}

/* The hash of the Toeplitz verification suite: 66.9.149.187:2794 to 161.142.100.80:1766. */
static void
test_hash(void)
{
	static const uint8_t key[] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
		0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
		0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
		0x01, 0xfa};
	uint32_t words[] = {0x420995bb, 0xa18e6450, 0x0aea06e6};

	CHECK_NUMBER(dpdk_sys_softrss(words, 3, key), 0x51ccc178);
	CHECK_NUMBER(dpdk_sys_softrss(words, 0, key), 0);
}

int
main(void)
{
	start_eal("mbuf", NULL);
	pool = rte_pktmbuf_pool_create("pool", 15, 0, 0, 256, SOCKET_ID_ANY);
	if (!CHECK(pool != NULL))
		return check_result();
	test_lengths();
	test_external_buffer(1);
	test_external_buffer(65535);
	test_copied_header();
	test_pinned_mark();
	test_hash();
	CHECK(dpdk_sys_mempool_full(pool));
	rte_mempool_free(pool);
	rte_eal_cleanup();
	return check_result();
}
