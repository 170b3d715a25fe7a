/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Where lwIP asks lwip.c.
 */
#ifndef HOOKS_H
#define HOOKS_H

#include <lwip/err.h>

struct pbuf;
struct tcp_hdr;
struct tcp_pcb;

/* Returns ERR_OK if lwIP is to go on with a segment, by its header and what is after that, for a
 * connection.
 */
err_t hook_segment(struct tcp_pcb *pcb, struct tcp_hdr *header, struct pbuf *pbuf);

#define LWIP_HOOK_TCP_INPACKET_PCB(pcb, header, options_len, first_len, second, pbuf) \
	hook_segment(pcb, header, pbuf)

#endif
