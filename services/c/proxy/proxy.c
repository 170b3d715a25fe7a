/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../now.h"
#include "pair.h"
#include "proxy.h"

#define MAX_EVENTS 64

struct proxy {
	struct running running;
	struct sockets *sockets;
	struct terms terms;
	struct pair *pairs;
	size_t nb_pairs;
	/* Those that are closed: events of the same poll may still name them. */
	struct pair *closed;
	uint64_t looked_ms;
	/* 0: it goes on. */
	uint64_t stopped_ms;
	/* What has become of connections. */
	uint64_t nb_connections;
	uint64_t nb_refused;
	uint64_t nb_over_limit;
	uint64_t nb_broken;
};

static void
proxy_accept(struct proxy *proxy, struct socket_id client, uint64_t now)
{
	struct sockets *sockets = proxy->sockets;
	struct pair *pair;

	if (proxy->nb_pairs == proxy->terms.limit) {
		proxy->nb_over_limit++;
		sockets->abort(sockets, client);
		return;
	}
	pair = calloc(1, sizeof(*pair));
	if (pair == NULL || !sockets->connect(sockets, (const struct sockaddr *)&proxy->terms.to,
				    pair, &pair->back_end)) {
		free(pair);
		proxy->nb_refused++;
		sockets->abort(sockets, client);
		return;
	}
	pair->client = client;
	pair->active_ms = now;
	pair->next = proxy->pairs;
	if (proxy->pairs != NULL)
		proxy->pairs->previous = pair;
	proxy->pairs = pair;
	proxy->nb_pairs++;
	sockets->set_user(sockets, client, pair);
}

static void
proxy_end(struct proxy *proxy, struct pair *pair,
	void (*give_back)(struct sockets *sockets, struct socket_id id))
{
	struct sockets *sockets = proxy->sockets;

	if (pair->previous != NULL)
		pair->previous->next = pair->next;
	else
		proxy->pairs = pair->next;
	if (pair->next != NULL)
		pair->next->previous = pair->previous;
	proxy->nb_pairs--;
	sockets->set_user(sockets, pair->client, NULL);
	sockets->set_user(sockets, pair->back_end, NULL);
	give_back(sockets, pair->client);
	give_back(sockets, pair->back_end);
	pair->is_closed = true;
	pair->next = proxy->closed;
	proxy->closed = pair;
}

/* Reset both connections of a pair. */
static void
break_off(struct proxy *proxy, struct pair *pair)
{
	if (pair->is_connected)
		proxy->nb_broken++;
	else
		proxy->nb_refused++;
	proxy_end(proxy, pair, proxy->sockets->abort);
}

static void
proxy_go_on(struct proxy *proxy, struct pair *pair, struct socket_id id, uint64_t now)
{
	switch (pair->is_connected ? pair_go_on(pair, proxy->sockets, now)
				   : pair_wait(pair, id, proxy->sockets)) {
	case GOES_ON:
		break;
	case OVER:
		proxy_end(proxy, pair, proxy->sockets->close);
		break;
	case BROKEN:
		break_off(proxy, pair);
		break;
	}
}

static void
look_for_slow_peers(struct proxy *proxy, uint64_t now)
{
	struct pair *next;

	for (struct pair *pair = proxy->pairs; pair != NULL; pair = next) {
		uint64_t patience = proxy->terms.timeout_ms;

		next = pair->next;
		if (pair->is_connected)
			patience *= IDLE_TIMEOUTS;
		if (now - pair->active_ms >= patience)
			break_off(proxy, pair);
	}
}

static void
free_closed(struct proxy *proxy)
{
	while (proxy->closed != NULL) {
		struct pair *pair = proxy->closed;

		proxy->closed = pair->next;
		pair_free(pair);
	}
}

static int
proxy_poll(struct running *running)
{
	struct proxy *proxy = (struct proxy *)running;
	struct sockets_event events[MAX_EVENTS];
	int nb_events = proxy->sockets->poll(proxy->sockets, events, MAX_EVENTS, LOOK_EVERY_MS);
	uint64_t now = now_ms();

	if (nb_events < 0)
		return -1;
	for (int i = 0; i < nb_events; i++) {
		struct pair *pair = events[i].user;

		if (events[i].events & SOCKETS_ACCEPTED)
			proxy_accept(proxy, events[i].id, now);
		if (pair == NULL || pair->is_closed)
			continue;
		if (events[i].events & SOCKETS_CONNECTED) {
			pair->is_connected = true;
			proxy->nb_connections++;
		}
		proxy_go_on(proxy, pair, events[i].id, now);
	}
	if (now - proxy->looked_ms >= LOOK_EVERY_MS) {
		proxy->looked_ms = now;
		look_for_slow_peers(proxy, now);
	}
	free_closed(proxy);
	return 0;
}

/* Pairs may go on until they end, for a time-out at most. */
static bool
proxy_stop(struct running *running)
{
	struct proxy *proxy = (struct proxy *)running;
	uint64_t now = now_ms();

	if (proxy->stopped_ms == 0) {
		proxy->stopped_ms = now;
		proxy->sockets->stop_listening(proxy->sockets);
	}
	if (now - proxy->stopped_ms >= proxy->terms.timeout_ms)
		while (proxy->pairs != NULL)
			break_off(proxy, proxy->pairs);
	return proxy->pairs == NULL;
}

static void
proxy_print(const struct running *running)
{
	const struct proxy *proxy = (const struct proxy *)running;

	printf("%" PRIu64 " connections, %" PRIu64 " refused, %" PRIu64 " over the limit, %" PRIu64
	       " broken",
		proxy->nb_connections, proxy->nb_refused, proxy->nb_over_limit, proxy->nb_broken);
}

static void
proxy_free(struct running *running)
{
	struct proxy *proxy = (struct proxy *)running;

	while (proxy->pairs != NULL)
		break_off(proxy, proxy->pairs);
	free_closed(proxy);
	proxy->sockets->free(proxy->sockets);
	free(proxy);
}

struct running *
proxy_new(struct sockets *sockets, const struct terms *terms)
{
	struct proxy *proxy = calloc(1, sizeof(*proxy));

	if (proxy == NULL)
		return NULL;
	proxy->running = (struct running){
		.poll = proxy_poll,
		.stop = proxy_stop,
		.print = proxy_print,
		.free = proxy_free,
	};
	proxy->sockets = sockets;
	proxy->terms = *terms;
	return &proxy->running;
}
