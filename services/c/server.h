/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * All connections of a service.
 */
#ifndef SERVER_H
#define SERVER_H

#include "connection.h"

/* A service on one port. */
struct server {
	struct sockets *sockets;
	const struct service *service;
	uint64_t timeout_ms;
	struct connection *connections;
	uint64_t looked_ms;
	/* Requests, those with an error included. */
	uint64_t answered;
};

/* Do what there is to do, or wait a little for something. Returns -1 with errno. */
int server_poll(struct server *server);

/* Close all connections. */
void server_end(struct server *server);

#endif
