/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * lwIP, on the first port of the EAL, by its raw interface: that calls back while it works, and
 * what it says waits here until the service asks.
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lwip/etharp.h>
#include <lwip/ethip6.h>
#include <lwip/init.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/prot/tcp.h>
#include <lwip/tcp.h>
#include <lwip/timeouts.h>
#include <netif/ethernet.h>

#include "../now.h"
#include "../sockets.h"
#include "hooks.h"
#include "netif.h"

#define IPV6_PREFIX_LEN 64

struct stack {
	struct sockets sockets;
	struct port port;
	/* NULL: closed. */
	struct tcp_pcb *listener;
	/* Those to which something has happened, and those that are closed. */
	struct stream *ready;
	struct stream **last_ready;
};

struct stream {
	struct stack *stack;
	/* NULL: lwIP has none for it any more. */
	struct tcp_pcb *pcb;
	void *user;
	/* What was not read, linked by next alone, and how much of the first was read. */
	struct pbuf *received;
	struct pbuf *last_received;
	uint16_t nb_read;
	/* The peer has closed its direction. */
	bool has_ended;
	bool is_broken;
	/* send did not take all. */
	bool wants_room;
	bool is_closed;
	bool is_ready;
	uint32_t events;
	struct stream *next_ready;
};

/* The clock of lwIP's timers. */
uint32_t
sys_now(void)
{
	return (uint32_t)now_ms();
}

/* To lwIP a port is in use until TIME-WAIT is over. By RFC 9293, section 3.6.1, a later SYN may
 * open the connection anew before, and the other stacks let it.
 */
err_t
hook_segment(struct tcp_pcb *pcb, struct tcp_hdr *header, struct pbuf *pbuf)
{
	if (pcb->state != TIME_WAIT || (TCPH_FLAGS(header) & TCP_SYN) == 0 ||
		!TCP_SEQ_GT(header->seqno, pcb->rcv_nxt))
		return ERR_OK;
	tcp_abort(pcb);
	/* Begin again with the packet as it came. Afterwards lwIP only frees it. */
	header->src = htons(header->src);
	header->dest = htons(header->dest);
	header->seqno = htonl(header->seqno);
	header->ackno = htonl(header->ackno);
	header->wnd = htons(header->wnd);
	pbuf_add_header_force(
		pbuf, (size_t)TCPH_HDRLEN_BYTES(header) + ip_current_header_tot_len());
	pbuf_ref(pbuf);
	(void)ip_input(pbuf, ip_current_netif());
	return ERR_ABRT;
}

static struct stream *
stream_of(struct socket_id id)
{
	return (struct stream *)(uintptr_t)id.id;
}

static struct socket_id
id_of(const struct stream *stream)
{
	return (struct socket_id){(uintptr_t)stream};
}

static void
make_ready(struct stream *stream, uint32_t events)
{
	stream->events |= events;
	if (stream->is_ready)
		return;
	stream->is_ready = true;
	stream->next_ready = NULL;
	*stream->stack->last_ready = stream;
	stream->stack->last_ready = &stream->next_ready;
}

/* Leave a connection to lwIP, which says no more about it. */
static void
let_go(struct stream *stream)
{
	tcp_arg(stream->pcb, NULL);
	tcp_recv(stream->pcb, NULL);
	tcp_sent(stream->pcb, NULL);
	tcp_err(stream->pcb, NULL);
	stream->pcb = NULL;
}

static err_t
on_received(void *arg, struct tcp_pcb *pcb, struct pbuf *pbuf, err_t error)
{
	struct stream *stream = arg;

	(void)error;
	if (pbuf != NULL) {
		if (stream->received == NULL)
			stream->received = pbuf;
		else
			stream->last_received->next = pbuf;
		while (pbuf->next != NULL)
			pbuf = pbuf->next;
		stream->last_received = pbuf;
	} else {
		stream->has_ended = true;
		/* Both directions are closed: lwIP ends it without a word. */
		if (pcb->state == CLOSING || pcb->state == TIME_WAIT)
			let_go(stream);
	}
	make_ready(stream, SOCKETS_READABLE);
	return ERR_OK;
}

static err_t
on_sent(void *arg, struct tcp_pcb *pcb, uint16_t len)
{
	struct stream *stream = arg;

	(void)pcb;
	(void)len;
	if (stream->wants_room) {
		stream->wants_room = false;
		make_ready(stream, SOCKETS_WRITABLE);
	}
	return ERR_OK;
}

/* lwIP has freed the connection. */
static void
on_error(void *arg, err_t error)
{
	struct stream *stream = arg;

	stream->pcb = NULL;
	/* CLSD: both sides have closed it. */
	stream->is_broken = error != ERR_CLSD;
	make_ready(stream, SOCKETS_READABLE);
}

static err_t
on_connected(void *arg, struct tcp_pcb *pcb, err_t error)
{
	(void)pcb;
	(void)error;
	make_ready(arg, SOCKETS_CONNECTED);
	return ERR_OK;
}

