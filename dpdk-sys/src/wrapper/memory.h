/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * DPDK's memory, and memory of the program that devices reach.
 */
#ifndef DPDK_SYS_MEMORY_H
#define DPDK_SYS_MEMORY_H

/* struct rte_malloc_socket_stats of a NUMA node, or of all of them for SOCKET_ID_ANY. */
static inline void
dpdk_sys_malloc_stats(int socket_id, struct rte_malloc_socket_stats *sum)
{
	const struct rte_malloc_socket_stats none = {0};
	unsigned int i;

	*sum = none;
	for (i = 0; i < rte_socket_count(); i++) {
		struct rte_malloc_socket_stats one = {0};
		int id = rte_socket_id_by_idx(i);

		if (id < 0 || (socket_id != SOCKET_ID_ANY && socket_id != id) || rte_malloc_get_socket_stats(id, &one) != 0)
			continue;
		sum->heap_totalsz_bytes += one.heap_totalsz_bytes;
		sum->heap_freesz_bytes += one.heap_freesz_bytes;
		sum->heap_allocsz_bytes += one.heap_allocsz_bytes;
		sum->greatest_free_size = RTE_MAX(sum->greatest_free_size, one.greatest_free_size);
		sum->alloc_count += one.alloc_count;
		sum->free_count += one.free_count;
	}
}

/* struct rte_memzone, which is packed and has an anonymous union. */
struct dpdk_sys_memzone {
	void *addr;
	size_t len;
	uint64_t iova;
	uint64_t page_len;
	int32_t socket_id;
};

static inline void
dpdk_sys_memzone_get(const struct rte_memzone *mz, struct dpdk_sys_memzone *out)
{
	out->addr = mz->addr;
	out->len = mz->len;
	out->iova = mz->iova;
	out->page_len = mz->hugepage_sz;
	out->socket_id = mz->socket_id;
}

/* No address that devices can see. */
static const uint64_t DPDK_SYS_BAD_IOVA = RTE_BAD_IOVA;
static const uint64_t DPDK_SYS_NOT_IN_A_ROW = RTE_BAD_IOVA - 1;

/* Where devices see some bytes: BAD_IOVA if they are not in DPDK's memory, NOT_IN_A_ROW if devices see them in pieces. */
static inline uint64_t
dpdk_sys_mem_iova(const void *start, size_t len)
{
	const char *at = (const char *)start;
	const char *end = at + len;
	uint64_t first = DPDK_SYS_BAD_IOVA;

	while (at < end) {
		const struct rte_memseg *seg = rte_mem_virt2memseg(at, NULL);
		uint64_t here;

		if (seg == NULL)
			return DPDK_SYS_BAD_IOVA;
		here = seg->iova + (size_t)(at - (const char *)seg->addr);
		if (at == (const char *)start)
			first = here;
		if (seg->iova == RTE_BAD_IOVA || here != first + (size_t)(at - (const char *)start))
			return DPDK_SYS_NOT_IN_A_ROW;
		at = (const char *)seg->addr + seg->len;
	}
	return first;
}

struct memory_range {
	const char *start;
	size_t len;
};

static int
memory_list_meets(const struct rte_memseg_list *list, void *range_ptr)
{
	const struct memory_range *range = (const struct memory_range *)range_ptr;
	const char *base = (const char *)list->base_va;

	return base < range->start + range->len && range->start < base + list->len;
}

/* Whether DPDK knows one of these bytes: as its own, or since they were registered. */
static inline int
dpdk_sys_mem_known(const void *start, size_t len)
{
	struct memory_range range = { (const char *)start, len };

	return rte_memseg_list_walk(memory_list_meets, &range) != 0;
}

/* Whether devices see DPDK's memory where the processor does. */
static inline int
dpdk_sys_iova_is_va(void)
{
	return rte_eal_iova_mode() == RTE_IOVA_VA;
}

/* The kernel's smallest page, in bytes. */
static inline size_t
dpdk_sys_page_len(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* The negative error of a call that sets rte_errno at some failures, and at others leaves the kernel's errno: the caller has set both
 * to 0 before.
 */
static inline int
dpdk_sys_either_errno(int result)
{
	if (result == 0)
		return 0;
	if (rte_errno != 0)
		return -rte_errno;
	return errno != 0 ? -errno : -EIO;
}

/* Registers memory, which devices are to see where the processor does; 0 or a negative error. */
static inline int
dpdk_sys_extmem_register(void *start, size_t len, uint64_t *iovas, unsigned int pages, size_t page_len)
{
	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(rte_extmem_register(start, len, iovas, pages, page_len));
}

static inline int
dpdk_sys_extmem_unregister(void *start, size_t len)
{
	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(rte_extmem_unregister(start, len));
}

/* Has the IOMMU let all devices on VFIO reach memory, at the addresses that it has for the processor; 0 or a negative error. */
static inline int
dpdk_sys_vfio_map(const void *start, size_t len)
{
	uint64_t address = (uint64_t)(uintptr_t)start;

	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(
			rte_vfio_container_dma_map(RTE_VFIO_DEFAULT_CONTAINER_FD, address, address, len));
}

static inline int
dpdk_sys_vfio_unmap(const void *start, size_t len)
{
	uint64_t address = (uint64_t)(uintptr_t)start;

	rte_errno = 0;
	errno = 0;
	return dpdk_sys_either_errno(
			rte_vfio_container_dma_unmap(RTE_VFIO_DEFAULT_CONTAINER_FD, address, address, len));
}

#endif
