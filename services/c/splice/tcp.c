/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "tcp.h"

#define BACKLOG 1024

static int
open_socket(const struct sockaddr_storage *address)
{
	return socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static socklen_t
address_len(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET ? sizeof(struct sockaddr_in)
					     : sizeof(struct sockaddr_in6);
}

int
tcp_listen(const struct sockaddr_storage *address)
{
	const struct sockaddr *at = (const struct sockaddr *)address;
	int fd = open_socket(address);
	int on = 1, error;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		bind(fd, at, address_len(address)) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int
tcp_connect(const struct sockaddr_storage *to)
{
	int fd = open_socket(to);
	int error;

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)to, address_len(to)) == 0 || errno == EINPROGRESS)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int
tcp_reset(int socket)
{
	const struct linger at_once = {.l_onoff = 1};

	/* Else it ends without a reset. */
	setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	return close(socket);
}
