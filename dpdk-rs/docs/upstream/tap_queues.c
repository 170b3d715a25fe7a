/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_tap writes the files of 16 queues to an array of 8 on its stack.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

static void
report(int signal)
{
	static const char text[] = "rte_eth_dev_start() has written past an array on its stack\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int
main(void)
{
	char *args[] = {"tap_queues", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_tap0"};
	const struct rte_eth_conf conf = {0};
	struct rte_mempool *pool;

	if (access("/dev/net/tun", R_OK | W_OK) != 0 ||
		(unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)) {
		puts("no /dev/net/tun, or no network namespace can be made here");
		return 77;
	}
	if (rte_eal_init(8, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 2047, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(0, 8, 8, &conf) != 0)
		return 1;
	for (uint16_t i = 0; i < 8; i++)
		if (rte_eth_rx_queue_setup(0, i, 64, 0, NULL, pool) != 0 ||
			rte_eth_tx_queue_setup(0, i, 64, 0, NULL) != 0)
			return 1;
	signal(SIGABRT, report);
	signal(SIGSEGV, report);
	puts(rte_eth_dev_start(0) == 0 ? "the port was started" : "the port was not started");
	return 77;
}
