/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * rte_vlan_strip() looks past the end of a short frame. If a tag was there before, it moves bytes
 * to a null pointer.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

static void
report(int signal)
{
	static const char text[] = "a frame of 2 bytes: SIGSEGV\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int
main(void)
{
	char *args[] = {
		"vlan_strip", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf"};
	struct rte_mempool *pool;
	struct rte_mbuf *mbuf;

	if (rte_eal_init(7, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", 15, 0, 0, 512, SOCKET_ID_ANY);
	mbuf = pool != NULL ? rte_pktmbuf_alloc(pool) : NULL;
	if (mbuf == NULL)
		return 1;
	/* What an earlier frame has left: a header with a tag. */
	memcpy(rte_pktmbuf_mtod_offset(mbuf, char *, 12), "\x81\x00\x00\x07", 4);
	rte_pktmbuf_append(mbuf, 16);
	if (rte_vlan_strip(mbuf) != 0) {
		puts("refused");
		return 77;
	}
	printf("a frame of 16 bytes: stripped to %u, tag %u\n", mbuf->data_len, mbuf->vlan_tci);
	fflush(stdout);
	rte_pktmbuf_reset(mbuf);
	memcpy(rte_pktmbuf_mtod_offset(mbuf, char *, 12), "\x81\x00\x00\x07", 4);
	rte_pktmbuf_append(mbuf, 2);
	signal(SIGSEGV, report);
	return rte_vlan_strip(mbuf) == 0 ? 0 : 77;
}
