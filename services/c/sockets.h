/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * TCP as a service sees it: events, and calls that never wait. The same on the kernel's sockets
 * (kernel.c) and on dpdk-sockets (dpdk.c), in whose place a program may have lwIP (lwip/lwip.c).
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* So much is read at a time. */
#define ROOM 16384

/* A peer has connected to the port. */
#define SOCKETS_ACCEPTED 1
/* There is something to read, the end, or an error. */
#define SOCKETS_READABLE 2
/* There is room again after send did not take all. */
#define SOCKETS_WRITABLE 4
/* A connection that connect began is there. */
#define SOCKETS_CONNECTED 8

/* What receive and send return in place of a number of bytes: nothing to read now, and a connection
 * that is broken.
 */
#define SOCKETS_NOTHING (-1)
#define SOCKETS_BROKEN (-2)

/* A connection, until it is closed. */
struct socket_id {
	uint64_t id;
};

/* What has happened to a connection. Each is reported once: read until there is nothing, and write
 * until there is no room.
 */
struct sockets_event {
	uint32_t events;
	struct socket_id id;
	/* NULL, or what set_user was given. */
	void *user;
};

/* The connections to one port, and from it to others. */
struct sockets {
	/* Write what has happened. If nothing has, and the sockets can wait, wait for so many
	 * milliseconds at most. Returns how many events, or -1 with errno.
	 */
	int (*poll)(
		struct sockets *sockets, struct sockets_event *events, int max_events, int wait_ms);
	/* Begin to connect. SOCKETS_CONNECTED follows, or SOCKETS_READABLE if that fails, and then
	 * the connection is broken. Returns false if it cannot even begin.
	 */
	bool (*connect)(struct sockets *sockets, const struct sockaddr *to, void *user,
		struct socket_id *id);
	/* Copy received bytes. Returns how many; 0 if the peer has closed its direction. */
	ssize_t (*receive)(struct sockets *sockets, struct socket_id id, void *buf, size_t len);
	/* Take bytes to send. Returns how many. */
	ssize_t (*send)(struct sockets *sockets, struct socket_id id, const void *buf, size_t len);
	/* Close the direction to the peer, after all that was sent. */
	void (*shutdown)(struct sockets *sockets, struct socket_id id);
	/* Give a connection back. What was received and not read is lost, and the peer then gets a
	 * reset.
	 */
	void (*close)(struct sockets *sockets, struct socket_id id);
	/* Give a connection back, whose peer gets a reset. */
	void (*abort)(struct sockets *sockets, struct socket_id id);
	void (*set_user)(struct sockets *sockets, struct socket_id id, void *user);
	/* Accept no more connections. */
	void (*stop_listening)(struct sockets *sockets);
	void (*free)(struct sockets *sockets);
};

/* Listen on the kernel's sockets. Returns NULL with errno. */
struct sockets *kernel_listen(const struct sockaddr *address, socklen_t len);

/* Start the first port of the EAL, and listen at an address on it, which has so many bits of its
 * network. Returns NULL, and *error is what has failed.
 */
struct sockets *dpdk_listen(
	const struct sockaddr *address, uint8_t prefix_len, uint16_t port, const char **error);

#endif
