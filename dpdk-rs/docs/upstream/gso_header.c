/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * rte_gso_segment() copies the flags of a clone to the mbufs of the headers. They then claim to
 * refer to another mbuf, and are freed twice.
 */
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_gso.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#define NB_MBUFS 40
#define LEN 1054

/* Writes the headers of a packet and asks for its segmentation. */
static void
fill(struct rte_mbuf *mbuf)
{
	char *data = rte_pktmbuf_append(mbuf, LEN);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(data + 14);
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(ip + 1);

	memset(data, 0, LEN);
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(LEN - 14);
	tcp->data_off = 0x50;
	mbuf->l2_len = 14;
	mbuf->l3_len = 20;
	mbuf->l4_len = 20;
	mbuf->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4;
}

int
main(void)
{
	char *args[] = {
		"gso_header", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf"};
	struct rte_gso_ctx gso = {.gso_types = RTE_ETH_TX_OFFLOAD_TCP_TSO, .gso_size = 554};
	struct rte_mbuf *packet, *clone, *segments[8], *mbufs[2 * NB_MBUFS];
	unsigned int nb_got = 0, nb_twice = 0;
	struct rte_mempool *pool;
	int nb_segments;

	if (rte_eal_init(7, args) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("pool", NB_MBUFS, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	packet = rte_pktmbuf_alloc(pool);
	fill(packet);
	clone = rte_pktmbuf_clone(packet, pool);
	gso.direct_pool = gso.indirect_pool = pool;
	nb_segments = rte_gso_segment(clone, &gso, segments, 8);
	for (int i = 0; i < nb_segments; i++)
		rte_pktmbuf_free(segments[i]);
	rte_pktmbuf_free(clone);
	rte_pktmbuf_free(packet);
	/* Everything is free: whoever takes all gets each mbuf once. */
	while (nb_got < 2 * NB_MBUFS && rte_mempool_get(pool, (void **)&mbufs[nb_got]) == 0)
		nb_got++;
	for (unsigned int i = 0; i < nb_got; i++)
		for (unsigned int j = 0; j < i; j++)
			nb_twice += mbufs[i] == mbufs[j];
	printf("%d segments; the pool of %u gives %u mbufs, %u of them twice\n", nb_segments,
		NB_MBUFS, nb_got, nb_twice);
	return nb_twice > 0 ? 0 : 77;
}
