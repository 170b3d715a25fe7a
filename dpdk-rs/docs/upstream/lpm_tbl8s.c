/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A table of 2^22 + 1 groups of tbl8 has memory for one. Routes are then written over other blocks
 * of the heap.
 */
#include <stdio.h>

#include <rte_eal.h>
#include <rte_ip.h>
#include <rte_lpm.h>
#include <rte_malloc.h>

#define BLOCK_LEN (1 << 20)

int
main(void)
{
	char *args[] = {
		"lpm_tbl8s", "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf"};
	const struct rte_lpm_config config = {.max_rules = 1000, .number_tbl8s = (1 << 22) + 1};
	struct rte_lpm *lpm;
	unsigned int nb_changed = 0;
	char *block, *hole;

	if (rte_eal_init(7, args) < 0)
		return 1;
	/* The groups come to lie in the hole before the block. */
	block = rte_zmalloc(NULL, BLOCK_LEN, 0);
	hole = rte_malloc(NULL, 4096, 0);
	if (block == NULL || rte_malloc(NULL, 64, 0) == NULL)
		return 1;
	rte_free(hole);
	lpm = rte_lpm_create("lpm", SOCKET_ID_ANY, &config);
	if (lpm == NULL) {
		puts("refused");
		return 77;
	}
	/* Each takes a group of its own. */
	for (uint32_t i = 0; i < 1000; i++)
		rte_lpm_add(lpm, RTE_IPV4(10, i >> 8, i & 255, 1), 32, 1);
	for (unsigned int i = 0; i < BLOCK_LEN; i++)
		nb_changed += block[i] != 0;
	printf("%u bytes of another block were overwritten\n", nb_changed);
	return nb_changed > 0 ? 0 : 77;
}