/* Returns NULL without memory. */
static struct stream *
stream_new(struct stack *stack, struct tcp_pcb *pcb, void *user)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (stream == NULL)
		return NULL;
	stream->stack = stack;
	stream->pcb = pcb;
	stream->user = user;
	tcp_arg(pcb, stream);
	tcp_recv(pcb, on_received);
	tcp_sent(pcb, on_sent);
	tcp_err(pcb, on_error);
	/* What is written is complete. */
	tcp_nagle_disable(pcb);
	return stream;
}

static err_t
on_accepted(void *arg, struct tcp_pcb *pcb, err_t error)
{
	struct stream *stream;

	if (error != ERR_OK || pcb == NULL)
		return ERR_VAL;
	stream = stream_new(arg, pcb, NULL);
	if (stream == NULL)
		/* lwIP resets it. */
		return ERR_MEM;
	make_ready(stream, SOCKETS_ACCEPTED);
	return ERR_OK;
}

static int
stack_poll(struct sockets *sockets, struct sockets_event *events, int max_events, int wait_ms)
{
	struct stack *stack = (struct stack *)sockets;
	int nb_events = 0;

	(void)wait_ms;
	/* What the service has sent since goes in one burst. */
	port_send(&stack->port);
	port_receive(&stack->port);
	sys_check_timeouts();
	port_send(&stack->port);
	while (nb_events < max_events && stack->ready != NULL) {
		struct stream *stream = stack->ready;

		stack->ready = stream->next_ready;
		if (stack->ready == NULL)
			stack->last_ready = &stack->ready;
		if (stream->is_closed) {
			free(stream);
			continue;
		}
		events[nb_events++] =
			(struct sockets_event){stream->events, id_of(stream), stream->user};
		stream->is_ready = false;
		stream->events = 0;
	}
	return nb_events;
}

static void
to_ip(const struct sockaddr *from, ip_addr_t *ip, uint16_t *port)
{
	if (from->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;

		ip_addr_set_ip4_u32(ip, v4->sin_addr.s_addr);
		*port = ntohs(v4->sin_port);
	} else {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
		uint32_t words[4];

		memcpy(words, &v6->sin6_addr, sizeof(words));
		IP_ADDR6(ip, words[0], words[1], words[2], words[3]);
		*port = ntohs(v6->sin6_port);
	}
}

static bool
stack_connect(struct sockets *sockets, const struct sockaddr *to, void *user, struct socket_id *id)
{
	struct stream *stream = NULL;
	struct tcp_pcb *pcb;
	ip_addr_t peer;
	uint16_t port;

	to_ip(to, &peer, &port);
	pcb = tcp_new_ip_type(IP_GET_TYPE(&peer));
	if (pcb == NULL)
		return false;
	stream = stream_new((struct stack *)sockets, pcb, user);
	if (stream == NULL) {
		tcp_abort(pcb);
		return false;
	}
	if (tcp_connect(pcb, &peer, port, on_connected) != ERR_OK) {
		let_go(stream);
		tcp_abort(pcb);
		free(stream);
		return false;
	}
	*id = id_of(stream);
	return true;
}

static ssize_t
stack_receive(struct sockets *sockets, struct socket_id id, void *buf, size_t len)
{
	struct stream *stream = stream_of(id);
	size_t received = 0;

	(void)sockets;
	while (received < len && stream->received != NULL) {
		struct pbuf *pbuf = stream->received;
		const size_t rest = (size_t)(pbuf->len - stream->nb_read);
		const size_t taken = rest < len - received ? rest : len - received;

		memcpy((char *)buf + received, (char *)pbuf->payload + stream->nb_read, taken);
		received += taken;
		stream->nb_read = (uint16_t)(stream->nb_read + taken);
		if (taken < rest)
			break;
		stream->received = pbuf->next;
		stream->nb_read = 0;
		pbuf->next = NULL;
		pbuf_free(pbuf);
	}
	if (received > 0) {
		if (stream->pcb != NULL)
			tcp_recved(stream->pcb, (uint16_t)received);
		return (ssize_t)received;
	}
	if (stream->is_broken)
		return SOCKETS_BROKEN;
	return stream->has_ended ? 0 : SOCKETS_NOTHING;
}

static ssize_t
stack_send(struct sockets *sockets, struct socket_id id, const void *buf, size_t len)
{
	struct stream *stream = stream_of(id);
	err_t error = ERR_OK;
	size_t taken;

	(void)sockets;
	if (stream->pcb == NULL)
		return SOCKETS_BROKEN;
	taken = len < tcp_sndbuf(stream->pcb) ? len : tcp_sndbuf(stream->pcb);
	/* Many short segments may fill the queue before the buffer. */
	for (; taken > 0; taken /= 2) {
		error = tcp_write(stream->pcb, buf, (uint16_t)taken, TCP_WRITE_FLAG_COPY);
		if (error != ERR_MEM)
			break;
	}
	if (taken > 0 && error != ERR_OK)
		return SOCKETS_BROKEN;
	if (taken < len)
		stream->wants_room = true;
	/* If this fails now, lwIP tries it again. */
	(void)tcp_output(stream->pcb);
	return (ssize_t)taken;
}

