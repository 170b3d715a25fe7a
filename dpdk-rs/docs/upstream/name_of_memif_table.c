/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_memif takes a hash table of the program for its own, whatever the length of its keys.
 */
#include <stdio.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_hash.h>

int
main(void)
{
	char *args[] = {"name_of_memif_table", "--no-huge", "-m", "64", "--no-pci",
		"--no-telemetry", "--no-shconf"};
	const struct rte_hash_parameters parameters = {
		.name = "memif-sh", .entries = 16, .key_len = 4};
	struct rte_hash *table;

	if (rte_eal_init(7, args) < 0)
		return 1;
	table = rte_hash_create(&parameters);
	if (table == NULL) {
		puts("refused");
		return 77;
	}
	if (rte_eal_hotplug_add("vdev", "net_memif0", "role=client,id=0,socket-abstract=yes") !=
		0) {
		puts("the device was not made");
		return 77;
	}
	printf("the program's table has %d entries instead of 0\n", rte_hash_count(table));
	return rte_hash_count(table) > 0 ? 0 : 77;
}
