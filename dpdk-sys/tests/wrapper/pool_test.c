/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Pools, their caches and drivers, and what another process finds out about them.
 */

#include "eal.h"

#include "check.h"

enum { NB_MBUFS = 255 };

static struct rte_mempool *
make_pool(const char *name, unsigned int cache, const char *driver)
{
	return dpdk_sys_pktmbuf_pool_create(name, NB_MBUFS, cache, 8, 256, SOCKET_ID_ANY, driver);
}

static void
test_errors(void)
{
	struct rte_mempool *pool = make_pool("once", 0, NULL);

	CHECK(pool != NULL);
	CHECK(make_pool("once", 0, NULL) == NULL);
	CHECK_NUMBER(rte_errno, EEXIST);
	CHECK(make_pool("other", 0, "no driver") == NULL);
	CHECK(rte_errno != 0);
	CHECK(make_pool("a name that is longer than DPDK's room", 0, NULL) == NULL);
	CHECK_NUMBER(rte_errno, ENAMETOOLONG);
	rte_mempool_free(pool);
	CHECK_NUMBER(dpdk_sys_mempool_driver_known("ring_mp_mc"), 1);
	CHECK_NUMBER(dpdk_sys_mempool_driver_known("ring_mp_m"), 0);
	CHECK_NUMBER(dpdk_sys_mempool_driver_known(""), 0);
}

static void
test_full(const char *driver)
{
	struct rte_mempool *pool = make_pool("full", 32, driver);
	struct rte_mbuf *mbuf;

	if (!CHECK(pool != NULL))
		return;
	CHECK_NUMBER(dpdk_sys_mempool_full(pool), 1);
	mbuf = rte_pktmbuf_alloc(pool);
	CHECK_NUMBER(dpdk_sys_mempool_full(pool), 0);
	CHECK(dpdk_sys_mempool_cached(pool, rte_lcore_id()) > 0);
	CHECK_NUMBER(dpdk_sys_mempool_cached(pool, RTE_MAX_LCORE - 1), 0);
	CHECK_NUMBER(dpdk_sys_mempool_cached(pool, RTE_MAX_LCORE), 0);
	CHECK_NUMBER(dpdk_sys_mempool_cached(pool, UINT32_MAX), 0);
	rte_pktmbuf_free(mbuf);
	CHECK_NUMBER(dpdk_sys_mempool_full(pool), 1);
	dpdk_sys_mempool_flush(pool);
	CHECK_NUMBER(dpdk_sys_mempool_cached(pool, rte_lcore_id()), 0);
	CHECK_NUMBER(dpdk_sys_mempool_full(pool), 1);
	rte_mempool_free(pool);
}

/* More mbufs than the function collects at a time, in chains, and some of another pool. */
static void
test_cache(unsigned int nb_chains, unsigned int nb_segments)
{
	struct rte_mempool *pool = make_pool("cached", 0, NULL),
			   *other = make_pool("others", 0, NULL);
	struct rte_mempool_cache *cache = rte_mempool_cache_create(64, SOCKET_ID_ANY);
	struct rte_mbuf *chains[NB_MBUFS + 1];
	struct rte_mbuf *shared = rte_pktmbuf_alloc(other), *reference = rte_pktmbuf_alloc(pool);

	if (!CHECK(pool != NULL && other != NULL && cache != NULL))
		return;
	rte_pktmbuf_attach(reference, shared);
	CHECK(dpdk_sys_pktmbuf_alloc_cached(pool, cache, chains, NB_MBUFS + 1) != 0);
	CHECK_NUMBER(dpdk_sys_pktmbuf_alloc_cached(pool, cache, chains, 0), 0);
	CHECK_NUMBER(dpdk_sys_pktmbuf_alloc_cached(pool, cache, chains, nb_chains), 0);
	for (unsigned int i = 0; i < nb_chains; i++) {
		CHECK_NUMBER(chains[i]->refcnt, 1);
		for (unsigned int j = 1; j < nb_segments; j++)
			CHECK(rte_pktmbuf_chain(
				      chains[i], rte_pktmbuf_alloc(j == 1 ? other : pool)) == 0);
	}
	chains[nb_chains] = reference;
	dpdk_sys_pktmbuf_free_cached(pool, cache, chains, 0);
	dpdk_sys_pktmbuf_free_cached(pool, cache, chains, nb_chains + 1);
	CHECK(dpdk_sys_mempool_cache_len(cache) > 0);
	CHECK_NUMBER(rte_mbuf_refcnt_read(shared), 1);
	rte_pktmbuf_free(shared);
	CHECK_NUMBER(dpdk_sys_mempool_full(other), 1);
	dpdk_sys_mempool_cache_flush(pool, cache);
	CHECK_NUMBER(dpdk_sys_mempool_cache_len(cache), 0);
	CHECK_NUMBER(dpdk_sys_mempool_full(pool), 1);
	rte_mempool_cache_free(cache);
	rte_mempool_free(pool);
	rte_mempool_free(other);
}

static void
find(const char *name, uint32_t state)
{
	struct dpdk_sys_pool found;

	dpdk_sys_pool_find(name, &found);
	CHECK_NUMBER(found.state, state);
	CHECK((found.pool != NULL) == (state == DPDK_SYS_POOL_FOUND));
	if (found.kept != NULL) {
		CHECK_NUMBER(found.size, NB_MBUFS);
		CHECK_NUMBER(found.data_room, 256);
		CHECK_NUMBER(found.private_len, 8);
		CHECK_NUMBER(rte_mempool_in_use_count(found.pool), 1);
		rte_pktmbuf_free(found.kept);
	}
}

