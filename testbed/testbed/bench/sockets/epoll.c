/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The echo server of a race on the kernel's sockets: one thread, one epoll. Usage: epoll PORT.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 256
#define BACKLOG 1024
#define BUFFER_LEN 128

static int
fail(const char *what)
{
	fprintf(stderr, "epoll: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

static int
open_listener(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int on = 1;

	if (listener < 0)
		return -1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(listener, BACKLOG) < 0)
		return -1;
	return listener;
}

static int
watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void
accept_all(int epoll, int listener)
{
	int on = 1;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (watch(epoll, fd) < 0)
			close(fd);
	}
}

/* A client has one request on its way, so an answer always fits into the socket's buffer. */
static void
echo(int fd)
{
	char bytes[BUFFER_LEN];
	ssize_t len = read(fd, bytes, sizeof(bytes));

	if (len > 0)
		len = write(fd, bytes, (size_t)len);
	if (len == 0 || (len < 0 && errno != EAGAIN))
		close(fd);
}

int
main(int argc, char **argv)
{
	struct epoll_event events[EVENTS_MAX];
	int listener, epoll, ready;

	if (argc != 2) {
		fprintf(stderr, "epoll: give a port\n");
		return EXIT_FAILURE;
	}
	listener = open_listener((uint16_t)atoi(argv[1]));
	if (listener < 0)
		return fail("listen");
	epoll = epoll_create1(0);
	if (epoll < 0 || watch(epoll, listener) < 0)
		return fail("epoll");
	for (;;) {
		ready = epoll_wait(epoll, events, EVENTS_MAX, -1);
		if (ready < 0 && errno != EINTR)
			return fail("epoll_wait");
		for (int i = 0; i < ready; i++) {
			if (events[i].data.fd == listener)
				accept_all(epoll, listener);
			else
				echo(events[i].data.fd);
		}
	}
}
