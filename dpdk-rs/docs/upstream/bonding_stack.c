/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_bonding has an array on the stack with 256 bytes for each packet of a burst. A long burst
 * makes it write past the page that guards the stack of a thread.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define MEMBER "member"
#else
#define MEMBER "slave"
#endif

#define PAGE 4096
#define BURST 2048
/* The memory of others lies below the guard, the stack of the thread above it. */
#define OTHERS (1024 * 1024)
#define STACK (128 * 1024)

static _Alignas(PAGE) char memory[OTHERS + PAGE + STACK];
static struct rte_mbuf *mbufs[BURST];

static void
report(int signal)
{
	static const char text[] = "the guard was met\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 77 : 1);
}

static void *
send_burst(void *arg)
{
	const stack_t signals = {.ss_sp = arg, .ss_size = 16 * PAGE};

	sigaltstack(&signals, NULL);
	rte_eth_tx_burst(2, 0, mbufs, BURST);
	return NULL;
}

static int
start(uint16_t port, struct rte_mempool *pool)
{
	const struct rte_eth_conf conf = {0};

	return rte_eth_dev_configure(port, 1, 1, &conf) == 0 &&
	       rte_eth_rx_queue_setup(port, 0, 64, 0, NULL, pool) == 0 &&
	       rte_eth_tx_queue_setup(port, 0, 64, 0, NULL) == 0 && rte_eth_dev_start(port) == 0;
}

int
main(void)
{
	char *args[] = {"bonding_stack", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_null0", "--vdev=net_null1",
		"--vdev=net_bonding0,mode=0," MEMBER "=net_null0," MEMBER "=net_null1"};
	const struct sigaction action = {.sa_handler = report, .sa_flags = SA_ONSTACK};
	static char handlers[16 * PAGE];
	struct rte_eth_link link = {0};
	unsigned int nb_changed = 0;
	struct rte_mempool *pool;
	pthread_attr_t attr;
	pthread_t thread;

	if (rte_eal_init(10, args) < 0 || mprotect(memory + OTHERS, PAGE, PROT_NONE) != 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 8191, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL || !start(2, pool) || rte_pktmbuf_alloc_bulk(pool, mbufs, BURST) != 0)
		return 1;
	/* The members become active in a callback. */
	while (link.link_status == 0)
		if (rte_eth_link_get_nowait(2, &link) != 0)
			return 1;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, memory + OTHERS + PAGE, STACK);
	sigaction(SIGSEGV, &action, NULL);
	if (pthread_create(&thread, &attr, send_burst, handlers) != 0 ||
		pthread_join(thread, NULL) != 0)
		return 1;
	for (unsigned int i = 0; i < OTHERS; i++)
		nb_changed += memory[i] != 0;
	printf("%u bytes of other memory were overwritten\n", nb_changed);
	return nb_changed > 0 ? 0 : 77;
}
