/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_pcap copies a frame of several mbufs to an array of 16 KiB on the stack. On a thread that has
 * less left, it writes past the page that guards the stack.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#define PAGE 4096
/* The memory of others lies below the guard, the stack of the thread above it. */
#define LEN (16 * PAGE)

static _Alignas(PAGE) char memory[LEN + PAGE + LEN];
static struct rte_mbuf *mbufs[2];

static void
report(int signal)
{
	static const char text[] = "the guard was met\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 77 : 1);
}

static void *
send_on_little_stack(void *arg)
{
	const stack_t signals = {.ss_sp = arg, .ss_size = LEN};
	char here;
	/* Leaves one page of the stack. */
	volatile char *used = alloca((size_t)(&here - (memory + LEN + PAGE)) - PAGE);

	used[0] = 0;
	sigaltstack(&signals, NULL);
	rte_eth_tx_burst(0, 0, mbufs, 1);
	return NULL;
}

int
main(void)
{
	char *args[] = {"pcap_stack", "--no-huge", "-m", "16", "--no-pci", "--no-telemetry",
		"--no-shconf", "--vdev=net_pcap0,tx_pcap=/dev/null"};
	const struct sigaction action = {.sa_handler = report, .sa_flags = SA_ONSTACK};
	const struct rte_eth_conf conf = {0};
	static char handlers[LEN];
	unsigned int nb_changed = 0;
	struct rte_mempool *pool;
	pthread_attr_t attr;
	pthread_t thread;

	if (rte_eal_init(8, args) < 0 || mprotect(memory + LEN, PAGE, PROT_NONE) != 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 255, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(0, 0, 1, &conf) != 0 ||
		rte_eth_tx_queue_setup(0, 0, 64, 0, NULL) != 0 || rte_eth_dev_start(0) != 0 ||
		rte_pktmbuf_alloc_bulk(pool, mbufs, 2) != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		memset(rte_pktmbuf_append(mbufs[i], 500), 0x55, 500);
	rte_pktmbuf_chain(mbufs[0], mbufs[1]);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, memory + LEN + PAGE, LEN);
	sigaction(SIGSEGV, &action, NULL);
	if (pthread_create(&thread, &attr, send_on_little_stack, handlers) != 0 ||
		pthread_join(thread, NULL) != 0)
		return 1;
	for (unsigned int i = 0; i < LEN; i++)
		nb_changed += memory[i] != 0;
	printf("%u bytes of other memory were overwritten\n", nb_changed);
	return nb_changed > 0 ? 0 : 77;
}
