/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_bonding takes port 0 when it is asked for port 65536.
 */
#include <stdio.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define MEMBER "member"
#define FLAG RTE_ETH_DEV_BONDING_MEMBER
#else
#define MEMBER "slave"
#define FLAG RTE_ETH_DEV_BONDED_SLAVE
#endif

int
main(void)
{
	char *args[] = {"bonding_port_number", "--no-huge", "-m", "64", "--no-pci",
		"--no-telemetry", "--no-shconf", "--vdev=net_null0",
		"--vdev=net_bonding0,mode=0," MEMBER "=65536"};
	const struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;

	if (rte_eal_init(9, args) < 0) {
		puts("refused");
		return 77;
	}
	if (rte_eth_dev_configure(1, 1, 1, &conf) != 0 || rte_eth_dev_info_get(0, &info) != 0) {
		puts("refused");
		return 77;
	}
	printf("port 0 %s\n", (*info.dev_flags & FLAG) != 0 ? "was taken" : "is free");
	return (*info.dev_flags & FLAG) != 0 ? 0 : 77;
}
