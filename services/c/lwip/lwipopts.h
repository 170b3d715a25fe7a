/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * lwIP's options: TCP over IPv4 and IPv6 in one thread, with the limits of dpdk-sockets where lwIP
 * has one of the kind.
 */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

/* One thread, which polls. */
#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
/* As in a release of the other stacks. */
#define LWIP_NOASSERT
#define LWIP_STATS 0

/* As many connections and segments as there is memory for. */
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1
#define MEM_ALIGNMENT 8
/* Those of netif.c. */
#define LWIP_SUPPORT_CUSTOM_PBUF 1

#define LWIP_IPV6 1
#define LWIP_UDP 0
#define LWIP_RAW 0
#define IP_REASSEMBLY 0
#define IP_FRAG 0
#define LWIP_IPV6_REASS 0
#define LWIP_IPV6_FRAG 0
#define LWIP_SINGLE_NETIF 1
/* The device takes all groups. The address is given, and no router is asked. */
#define LWIP_IPV6_MLD 0
#define LWIP_IPV6_AUTOCONFIG 0
#define LWIP_IPV6_SEND_ROUTER_SOLICIT 0
#define LWIP_IPV6_DUP_DETECT_ATTEMPTS 0

/* What a packet waits for is found by its connection, once it was found. */
#define LWIP_NETIF_HWADDRHINT 1
#define ARP_TABLE_SIZE 1024
#define LWIP_ND6_NUM_NEIGHBORS 100
/* SYNs of many connections may wait for the same neighbor. */
#define ARP_QUEUEING 1
#define ARP_QUEUE_LEN 1024

#define TCP_MSS 1460
#define TCP_WND 65535
#define TCP_SND_BUF 65535
/* TIME-WAIT is twice as long. */
#define TCP_MSL 30000
#define LWIP_TCP_SACK_OUT 1
#define LWIP_HOOK_FILENAME "hooks.h"

/* What the device does is known when it is started: see netif.c. */
#define LWIP_CHECKSUM_CTRL_PER_NETIF 1

#endif
