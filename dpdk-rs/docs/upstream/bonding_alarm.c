/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A start of net_bonding that fails leaves an alarm behind, also after the port is closed. The
 * program takes the place of DPDK's alarms, so that they come when it calls them.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define MEMBER "member"
#else
#define MEMBER "slave"
#endif

static rte_eal_alarm_callback alarm_callback;
static void *alarm_arg;

int
rte_eal_alarm_set(uint64_t us, rte_eal_alarm_callback callback, void *arg)
{
	(void)us;
	alarm_callback = callback;
	alarm_arg = arg;
	return 0;
}

int
rte_eal_alarm_cancel(rte_eal_alarm_callback callback, void *arg)
{
	if (callback == alarm_callback && arg == alarm_arg)
		alarm_callback = NULL;
	return alarm_callback == NULL;
}

static void
report(int signal)
{
	static const char text[] = "it reads what the port had: SIGSEGV\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int
main(void)
{
	/* A ring keeps its address, which a bonding device of this mode wants to change. */
	char *args[] = {"bonding_alarm", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_ring0", "--vdev=net_bonding0,mode=0," MEMBER "=0"};
	const struct rte_eth_conf conf = {0};
	struct rte_mempool *pool;

	if (rte_eal_init(9, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 255, 0, 0, 512, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(1, 1, 1, &conf) != 0 ||
		rte_eth_rx_queue_setup(1, 0, 64, 0, NULL, pool) != 0 ||
		rte_eth_tx_queue_setup(1, 0, 64, 0, NULL) != 0)
		return 1;
	alarm_callback = NULL;
	if (rte_eth_dev_start(1) == 0) {
		puts("the port was started");
		return 77;
	}
	rte_eth_dev_close(1);
	printf("the alarm of the closed port is %s\n", alarm_callback ? "set" : "cancelled");
	if (alarm_callback == NULL)
		return 77;
	fflush(stdout);
	signal(SIGSEGV, report);
	alarm_callback(alarm_arg);
	return 0;
}