static void
stack_shutdown(struct sockets *sockets, struct socket_id id)
{
	struct stream *stream = stream_of(id);

	(void)sockets;
	if (stream->pcb != NULL)
		(void)tcp_shutdown(stream->pcb, 0, 1);
}

/* Give a connection back, with a reset or without. */
static void
stream_end(struct stream *stream, bool is_reset)
{
	struct tcp_pcb *pcb = stream->pcb;

	if (pcb != NULL) {
		let_go(stream);
		if (is_reset)
			tcp_abort(pcb);
		else
			(void)tcp_close(pcb);
	}
	while (stream->received != NULL) {
		struct pbuf *pbuf = stream->received;

		stream->received = pbuf->next;
		pbuf->next = NULL;
		pbuf_free(pbuf);
	}
	/* Events of the same poll may still name it. */
	stream->is_closed = true;
	make_ready(stream, 0);
}

static void
stack_close(struct sockets *sockets, struct socket_id id)
{
	(void)sockets;
	stream_end(stream_of(id), stream_of(id)->received != NULL);
}

static void
stack_abort(struct sockets *sockets, struct socket_id id)
{
	(void)sockets;
	stream_end(stream_of(id), true);
}

static void
stack_set_user(struct sockets *sockets, struct socket_id id, void *user)
{
	(void)sockets;
	stream_of(id)->user = user;
}

static void
stack_stop_listening(struct sockets *sockets)
{
	struct stack *stack = (struct stack *)sockets;

	(void)tcp_close(stack->listener);
	stack->listener = NULL;
}

static void
stack_free(struct sockets *sockets)
{
	struct stack *stack = (struct stack *)sockets;

	while (stack->ready != NULL) {
		struct stream *stream = stack->ready;

		stack->ready = stream->next_ready;
		if (!stream->is_closed)
			/* Accepted, and not reported. */
			stream_end(stream, true);
		free(stream);
	}
	if (stack->listener != NULL)
		(void)tcp_close(stack->listener);
	port_stop(&stack->port);
	free(stack);
}

/* Returns what has failed, or NULL. */
static const char *
add_address(struct stack *stack, const struct sockaddr *address, uint8_t prefix_len)
{
	const ip4_addr_t mask = {prefix_len == 0 ? 0 : htonl(UINT32_MAX << (32 - prefix_len))};
	struct netif *netif = &stack->port.netif;
	uint16_t port;
	ip_addr_t ip;
	bool is_v4;

	to_ip(address, &ip, &port);
	is_v4 = IP_IS_V4(&ip);
	if (!is_v4 && prefix_len != IPV6_PREFIX_LEN)
		return "lwIP knows IPv6 networks of 64 bits alone: give ADDRESS/64";
	if (netif_add(netif, is_v4 ? ip_2_ip4(&ip) : NULL, is_v4 ? &mask : NULL, NULL, &stack->port,
		    port_init_netif, ethernet_input) == NULL)
		return "cannot ask the port for its MAC address";
	netif->output = etharp_output;
	netif->output_ip6 = ethip6_output;
	if (!is_v4) {
		netif_create_ip6_linklocal_address(netif, 1);
		netif_ip6_addr_set(netif, 1, ip_2_ip6(&ip));
		netif_ip6_addr_set_state(netif, 1, IP6_ADDR_PREFERRED);
	}
	netif_set_default(netif);
	netif_set_up(netif);
	return NULL;
}

/* Returns what has failed, or NULL. */
static const char *
stack_listen(struct stack *stack, uint16_t port)
{
	struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_ANY);

	if (pcb == NULL || tcp_bind(pcb, IP_ANY_TYPE, port) != ERR_OK)
		return "cannot bind the port";
	stack->listener = tcp_listen(pcb);
	if (stack->listener == NULL)
		return "cannot listen";
	tcp_arg(stack->listener, stack);
	tcp_accept(stack->listener, on_accepted);
	return NULL;
}

struct sockets *
dpdk_listen(const struct sockaddr *address, uint8_t prefix_len, uint16_t port, const char **error)
{
	struct stack *stack = calloc(1, sizeof(*stack));

	*error = "no memory";
	if (stack == NULL)
		return NULL;
	stack->sockets = (struct sockets){
		.poll = stack_poll,
		.connect = stack_connect,
		.receive = stack_receive,
		.send = stack_send,
		.shutdown = stack_shutdown,
		.close = stack_close,
		.abort = stack_abort,
		.set_user = stack_set_user,
		.stop_listening = stack_stop_listening,
		.free = stack_free,
	};
	stack->last_ready = &stack->ready;
	*error = port_start(&stack->port);
	if (*error == NULL) {
		lwip_init();
		*error = add_address(stack, address, prefix_len);
	}
	if (*error == NULL)
		*error = stack_listen(stack, port);
	if (*error == NULL)
		return &stack->sockets;
	free(stack);
	return NULL;
}