static void
test_found(void)
{
	struct rte_mempool *pool = make_pool("packets", 0, NULL);
	struct rte_mempool *single = rte_mempool_create("single", 7, 512, 0,
		sizeof(struct rte_pktmbuf_pool_private), NULL, NULL, NULL, NULL, SOCKET_ID_ANY,
		RTE_MEMPOOL_F_SP_PUT | RTE_MEMPOOL_F_SC_GET);
	struct rte_mempool *plain =
		rte_mempool_create("plain", 7, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	struct rte_mempool *hts = make_pool("hts", 0, "ring_mt_hts"),
			   *stack = make_pool("stack", 0, "stack");
	struct rte_mbuf *mbufs[NB_MBUFS];
	int32_t index;

	if (!CHECK(pool != NULL && single != NULL && plain != NULL && hts != NULL && stack != NULL))
		return;
	find("packets", DPDK_SYS_POOL_FOUND);
	find("hts", DPDK_SYS_POOL_FOUND);
	find("stack", DPDK_SYS_POOL_DRIVER);
	find("plain", DPDK_SYS_POOL_OTHER);
	find("packet", DPDK_SYS_POOL_MISSING);
	find("", DPDK_SYS_POOL_MISSING);
	CHECK_NUMBER(rte_pktmbuf_alloc_bulk(pool, mbufs, NB_MBUFS), 0);
	find("packets", DPDK_SYS_POOL_EXHAUSTED);
	rte_pktmbuf_free_bulk(mbufs, NB_MBUFS);

	/* As in a process that has registered its drivers in another order, or fewer. */
	CHECK(dpdk_sys_pool_of_other_driver() == NULL);
	CHECK_NUMBER(dpdk_sys_pool_driver(single), DPDK_SYS_DRIVER_OTHER);
	CHECK_NUMBER(dpdk_sys_pool_driver(stack), DPDK_SYS_DRIVER_OTHER);
	index = pool->ops_index;
	pool->ops_index = single->ops_index;
	CHECK_TEXT(dpdk_sys_pool_of_other_driver(), "packets");
	pool->ops_index = stack->ops_index;
	CHECK_NUMBER(dpdk_sys_pool_driver(pool), DPDK_SYS_DRIVER_DIFFERS);
	pool->ops_index = (int32_t)rte_mempool_ops_table.num_ops;
	CHECK_NUMBER(dpdk_sys_pool_driver(pool), DPDK_SYS_DRIVER_DIFFERS);
	pool->ops_index = -1;
	CHECK_NUMBER(dpdk_sys_pool_driver(pool), DPDK_SYS_DRIVER_DIFFERS);
	pool->ops_index = INT32_MAX;
	CHECK_NUMBER(dpdk_sys_pool_driver(pool), DPDK_SYS_DRIVER_DIFFERS);
	pool->ops_index = index;
	CHECK_NUMBER(dpdk_sys_pool_driver(pool), DPDK_SYS_DRIVER_SHARED);
	rte_mempool_free(pool);
	rte_mempool_free(single);
	rte_mempool_free(plain);
	rte_mempool_free(hts);
	rte_mempool_free(stack);

	/* The ring of a pool whose driver was chosen by name is for several threads: it could also
	 * be that of another driver. */
	single = make_pool("by name", 0, "ring_sp_sc");
	CHECK_NUMBER(dpdk_sys_pool_driver(single), DPDK_SYS_DRIVER_DIFFERS);
	find("by name", DPDK_SYS_POOL_DRIVER);
	rte_mempool_free(single);
}

static void
test_rings(void)
{
	struct rte_ring *ring = rte_ring_create_elem(
		"ring", 8, 100, SOCKET_ID_ANY, RING_F_EXACT_SZ | RING_F_SP_ENQ);
	struct dpdk_sys_ring found;

	if (!CHECK(ring != NULL))
		return;
	dpdk_sys_ring_find("ring", 8, &found);
	CHECK(found.ring == ring);
	CHECK_NUMBER(found.capacity, 100);
	CHECK_NUMBER(found.fits, 1);
	CHECK_NUMBER(found.several_producers, 0);
	CHECK_NUMBER(found.several_consumers, 1);
	/* Lengths that DPDK refuses, and those of other elements. */
	static const uint32_t lengths[] = {0, 1, 4, 7, 12, 16, 0x7ffffffc, 0xfffffffc, UINT32_MAX};
	for (size_t i = 0; i < RTE_DIM(lengths); i++) {
		dpdk_sys_ring_find("ring", lengths[i], &found);
		CHECK(found.ring == ring);
		CHECK_NUMBER(found.fits, 0);
	}
	dpdk_sys_ring_find("rin", 8, &found);
	CHECK(found.ring == NULL);
	CHECK_NUMBER(found.fits, 0);
	rte_ring_free(ring);
}

int
main(void)
{
	start_eal("pool", NULL);
	test_errors();
	test_full(NULL);
	test_full("stack");
	test_full("ring_sp_sc");
	test_cache(1, 1);
	test_cache(64, 1);
	test_cache(65, 1);
	test_cache(50, 3);
	test_cache(NB_MBUFS - 1, 1);
	test_found();
	test_rings();
	rte_eal_cleanup();
	return check_result();
}
