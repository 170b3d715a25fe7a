/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "now.h"
#include "server.h"

#define MAX_EVENTS 64

static void
server_close(struct server *server, struct connection *connection)
{
	if (connection->previous != NULL)
		connection->previous->next = connection->next;
	else
		server->connections = connection->next;
	if (connection->next != NULL)
		connection->next->previous = connection->previous;
	server->sockets->set_user(server->sockets, connection->id, NULL);
	server->sockets->close(server->sockets, connection->id);
	server->service->free(connection->state);
	buffer_free(&connection->output);
	free(connection);
}

static struct connection *
server_accept(struct server *server, struct socket_id id)
{
	struct connection *connection =
		calloc(1, sizeof(*connection) + server->service->state_size);

	if (connection == NULL) {
		server->sockets->close(server->sockets, id);
		return NULL;
	}
	connection->id = id;
	connection->next = server->connections;
	if (server->connections != NULL)
		server->connections->previous = connection;
	server->connections = connection;
	server->sockets->set_user(server->sockets, id, connection);
	return connection;
}

static void
look_for_slow_peers(struct server *server, uint64_t now)
{
	struct connection *next;

	for (struct connection *one = server->connections; one != NULL; one = next) {
		bool goes_on = true;

		next = one->next;
		if (one->waiting_ms != 0 && now - one->waiting_ms >= server->timeout_ms)
			goes_on = connection_time_out(one, server->service, server->sockets, now);
		else if (one->waiting_ms == 0 &&
			 now - one->active_ms >= IDLE_TIMEOUTS * server->timeout_ms)
			goes_on = false;
		if (!goes_on)
			server_close(server, one);
	}
}

static int
server_poll(struct running *running)
{
	struct server *server = (struct server *)running;
	struct sockets_event events[MAX_EVENTS];
	int nb_events = server->sockets->poll(server->sockets, events, MAX_EVENTS, LOOK_EVERY_MS);
	uint64_t now = now_ms();

	if (nb_events < 0)
		return -1;
	for (int i = 0; i < nb_events; i++) {
		struct connection *connection = events[i].user;

		if (events[i].events & SOCKETS_ACCEPTED)
			/* Something may have come already. */
			connection = server_accept(server, events[i].id);
		if (connection != NULL && !connection_go_on(connection, server->service,
						  server->sockets, now, &server->answered))
			server_close(server, connection);
	}
	if (now - server->looked_ms >= LOOK_EVERY_MS) {
		server->looked_ms = now;
		look_for_slow_peers(server, now);
	}
	return 0;
}

static bool
server_stop(struct running *running)
{
	(void)running;
	return true;
}

static void
server_print(const struct running *running)
{
	/* Those with an error included. */
	printf("%" PRIu64 " requests answered", ((const struct server *)running)->answered);
}

static void
server_free(struct running *running)
{
	struct server *server = (struct server *)running;

	while (server->connections != NULL)
		server_close(server, server->connections);
	server->sockets->free(server->sockets);
	free(server);
}

struct running *
server_new(struct sockets *sockets, const struct service *service, uint64_t timeout_ms)
{
	struct server *server = calloc(1, sizeof(*server));

	if (server == NULL)
		return NULL;
	server->running = (struct running){
		.poll = server_poll,
		.stop = server_stop,
		.print = server_print,
		.free = server_free,
	};
	server->sockets = sockets;
	server->service = service;
	server->timeout_ms = timeout_ms;
	return &server->running;
}
