/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../now.h"
#include "../running.h"
#include "pair.h"
#include "proxy.h"
#include "tcp.h"

#define MAX_EVENTS 256

LIST_HEAD(pairs, pair);

struct proxy {
	struct options options;
	int epoll;
	/* -1: closed. */
	int listener;
	/* Whether connections may wait to be accepted. */
	bool may_accept;
	struct pipe spare;
	struct pairs pairs;
	size_t nb_pairs;
	/* Those that are closed: events of the same poll may still name them. */
	struct pairs closed;
	uint64_t looked_ms;
	/* 0: it goes on. */
	uint64_t stopped_ms;
	/* What has become of connections. */
	uint64_t nb_connections;
	uint64_t nb_refused;
	uint64_t nb_over_limit;
	uint64_t nb_broken;
};

/* Wait for what happens to a connection. Returns false if that cannot be. */
static bool
proxy_watch(struct proxy *proxy, struct end *end, struct pair *pair)
{
	struct epoll_event wanted = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = end,
	};
	int on = 1;

	end->pair = pair;
	/* What comes is passed on at once. */
	return setsockopt(end->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
	       epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, end->socket, &wanted) == 0;
}

/* Returns NULL if the client cannot be joined to the back end. */
static struct pair *
proxy_join(struct proxy *proxy, int client)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	if (pair == NULL)
		return NULL;
	pair->client.socket = client;
	pair->to_back_end.pipe = pair->to_client.pipe = NO_PIPE;
	pair->back_end.socket = tcp_connect(&proxy->options.to);
	if (pair->back_end.socket < 0) {
		free(pair);
		return NULL;
	}
	if (!proxy_watch(proxy, &pair->client, pair) ||
		!proxy_watch(proxy, &pair->back_end, pair)) {
		close(pair->back_end.socket);
		free(pair);
		return NULL;
	}
	return pair;
}

static void
proxy_accept(struct proxy *proxy, int client, uint64_t now)
{
	struct pair *pair;

	if (proxy->nb_pairs == proxy->options.limit) {
		proxy->nb_over_limit++;
		tcp_reset(client);
		return;
	}
	pair = proxy_join(proxy, client);
	if (pair == NULL) {
		proxy->nb_refused++;
		tcp_reset(client);
		return;
	}
	pair->active_ms = now;
	LIST_INSERT_HEAD(&proxy->pairs, pair, others);
	proxy->nb_pairs++;
}

