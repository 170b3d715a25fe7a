/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Linux's sockets, by epoll with edges.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sockets.h"

#define MAX_EVENTS 256
#define BACKLOG 1024

struct stream {
	/* -1: closed. */
	int fd;
	/* It is not known yet whether it connects. */
	bool is_opening;
	/* By a reset, which reading does not tell after the end. */
	bool is_broken;
	void *user;
	/* Of those that are closed: events of the same poll may still name them. */
	struct stream *next;
};

struct kernel {
	struct sockets sockets;
	int epoll;
	/* -1: closed. */
	int listener;
	/* Whether connections may wait to be accepted. */
	bool may_accept;
	struct stream *closed;
};

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

/* Wait for what happens to a socket. Returns NULL after it was closed. */
static struct stream *
kernel_add(struct kernel *kernel, int fd)
{
	struct epoll_event wanted = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
	struct stream *stream = calloc(1, sizeof(*stream));
	int on = 1;

	if (stream != NULL) {
		stream->fd = fd;
		wanted.data.ptr = stream;
		/* What is written is complete. */
		if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
			epoll_ctl(kernel->epoll, EPOLL_CTL_ADD, fd, &wanted) == 0)
			return stream;
	}
	free(stream);
	close(fd);
	return NULL;
}

/* Returns 1, or 0 if there is none now. */
static int
kernel_accept(struct kernel *kernel, struct sockets_event *event)
{
	struct stream *stream;
	int fd;

	do {
		fd = accept4(kernel->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	} while (fd < 0 && (errno == ECONNABORTED || errno == EINTR));
	if (fd < 0) {
		/* If all files are in use, some are closed sooner or later. */
		kernel->may_accept = errno != EAGAIN;
		return 0;
	}
	stream = kernel_add(kernel, fd);
	if (stream == NULL)
		return 0;
	*event = (struct sockets_event){SOCKETS_ACCEPTED, id_of(stream), NULL};
	return 1;
}

static int
kernel_poll(struct sockets *sockets, struct sockets_event *events, int max_events, int wait_ms)
{
	struct kernel *kernel = (struct kernel *)sockets;
	struct epoll_event ready[MAX_EVENTS];
	int nb_ready, nb_events = 0;

	while (kernel->closed != NULL) {
		struct stream *stream = kernel->closed;

		kernel->closed = stream->next;
		free(stream);
	}
	if (max_events > MAX_EVENTS)
		max_events = MAX_EVENTS;
	nb_ready = epoll_wait(kernel->epoll, ready, max_events, kernel->may_accept ? 0 : wait_ms);
	if (nb_ready < 0)
		return errno == EINTR ? 0 : -1;
	for (int i = 0; i < nb_ready; i++) {
		struct stream *stream = ready[i].data.ptr;
		struct sockets_event *event = &events[nb_events];

		if (stream == NULL) {
			kernel->may_accept = true;
			continue;
		}
		*event = (struct sockets_event){0, id_of(stream), stream->user};
		if (stream->is_opening && (ready[i].events & EPOLLOUT) &&
			!(ready[i].events & EPOLLERR)) {
			stream->is_opening = false;
			event->events |= SOCKETS_CONNECTED;
		}
		if ((ready[i].events & EPOLLERR) && !stream->is_opening)
			stream->is_broken = true;
		if (ready[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			event->events |= SOCKETS_READABLE;
		if (ready[i].events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
			event->events |= SOCKETS_WRITABLE;
		nb_events++;
	}
	while (kernel->may_accept && nb_events < max_events &&
		kernel_accept(kernel, &events[nb_events]) > 0)
		nb_events++;
	return nb_events;
}

static bool
kernel_connect(struct sockets *sockets, const struct sockaddr *to, void *user, struct socket_id *id)
{
	const socklen_t len =
		to->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct stream *stream;

	if (fd < 0)
		return false;
	if (connect(fd, to, len) < 0 && errno != EINPROGRESS) {
		close(fd);
		return false;
	}
	stream = kernel_add((struct kernel *)sockets, fd);
	if (stream == NULL)
		return false;
	stream->is_opening = true;
	stream->user = user;
	*id = id_of(stream);
	return true;
}

static ssize_t
kernel_receive(struct sockets *sockets, struct socket_id id, void *buf, size_t len)
{
	ssize_t received;

	(void)sockets;
	do {
		received = recv(stream_of(id)->fd, buf, len, 0);
	} while (received < 0 && errno == EINTR);
	if (received == 0 && stream_of(id)->is_broken)
		return SOCKETS_BROKEN;
	if (received >= 0)
		return received;
	return errno == EAGAIN ? SOCKETS_NOTHING : SOCKETS_BROKEN;
}

static ssize_t
kernel_send(struct sockets *sockets, struct socket_id id, const void *buf, size_t len)
{
	size_t sent = 0;

	(void)sockets;
	while (sent < len) {
		ssize_t ret =
			send(stream_of(id)->fd, (const char *)buf + sent, len - sent, MSG_NOSIGNAL);

		if (ret >= 0)
			sent += (size_t)ret;
		else if (errno == EAGAIN)
			/* An event comes when there is room. */
			break;
		else if (errno != EINTR)
			return SOCKETS_BROKEN;
	}
	return (ssize_t)sent;
}

static void
kernel_shutdown(struct sockets *sockets, struct socket_id id)
{
	(void)sockets;
	/* One that is broken is closed soon. */
	shutdown(stream_of(id)->fd, SHUT_WR);
}

static void
kernel_close(struct sockets *sockets, struct socket_id id)
{
	struct kernel *kernel = (struct kernel *)sockets;
	struct stream *stream = stream_of(id);

	close(stream->fd);
	stream->fd = -1;
	stream->next = kernel->closed;
	kernel->closed = stream;
}

static void
kernel_abort(struct sockets *sockets, struct socket_id id)
{
	const struct linger at_once = {.l_onoff = 1};

	/* Else it ends without a reset. */
	setsockopt(stream_of(id)->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	kernel_close(sockets, id);
}

static void
kernel_stop_listening(struct sockets *sockets)
{
	struct kernel *kernel = (struct kernel *)sockets;

	close(kernel->listener);
	kernel->listener = -1;
	kernel->may_accept = false;
}

static void
kernel_set_user(struct sockets *sockets, struct socket_id id, void *user)
{
	(void)sockets;
	stream_of(id)->user = user;
}

static void
kernel_free(struct sockets *sockets)
{
	struct kernel *kernel = (struct kernel *)sockets;

	while (kernel->closed != NULL) {
		struct stream *stream = kernel->closed;

		kernel->closed = stream->next;
		free(stream);
	}
	if (kernel->listener >= 0)
		close(kernel->listener);
	close(kernel->epoll);
	free(kernel);
}

struct sockets *
kernel_listen(const struct sockaddr *address, socklen_t len)
{
	struct epoll_event wanted = {.events = EPOLLIN | EPOLLET};
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int on = 1, error;

	if (kernel == NULL)
		return NULL;
	kernel->sockets = (struct sockets){
		.poll = kernel_poll,
		.connect = kernel_connect,
		.receive = kernel_receive,
		.send = kernel_send,
		.shutdown = kernel_shutdown,
		.close = kernel_close,
		.abort = kernel_abort,
		.set_user = kernel_set_user,
		.stop_listening = kernel_stop_listening,
		.free = kernel_free,
	};
	kernel->epoll = epoll_create1(EPOLL_CLOEXEC);
	kernel->listener =
		socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (kernel->epoll >= 0 && kernel->listener >= 0 &&
		setsockopt(kernel->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		bind(kernel->listener, address, len) == 0 &&
		listen(kernel->listener, BACKLOG) == 0 &&
		epoll_ctl(kernel->epoll, EPOLL_CTL_ADD, kernel->listener, &wanted) == 0)
		return &kernel->sockets;
	error = errno;
	kernel_free(&kernel->sockets);
	errno = error;
	return NULL;
}
