/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_bonding in the mode balance reads the headers of each frame, also of one that has none.
 */
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

static struct rte_mbuf_ext_shared_info info;

static void
report(int signal)
{
	static const char text[] = "SIGSEGV: bytes behind the buffer were read\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

static void
keep(void *buffer, void *arg)
{
	(void)buffer;
	(void)arg;
}

int
main(void)
{
	char *args[] = {"bonding_short_frame", "--no-huge", "-m", "16", "--no-pci",
		"--no-telemetry", "--no-shconf", "--vdev=net_null0",
		"--vdev=net_bonding0,mode=2," MEMBER "=net_null0"};
	const struct rte_eth_conf conf = {0};
	struct rte_eth_link link = {0};
	struct rte_mempool *pool;
	struct rte_mbuf *mbuf;
	char *pages;

	if (rte_eal_init(9, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 255, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_configure(1, 1, 1, &conf) != 0 ||
		rte_eth_rx_queue_setup(1, 0, 64, 0, NULL, pool) != 0 ||
		rte_eth_tx_queue_setup(1, 0, 64, 0, NULL) != 0 || rte_eth_dev_start(1) != 0)
		return 1;
	/* The member becomes active in a callback. */
	while (link.link_status == 0)
		if (rte_eth_link_get_nowait(1, &link) != 0)
			return 1;
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mbuf = rte_pktmbuf_alloc(pool);
	if (pages == MAP_FAILED || mbuf == NULL || mprotect(pages + PAGE, PAGE, PROT_NONE) != 0)
		return 1;
	info.free_cb = keep;
	rte_mbuf_ext_refcnt_set(&info, 1);
	rte_pktmbuf_attach_extbuf(mbuf, pages, 0, PAGE, &info);
	/* One byte, the last one before the page that cannot be read. */
	mbuf->data_off = PAGE - 1;
	mbuf->data_len = 1;
	mbuf->pkt_len = 1;
	signal(SIGSEGV, report);
	rte_eth_tx_burst(1, 0, &mbuf, 1);
	printf("the frame was sent\n");
	return 77;
}
