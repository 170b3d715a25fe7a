/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * DPDK's memory, and memory of the program.
 */

#include "eal.h"

#include <sys/mman.h>

#include "check.h"

static void
test_zone(void)
{
	const struct rte_memzone *zone =
		rte_memzone_reserve_aligned("zone", 4096, SOCKET_ID_ANY, 0, 4096);
	struct dpdk_sys_memzone out;
	const char *start;

	if (!CHECK(zone != NULL))
		return;
	dpdk_sys_memzone_get(zone, &out);
	start = (const char *)out.addr;
	CHECK(out.addr == zone->addr && out.len == zone->len && out.iova == zone->iova);
	CHECK(out.page_len == zone->hugepage_sz && out.socket_id == zone->socket_id);

	/* Without hugepages devices see what the processor sees. */
	CHECK_NUMBER(dpdk_sys_iova_is_va(), 1);
	CHECK_NUMBER(dpdk_sys_mem_iova(start, 4096), (uintptr_t)start);
	CHECK_NUMBER(dpdk_sys_mem_iova(start + 4095, 1), (uintptr_t)start + 4095);
	CHECK_NUMBER(dpdk_sys_mem_iova(start, 0), DPDK_SYS_BAD_IOVA);
	CHECK_NUMBER(dpdk_sys_mem_iova(&out, sizeof(out)), DPDK_SYS_BAD_IOVA);
	/* From the last byte of the list of segments to the first one behind. */
	CHECK_NUMBER(dpdk_sys_mem_iova(start, (size_t)1 << 40), DPDK_SYS_BAD_IOVA);
	CHECK_NUMBER(dpdk_sys_mem_known(start, 1), 1);
	CHECK_NUMBER(dpdk_sys_mem_known(&out, sizeof(out)), 0);
	rte_memzone_free(zone);
}

static void
test_registered(void)
{
	const size_t page = dpdk_sys_page_len(), len = 4 * page;
	char *memory = mmap(
		NULL, len + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *own = memory + page;
	uint64_t iovas[4];

	if (!CHECK(memory != MAP_FAILED))
		return;
	for (unsigned int i = 0; i < 4; i++)
		iovas[i] = (uintptr_t)own + i * page;
	CHECK_NUMBER(dpdk_sys_mem_known(own, len), 0);
	CHECK_NUMBER(dpdk_sys_extmem_register(own, len, iovas, 4, page), 0);
	/* One byte of it, or one byte before and behind. */
	CHECK_NUMBER(dpdk_sys_mem_known(own + len - 1, 1), 1);
	CHECK_NUMBER(dpdk_sys_mem_known(own - 1, 2), 1);
	CHECK_NUMBER(dpdk_sys_mem_known(own - 1, 1), 0);
	CHECK_NUMBER(dpdk_sys_mem_known(own + len, page), 0);
	CHECK_NUMBER(dpdk_sys_mem_known(memory, len + 2 * page), 1);
	CHECK_NUMBER(dpdk_sys_mem_iova(own, len), (uintptr_t)own);
	CHECK_NUMBER(dpdk_sys_extmem_register(own, len, iovas, 4, page), -EEXIST);
	CHECK_NUMBER(dpdk_sys_extmem_unregister(own, len), 0);
	CHECK_NUMBER(dpdk_sys_extmem_unregister(own, len), -ENOENT);
	CHECK_NUMBER(dpdk_sys_extmem_register(own + 1, len, iovas, 4, page), -EINVAL);
	CHECK_NUMBER(dpdk_sys_extmem_register(own, 0, iovas, 4, page), -EINVAL);

	/* Pages that devices see in another order. */
	iovas[2] = iovas[0];
	CHECK_NUMBER(dpdk_sys_extmem_register(own, len, iovas, 4, page), 0);
	CHECK_NUMBER(dpdk_sys_mem_iova(own, 2 * page), (uintptr_t)own);
	CHECK_NUMBER(dpdk_sys_mem_iova(own, 2 * page + 1), DPDK_SYS_NOT_IN_A_ROW);
	CHECK_NUMBER(dpdk_sys_extmem_unregister(own, len), 0);
	munmap(memory, len + 2 * page);
}

static void
test_errors(void)
{
	rte_errno = EEXIST;
	errno = ENOENT;
	CHECK_NUMBER(dpdk_sys_either_errno(0), 0);
	CHECK_NUMBER(dpdk_sys_either_errno(-1), -EEXIST);
	rte_errno = 0;
	CHECK_NUMBER(dpdk_sys_either_errno(-1), -ENOENT);
	errno = 0;
	CHECK_NUMBER(dpdk_sys_either_errno(-1), -EIO);
	dpdk_sys_set_errno(7);
	CHECK_NUMBER(dpdk_sys_errno(), 7);
	/* Without VFIO. */
	CHECK(dpdk_sys_vfio_map(&errno, 1) < 0);
	CHECK(dpdk_sys_vfio_unmap(&errno, 1) < 0);
}

static void
test_statistics(void)
{
	struct rte_malloc_socket_stats before, after, none;
	void *block;

	dpdk_sys_malloc_stats(SOCKET_ID_ANY, &before);
	block = rte_malloc(NULL, 1000, 0);
	dpdk_sys_malloc_stats(SOCKET_ID_ANY, &after);
	CHECK_NUMBER(after.alloc_count, before.alloc_count + 1);
	CHECK(after.heap_allocsz_bytes >= before.heap_allocsz_bytes + 1000);
	dpdk_sys_malloc_stats(rte_socket_id_by_idx(0), &after);
	CHECK(after.alloc_count > 0);
	dpdk_sys_malloc_stats(RTE_MAX_NUMA_NODES, &none);
	CHECK_NUMBER(none.heap_totalsz_bytes, 0);
	rte_free(block);
}

int
main(void)
{
	start_eal("memory", NULL);
	test_zone();
	test_registered();
	test_errors();
	test_statistics();
	rte_eal_cleanup();
	return check_result();
}
