/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * All connections of a service.
 */
#ifndef SERVER_H
#define SERVER_H

#include "connection.h"
#include "running.h"

/* A service on one port. */
struct server {
	struct running running;
	struct sockets *sockets;
	const struct service *service;
	uint64_t timeout_ms;
	struct connection *connections;
	uint64_t looked_ms;
	/* Requests, those with an error included. */
	uint64_t answered;
};

/* Returns a service whose peers may take so long, or NULL without memory; then sockets stay the
 * caller's.
 */
struct running *server_new(
	struct sockets *sockets, const struct service *service, uint64_t timeout_ms);

#endif
