/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * One connection of any service: what it reads, and what is to be sent.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "service.h"
#include "sockets.h"

struct connection {
	struct socket_id id;
	/* Answers, of which so many bytes are sent. */
	struct buffer output;
	size_t sent;
	/* Whether the beginning of something has come, and not the rest. */
	bool is_partial;
	/* Nothing more is answered. What comes is read away, so that the peer gets the last answer
	 * and not a reset.
	 */
	bool is_last;
	/* Whether the direction to the peer is closed. */
	bool is_shut_down;
	/* Since when the peer has to do something: to complete a request, to take an answer, or to
	 * close. 0: it has not.
	 */
	uint64_t waiting_ms;
	/* When it did something last. */
	uint64_t active_ms;
	/* Others of the server. */
	struct connection *next;
	struct connection *previous;
	/* Of the service. */
	_Alignas(max_align_t) char state[];
};

/* Read, answer and send as far as it goes, and count the requests that were answered. Returns
 * whether the connection goes on; else it can be closed.
 */
bool connection_go_on(struct connection *connection, const struct service *service,
	struct sockets *sockets, uint64_t now_ms, uint64_t *answered);

/* The peer was too slow. Returns whether the connection goes on, with an answer for it. */
bool connection_time_out(struct connection *connection, const struct service *service,
	struct sockets *sockets, uint64_t now_ms);

#endif
