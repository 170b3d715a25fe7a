/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Sockets that never wait.
 */
#ifndef TCP_H
#define TCP_H

#include <sys/socket.h>

/* Returns a socket to accept connections from, or -1 with errno. */
int tcp_listen(const struct sockaddr_storage *address);

/* Returns a socket that connects, or -1 with errno. */
int tcp_connect(const struct sockaddr_storage *to);

/* Close a socket, whose peer gets a reset. Returns like close. */
int tcp_reset(int socket);

#endif
