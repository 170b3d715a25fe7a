/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A memory zone of the program chooses the driver of every later pool: here one for a single
 * thread.
 */
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>

int
main(void)
{
	char *args[] = {"name_of_pool_driver", "--no-huge", "-m", "64", "--no-pci",
		"--no-telemetry", "--no-shconf"};
	const struct rte_memzone *zone;
	struct rte_mempool *pool;
	const char *driver;

	if (rte_eal_init(7, args) < 0)
		return 1;
	zone = rte_memzone_reserve("mbuf_platform_pool_ops", 32, SOCKET_ID_ANY, 0);
	if (zone == NULL) {
		puts("refused");
		return 77;
	}
	strcpy(zone->addr, "ring_sp_sc");
	pool = rte_pktmbuf_pool_create("pool", 15, 0, 0, 256, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	driver = rte_mempool_get_ops(pool->ops_index)->name;
	printf("rte_pktmbuf_pool_create() has made a pool with the driver %s\n", driver);
	return strcmp(driver, "ring_sp_sc") == 0 ? 0 : 77;
}