static void
proxy_accept_all(struct proxy *proxy, uint64_t now)
{
	while (proxy->may_accept) {
		int client = accept4(proxy->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (client >= 0)
			proxy_accept(proxy, client, now);
		else if (errno == EAGAIN)
			proxy->may_accept = false;
		else if (errno != ECONNABORTED && errno != EINTR)
			/* If all files are in use, some are closed sooner or later. */
			return;
	}
}

static void
proxy_end(struct proxy *proxy, struct pair *pair, int (*close_socket)(int socket))
{
	close_socket(pair->client.socket);
	close_socket(pair->back_end.socket);
	pipe_close(&pair->to_back_end.pipe);
	pipe_close(&pair->to_client.pipe);
	pair->is_closed = true;
	LIST_REMOVE(pair, others);
	LIST_INSERT_HEAD(&proxy->closed, pair, others);
	proxy->nb_pairs--;
}

/* Reset both connections of a pair. */
static void
break_off(struct proxy *proxy, struct pair *pair)
{
	if (pair->is_connected)
		proxy->nb_broken++;
	else
		proxy->nb_refused++;
	proxy_end(proxy, pair, tcp_reset);
}

/* Pass on what has happened to a connection. */
static void
proxy_go_on(struct proxy *proxy, struct end *end, uint32_t events, uint64_t now)
{
	struct pair *pair = end->pair;
	enum fate fate = GOES_ON;

	if (events & EPOLLERR)
		end->is_broken = true;
	if (!pair->is_connected && end == &pair->back_end) {
		if (end->is_broken) {
			fate = BROKEN;
		} else if (events & EPOLLOUT) {
			pair->is_connected = true;
			proxy->nb_connections++;
		}
	}
	if (pair->is_connected)
		fate = pair_go_on(pair, &proxy->spare, now);
	if (fate == OVER)
		proxy_end(proxy, pair, close);
	else if (fate == BROKEN)
		break_off(proxy, pair);
}

static void
look_for_slow_peers(struct proxy *proxy, uint64_t now)
{
	struct pair *next;

	for (struct pair *pair = LIST_FIRST(&proxy->pairs); pair != NULL; pair = next) {
		uint64_t patience = proxy->options.timeout_ms;

		next = LIST_NEXT(pair, others);
		if (pair->is_connected)
			patience *= IDLE_TIMEOUTS;
		if (now - pair->active_ms >= patience)
			break_off(proxy, pair);
	}
}

static void
break_off_all(struct proxy *proxy)
{
	while (!LIST_EMPTY(&proxy->pairs))
		break_off(proxy, LIST_FIRST(&proxy->pairs));
}

static void
free_closed(struct proxy *proxy)
{
	while (!LIST_EMPTY(&proxy->closed)) {
		struct pair *pair = LIST_FIRST(&proxy->closed);

		LIST_REMOVE(pair, others);
		free(pair);
	}
}

int
proxy_poll(struct proxy *proxy)
{
	struct epoll_event events[MAX_EVENTS];
	int nb_events = epoll_wait(proxy->epoll, events, MAX_EVENTS, LOOK_EVERY_MS);
	uint64_t now = now_ms();

	if (nb_events < 0)
		return errno == EINTR ? 0 : -1;
	for (int i = 0; i < nb_events; i++) {
		struct end *end = events[i].data.ptr;

		if (end == NULL)
			proxy->may_accept = true;
		else if (!end->pair->is_closed)
			proxy_go_on(proxy, end, events[i].events, now);
	}
	proxy_accept_all(proxy, now);
	if (now - proxy->looked_ms >= LOOK_EVERY_MS) {
		proxy->looked_ms = now;
		look_for_slow_peers(proxy, now);
	}
	free_closed(proxy);
	return 0;
}

bool
proxy_stop(struct proxy *proxy)
{
	uint64_t now = now_ms();

	if (proxy->stopped_ms == 0) {
		proxy->stopped_ms = now;
		close(proxy->listener);
		proxy->listener = -1;
		proxy->may_accept = false;
	}
	if (now - proxy->stopped_ms >= proxy->options.timeout_ms)
		break_off_all(proxy);
	return LIST_EMPTY(&proxy->pairs);
}

void
proxy_print(const struct proxy *proxy)
{
	printf("%" PRIu64 " connections, %" PRIu64 " refused, %" PRIu64 " over the limit, %" PRIu64
	       " broken",
		proxy->nb_connections, proxy->nb_refused, proxy->nb_over_limit, proxy->nb_broken);
}

void
proxy_free(struct proxy *proxy)
{
	break_off_all(proxy);
	free_closed(proxy);
	pipe_close(&proxy->spare);
	if (proxy->listener >= 0)
		close(proxy->listener);
	if (proxy->epoll >= 0)
		close(proxy->epoll);
	free(proxy);
}

struct proxy *
proxy_new(const struct options *options)
{
	struct epoll_event wanted = {.events = EPOLLIN | EPOLLET};
	struct proxy *proxy = calloc(1, sizeof(*proxy));
	int error;

	if (proxy == NULL)
		return NULL;
	proxy->options = *options;
	proxy->spare = NO_PIPE;
	proxy->epoll = epoll_create1(EPOLL_CLOEXEC);
	proxy->listener = tcp_listen(&options->address);
	if (proxy->epoll >= 0 && proxy->listener >= 0 &&
		epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, proxy->listener, &wanted) == 0)
		return proxy;
	error = errno;
	proxy_free(proxy);
	errno = error;
	return NULL;
}
