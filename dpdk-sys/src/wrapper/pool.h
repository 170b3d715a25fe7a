/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Pools, their caches and drivers, and what another process finds out about pools and rings.
 */
#ifndef DPDK_SYS_POOL_H
#define DPDK_SYS_POOL_H

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

#endif
