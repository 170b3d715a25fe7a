/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * TCP and UDP for DPDK programs: one stack for each lcore and queue pair. docs/c.md is the guide.
 *
 * A call returns 0, a number of bytes or events, or one of enum dpdk_sockets_error, which is negative. It never blocks, and after
 * a wrong argument it changes nothing. Handles are passed by value; one that was closed stands for nothing.
 *
 * Made from src/ by cbindgen.
 */

#ifndef DPDK_SOCKETS_H
#define DPDK_SOCKETS_H

#include <stddef.h>
#include <stdint.h>

struct rte_mempool; /* rte_mempool.h */

/**
 * A bit of dpdk_sockets_event.events: a peer has connected to a listener.
 */
#define DPDK_SOCKETS_EVENT_ACCEPTED 1

/**
 * A bit of dpdk_sockets_event.events: the connection that dpdk_sockets_connect() began is established.
 */
#define DPDK_SOCKETS_EVENT_CONNECTED 2

/**
 * A bit of dpdk_sockets_event.events: bytes have arrived, or the peer has closed its direction. It comes once for all that has
 * arrived: call dpdk_sockets_recv() until it returns 0 or an error.
 */
#define DPDK_SOCKETS_EVENT_READABLE 4

/**
 * A bit of dpdk_sockets_event.events: there is space again, after dpdk_sockets_send() did not take all bytes, or
 * dpdk_sockets_space() was 0.
 */
#define DPDK_SOCKETS_EVENT_WRITABLE 8

/**
 * A bit of dpdk_sockets_event.events: the connection has ended, as dpdk_sockets_event.error says. What has arrived before can still
 * be read. Then call dpdk_sockets_close().
 */
#define DPDK_SOCKETS_EVENT_ENDED 16

/**
 * A bit of dpdk_sockets_event.events: datagrams have arrived. It comes once for all of them: call dpdk_sockets_recv_from() until it
 * returns an error.
 */
#define DPDK_SOCKETS_EVENT_DATAGRAM 32

/**
 * A bit of dpdk_sockets_event.events: the network has given the stack other addresses, or has taken some away: see
 * dpdk_sockets_own_address().
 */
#define DPDK_SOCKETS_EVENT_ADDRESSES 64

/**
 * Why a call does nothing. dpdk_sockets_strerror() has the text.
 */
enum dpdk_sockets_error {
        /**
         * There is nothing to read now, or no room to send: wait for an event, or poll.
         */
        DPDK_SOCKETS_ERROR_AGAIN = -1,
        /**
         * A pointer is NULL.
         */
        DPDK_SOCKETS_ERROR_NULL_POINTER = -2,
        /**
         * There is no room for a single event.
         */
        DPDK_SOCKETS_ERROR_NO_EVENTS = -3,
        /**
         * This thread has not made such a stack, or has freed it.
         */
        DPDK_SOCKETS_ERROR_NO_SUCH_STACK = -4,
        /**
         * DPDK has no such port, or the EAL is not initialised.
         */
        DPDK_SOCKETS_ERROR_NO_SUCH_DEVICE = -5,
        /**
         * The port does not have an RX queue and a TX queue with this number.
         */
        DPDK_SOCKETS_ERROR_NO_SUCH_QUEUE = -6,
        /**
         * The mbufs of the pool have no room for a packet of the MTU.
         */
        DPDK_SOCKETS_ERROR_SMALL_POOL = -7,
        /**
         * No host can have this address.
         */
        DPDK_SOCKETS_ERROR_ADDRESS = -8,
        /**
         * A prefix length is at most 32 bits, in IPv6 128.
         */
        DPDK_SOCKETS_ERROR_PREFIX_LENGTH = -9,
        /**
         * A gateway is outside the stack's networks, or is the stack itself.
         */
        DPDK_SOCKETS_ERROR_GATEWAY = -10,
        /**
         * The MTU is less than 576 or more than 9000 bytes, or with IPv6 less than 1280.
         */
        DPDK_SOCKETS_ERROR_MTU = -11,
        /**
         * A buffer has more than 65535 bytes.
         */
        DPDK_SOCKETS_ERROR_BUFFER = -12,
        /**
         * A socket cannot have port 0.
         */
        DPDK_SOCKETS_ERROR_PORT_ZERO = -13,
        /**
         * Another socket has the port.
         */
        DPDK_SOCKETS_ERROR_IN_USE = -14,
        /**
         * No host has this address, or port 0.
         */
        DPDK_SOCKETS_ERROR_NO_PEER = -15,
        /**
         * The address is outside the stack's network, and there is no gateway.
         */
        DPDK_SOCKETS_ERROR_NO_ROUTE = -16,
        /**
         * All local ports are in use for connections to this peer.
         */
        DPDK_SOCKETS_ERROR_NO_PORT = -17,
        /**
         * The stack has as many connections as it may have.
         */
        DPDK_SOCKETS_ERROR_FULL = -18,
        /**
         * There is no such connection, or it was closed.
         */
        DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION = -19,
        /**
         * The handshake is not complete.
         */
        DPDK_SOCKETS_ERROR_NOT_ESTABLISHED = -20,
        /**
         * This program has closed the sending direction.
         */
        DPDK_SOCKETS_ERROR_SHUT_DOWN = -21,
        /**
         * Both sides have closed the connection.
         */
        DPDK_SOCKETS_ERROR_CLOSED = -22,
        /**
         * The peer has reset the connection.
         */
        DPDK_SOCKETS_ERROR_RESET = -23,
        /**
         * Nobody listens on the peer's port.
         */
        DPDK_SOCKETS_ERROR_REFUSED = -24,
        /**
         * The peer does not answer.
         */
        DPDK_SOCKETS_ERROR_TIMED_OUT = -25,
        /**
         * Neither the host nor the gateway answers to ARP, or a router knows no way to the host.
         */
        DPDK_SOCKETS_ERROR_UNREACHABLE = -26,
        /**
         * There is no such UDP socket, or it was closed.
         */
        DPDK_SOCKETS_ERROR_NO_SUCH_SOCKET = -27,
        /**
         * The datagram does not fit into one packet.
         */
        DPDK_SOCKETS_ERROR_TOO_LONG = -28,
        /**
         * No VLAN has this number.
         */
        DPDK_SOCKETS_ERROR_VLAN = -29,
        /**
         * No data came or went for too long.
         */
        DPDK_SOCKETS_ERROR_IDLE = -30,
        /**
         * The library has a bug. The stack can only be freed.
         */
        DPDK_SOCKETS_ERROR_INTERNAL = -31,
        /**
         * There is no counter with this name.
         */
        DPDK_SOCKETS_ERROR_NO_SUCH_COUNTER = -32,
        /**
         * There is no such group, or its stack with this number was taken.
         */
        DPDK_SOCKETS_ERROR_NO_SUCH_GROUP = -33,
        /**
         * A stack of a group cannot ask the network for addresses.
         */
        DPDK_SOCKETS_ERROR_AUTOMATIC_GROUP = -34,
};

/**
 * The addresses, limits and times of a stack. The rest of an initialiser that names only the addresses is 0, and a 0 means the
 * default.
 */
struct dpdk_sockets_config {
        /**
         * The stack's IPv4 address: 192.0.2.1 is {192, 0, 2, 1}. Default: none. One of the two addresses must be given, or dhcp or
         * slaac be set.
         */
        uint8_t ipv4[4];
        /**
         * Who forwards IPv4 packets to other networks. Default: nobody.
         */
        uint8_t ipv4_gateway[4];
        /**
         * How many bits of the address are those of its network, 0 to 32. Here, 0 is no default.
         */
        uint8_t ipv4_prefix_len;
        /**
         * The stack's IPv6 address, as inet_pton() writes it. Default: none. The stack also has a link-local address.
         */
        uint8_t ipv6[16];
        /**
         * Who forwards IPv6 packets to other networks. Default: nobody.
         */
        uint8_t ipv6_gateway[16];
        /**
         * How many bits of the address are those of its network, 0 to 128. Here, 0 is no default.
         */
        uint8_t ipv6_prefix_len;
        /**
         * If this is not 0, the network is asked for an IPv4 address and a gateway by DHCP (RFC 2131). Default: it is not.
         */
        uint8_t dhcp;
        /**
         * If this is not 0, an IPv6 address is made from what a router advertises, which is then a gateway (RFC 4862). Default: none.
         */
        uint8_t slaac;
        /**
         * The VLAN of the stack, 1 to 4094. Default: frames have no tag.
         */
        uint16_t vlan;
        /**
         * The maximum length of an IP packet, 576 to 9000 bytes, with IPv6 at least 1280. Default: 1500.
         */
        uint16_t mtu;
        /**
         * The maximum number of connections, those in TIME-WAIT excluded. Default: 100000.
         */
        uint32_t connections;
        /**
         * The maximum number of connections that one address has opened to the stack. Default: no limit but connections.
         */
        uint32_t connections_per_peer;
        /**
         * For each listener, the maximum number of connections whose handshake is not complete. SYNs beyond are answered by
         * cookies. Default: 1024.
         */
        uint32_t backlog;
        /**
         * The receive buffer of a connection, at most 65535 bytes. Default: 65535.
         */
        uint32_t receive_buffer;
        /**
         * The send buffer of a connection, at most 65535 bytes. Default: 65535.
         */
        uint32_t send_buffer;
        /**
         * Each of these buffers begins with at most so many bytes, and gets its size when it is needed. Default: 4096.
         */
        uint32_t initial_buffer;
        /**
         * If this is not 0, the peer's window alone limits what is sent at once. Default: CUBIC (RFC 9438) limits it too.
         */
        uint8_t no_congestion_control;
        /**
         * A handshake that is not complete after this time fails, in milliseconds. Default: 20000.
         */
        uint32_t handshake_timeout_ms;
        /**
         * A connection ends if the peer was not heard for so long although it had to answer, in milliseconds. Default: 120000.
         */
        uint32_t user_timeout_ms;
        /**
         * What the peer does not acknowledge is sent again after this time at the earliest, in milliseconds, unless later segments
         * arrive. Default: 200; RFC 6298 wants 1000.
         */
        uint32_t min_retransmission_timeout_ms;
        /**
         * A peer that was silent for so long is asked for a sign, in milliseconds, and given up after user_timeout_ms. Default: never.
         */
        uint32_t keep_alive_ms;
        /**
         * A connection on which no data came or went for so long is reset, in milliseconds. Default: never.
         */
        uint32_t idle_timeout_ms;
        /**
         * The time in TIME-WAIT in milliseconds. Default: 60000.
         */
        uint32_t time_wait_ms;
        /**
         * The maximum number of connections in TIME-WAIT. The oldest are forgotten first. Default: 65536.
         */
        uint32_t time_waits;
};

/**
 * The stacks of one port that no thread has taken yet.
 */
struct dpdk_sockets_group {
        /**
         * Is not used again for another group.
         */
        uint64_t id;
};

/**
 * A stack: all sockets on one RX queue and one TX queue. Only the thread that has made it can use it.
 */
struct dpdk_sockets_stack {
        /**
         * Is not used again for another stack.
         */
        uint64_t id;
};

/**
 * A TCP connection of one stack. After dpdk_sockets_close() it stands for nothing, also when other connections are made.
 */
struct dpdk_sockets_connection {
        /**
         * Any number is safe to use: one that is wrong gives DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION.
         */
        uint64_t id;
};

/**
 * A TCP port of one stack that accepts connections.
 */
struct dpdk_sockets_listener {
        /**
         * Any number is safe to use.
         */
        uint64_t id;
};

/**
 * A UDP port of one stack.
 */
struct dpdk_sockets_udp {
        /**
         * Any number is safe to use: one that is wrong gives DPDK_SOCKETS_ERROR_NO_SUCH_SOCKET.
         */
        uint64_t id;
};

/**
 * What has happened to one socket. A connection is in the array of one poll once at most.
 */
struct dpdk_sockets_event {
        /**
         * One or more of DPDK_SOCKETS_EVENT_ACCEPTED and the others.
         */
        uint32_t events;
        /**
         * With DPDK_SOCKETS_EVENT_ENDED: 0 if both sides have closed, otherwise how the connection has ended:
         * DPDK_SOCKETS_ERROR_REFUSED, _UNREACHABLE, _TIMED_OUT or _RESET.
         */
        int error;
        /**
         * The connection, except with DPDK_SOCKETS_EVENT_DATAGRAM and DPDK_SOCKETS_EVENT_ADDRESSES.
         */
        struct dpdk_sockets_connection connection;
        /**
         * With DPDK_SOCKETS_EVENT_ACCEPTED: who has accepted it.
         */
        struct dpdk_sockets_listener listener;
        /**
         * With DPDK_SOCKETS_EVENT_DATAGRAM: the socket.
         */
        struct dpdk_sockets_udp socket;
        /**
         * The user pointer of the connection.
         */
        void *user;
};

/**
 * An IP address and a port.
 */
struct dpdk_sockets_address {
        /**
         * As inet_pton() writes it: 192.0.2.1 is {192, 0, 2, 1}, and the rest does not matter.
         */
        uint8_t ip[16];
        /**
         * In the byte order of the host: 80 is HTTP.
         */
        uint16_t port;
        /**
         * 0 for IPv4; 1, or any other number, for IPv6.
         */
        uint8_t is_ipv6;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What an error means, and what to do: one line of English. It is never NULL and need not be freed; for a number that is not an
 * error of this library it says so.
 */
const char *dpdk_sockets_strerror(int error);

/**
 * Make a group: a stack with the same addresses for each of the queues 0 to nb_queues - 1 of a port, so that several lcores serve
 * them. Each lcore takes its stack by dpdk_sockets_take(), and polls it: segments that come to the wrong queue, and what hosts
 * say of their MAC addresses, are passed on between the stacks.
 *
 * If the device distributes segments by their addresses and ports (RSS), start the port before: the stacks then know which of
 * them has which connection. Else they compute that. Neither dhcp nor slaac can be set. The rest is as with dpdk_sockets_new().
 *
 * Returns 0 and writes *group, or the errors of dpdk_sockets_new(), or DPDK_SOCKETS_ERROR_AUTOMATIC_GROUP.
 *
 * The caller promises:
 * As of dpdk_sockets_new(), for all of these queues, until all stacks are freed. The pool is for several producers and consumers,
 * as rte_pktmbuf_pool_create() makes it.
 */
int dpdk_sockets_new_group(uint16_t port_id,
                           uint16_t nb_queues,
                           struct rte_mempool *pool,
                           const struct dpdk_sockets_config *config,
                           struct dpdk_sockets_group *group);

/**
 * Take the stack of a queue out of a group. From now on it is like one of dpdk_sockets_new() that this thread has made.
 *
 * Returns 0 and writes *stack, or DPDK_SOCKETS_ERROR_NULL_POINTER or _NO_SUCH_GROUP.
 *
 * The caller promises:
 * stack is NULL or points to room for a handle.
 */
int dpdk_sockets_take(struct dpdk_sockets_group group,
                      uint16_t queue_id,
                      struct dpdk_sockets_stack *stack);

/**
 * Free those stacks of a group that nobody has taken; the others stay. After the last one was taken, there is nothing to free.
 *
 * Returns 0 or DPDK_SOCKETS_ERROR_NO_SUCH_GROUP.
 */
int dpdk_sockets_free_group(struct dpdk_sockets_group group);

/**
 * Make a stack for the RX queue and the TX queue with one number of a port. The thread that makes it is the one that uses it.
 *
 * The EAL and the port are the program's: it starts the port before dpdk_sockets_poll(), and stops it after
 * dpdk_sockets_free(). The MAC address is the port's. Frames to send are allocated from pool, which may be the one of the RX queue.
 *
 * What the port is configured for, the device does: it verifies checksums, writes those of IPv4 (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM),
 * TCP and UDP (_TCP_CKSUM and _UDP_CKSUM, both), and with these cuts long segments in IPv4 packets (_TCP_TSO), which are as long
 * as an mbuf of the pool has room for.
 *
 * Returns 0 and writes *stack, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_DEVICE, _NO_SUCH_QUEUE, _SMALL_POOL, _ADDRESS,
 * _PREFIX_LENGTH, _GATEWAY, _MTU or _BUFFER.
 *
 * The caller promises:
 * pool is NULL or a pool of packet mbufs (rte_pktmbuf_pool_create); config and stack are NULL or point to such structs. Until
 * dpdk_sockets_free() the pool is not freed, the port is neither closed nor configured anew, and nobody else uses the two queues.
 */
int dpdk_sockets_new(uint16_t port_id,
                     uint16_t queue_id,
                     struct rte_mempool *pool,
                     const struct dpdk_sockets_config *config,
                     struct dpdk_sockets_stack *stack);

/**
 * Free a stack, its sockets and its mbufs, without a word to the peers.
 *
 * Returns 0 or DPDK_SOCKETS_ERROR_NO_SUCH_STACK.
 */
int dpdk_sockets_free(struct dpdk_sockets_stack stack);

/**
 * Send what there is to send, handle the frames that have arrived, 32 at most, and report what has happened to the sockets. It
 * never waits: call it all the time. What does not fit into events is reported by the next call.
 *
 * Returns how many events it has written, 0 to max_events, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_EVENTS if max_events is less
 * than 1, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * events is NULL or points to room for max_events of struct dpdk_sockets_event.
 */
int dpdk_sockets_poll(struct dpdk_sockets_stack stack,
                      struct dpdk_sockets_event *events,
                      int max_events);

/**
 * Write what a stack has counted since it was made, by the name of the counter, such as "retransmits" or "overflows";
 * "connections" and "time_waits" are how many there are now. struct Counters of the Rust crate describes them all.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_COUNTER, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * name is NULL or points to a string; value is NULL or points to room for a number.
 */
int dpdk_sockets_counter(struct dpdk_sockets_stack stack,
                         const char *name,
                         uint64_t *value);

/**
 * Write an address of a stack, by its number from 0, with port 0: first those of its configuration, a link-local one of IPv6 among
 * them, then those that the network has given.
 *
 * Returns 1, or 0 if there are fewer, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * address is NULL or points to room for an address.
 */
int dpdk_sockets_own_address(struct dpdk_sockets_stack stack,
                             size_t number,
                             struct dpdk_sockets_address *address);

/**
 * Accept connections to a TCP port. They are reported by DPDK_SOCKETS_EVENT_ACCEPTED.
 *
 * Returns 0 and writes *listener, or DPDK_SOCKETS_ERROR_NULL_POINTER, _PORT_ZERO, _IN_USE, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * listener is NULL or points to room for a handle.
 */
int dpdk_sockets_listen(struct dpdk_sockets_stack stack,
                        uint16_t port,
                        struct dpdk_sockets_listener *listener);

/**
 * Accept no more connections. Those that were accepted go on; those whose handshake is not complete are reset. A listener that was
 * closed before is no error.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_STACK or _INTERNAL.
 */
int dpdk_sockets_close_listener(struct dpdk_sockets_stack stack,
                                struct dpdk_sockets_listener listener);

/**
 * Begin to connect to a host. DPDK_SOCKETS_EVENT_CONNECTED follows, or DPDK_SOCKETS_EVENT_ENDED with the reason. All events of the
 * connection have the pointer user.
 *
 * Returns 0 and writes *connection, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_PEER, _NO_ROUTE, _NO_PORT, _FULL, _NO_SUCH_STACK or
 * _INTERNAL.
 *
 * The caller promises:
 * peer is NULL or points to an address, connection is NULL or points to room for a handle. user may be anything.
 */
int dpdk_sockets_connect(struct dpdk_sockets_stack stack,
                         const struct dpdk_sockets_address *peer,
                         void *user,
                         struct dpdk_sockets_connection *connection);

/**
 * Change the pointer that all further events of a connection have. It is NULL for an accepted connection at first. The library
 * does not use what it points to.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
 */
int dpdk_sockets_set_user(struct dpdk_sockets_stack stack,
                          struct dpdk_sockets_connection connection,
                          void *user);

/**
 * Write the address of a connection's peer.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * peer is NULL or points to room for an address.
 */
int dpdk_sockets_peer(struct dpdk_sockets_stack stack,
                      struct dpdk_sockets_connection connection,
                      struct dpdk_sockets_address *peer);

/**
 * Copy received bytes into buf, len at most.
 *
 * Returns how many bytes; 0 if the peer has closed its direction and everything was read; or DPDK_SOCKETS_ERROR_AGAIN if there is
 * nothing to read now or len is 0, _NULL_POINTER, _NO_SUCH_CONNECTION, the reason for which the connection has ended (_REFUSED,
 * _UNREACHABLE, _TIMED_OUT or _RESET), _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * buf is NULL or points to room for len bytes.
 */
int dpdk_sockets_recv(struct dpdk_sockets_stack stack,
                      struct dpdk_sockets_connection connection,
                      void *buf,
                      size_t len);

/**
 * Copy bytes to send into the connection's buffer. They leave with the next dpdk_sockets_poll().
 *
 * Returns how many bytes it took. If these are less than len, DPDK_SOCKETS_EVENT_WRITABLE follows when there is space. Or returns
 * DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_CONNECTION, _NOT_ESTABLISHED, _SHUT_DOWN, the reason for which the connection has ended
 * (_CLOSED, _REFUSED, _UNREACHABLE, _TIMED_OUT or _RESET), _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * buf is NULL or points to len bytes.
 */
int dpdk_sockets_send(struct dpdk_sockets_stack stack,
                      struct dpdk_sockets_connection connection,
                      const void *buf,
                      size_t len);

/**
 * How many bytes dpdk_sockets_send() takes now. If that is 0, DPDK_SOCKETS_EVENT_WRITABLE follows when there is space.
 *
 * Returns the number of bytes, or an error as dpdk_sockets_send().
 */
int dpdk_sockets_space(struct dpdk_sockets_stack stack,
                       struct dpdk_sockets_connection connection);

/**
 * Close the direction to the peer, after all that was sent. The peer can go on.
 *
 * Returns 0, or an error as dpdk_sockets_send().
 */
int dpdk_sockets_shutdown(struct dpdk_sockets_stack stack,
                          struct dpdk_sockets_connection connection);

/**
 * Give a connection back. What was sent still reaches the peer; what was received and not read is lost, and the peer gets a
 * reset. The handle stands for nothing afterwards, and no event follows.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
 */
int dpdk_sockets_close(struct dpdk_sockets_stack stack,
                       struct dpdk_sockets_connection connection);

/**
 * End a connection at once: the peer gets a reset, and what was sent may be lost. The handle stands for nothing afterwards, and no
 * event follows.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
 */
int dpdk_sockets_abort(struct dpdk_sockets_stack stack,
                       struct dpdk_sockets_connection connection);

/**
 * Receive the datagrams for a UDP port. DPDK_SOCKETS_EVENT_DATAGRAM reports them. At most 64 wait for the program.
 *
 * Returns 0 and writes *socket, or DPDK_SOCKETS_ERROR_NULL_POINTER, _PORT_ZERO, _IN_USE, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * socket is NULL or points to room for a handle.
 */
int dpdk_sockets_bind_udp(struct dpdk_sockets_stack stack,
                          uint16_t port,
                          struct dpdk_sockets_udp *socket);

/**
 * Receive no more datagrams for a port. Those that wait are lost. A socket that was closed before is no error.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_STACK or _INTERNAL.
 */
int dpdk_sockets_close_udp(struct dpdk_sockets_stack stack,
                           struct dpdk_sockets_udp socket);

/**
 * Copy the oldest datagram into buf, len bytes at most, and write who has sent it. What does not fit is lost.
 *
 * Returns the datagram's length in bytes, which may be more than len, or DPDK_SOCKETS_ERROR_AGAIN if none waits, _NULL_POINTER,
 * _NO_SUCH_SOCKET, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * buf is NULL or points to room for len bytes, from is NULL or points to room for an address.
 */
int dpdk_sockets_recv_from(struct dpdk_sockets_stack stack,
                           struct dpdk_sockets_udp socket,
                           void *buf,
                           size_t len,
                           struct dpdk_sockets_address *from);

/**
 * Send a datagram, with the next dpdk_sockets_poll() at the latest.
 *
 * Returns 0, or DPDK_SOCKETS_ERROR_AGAIN if there is no room before the next dpdk_sockets_poll(), _NULL_POINTER, _TOO_LONG,
 * _NO_PEER, _NO_ROUTE, _NO_SUCH_SOCKET, _NO_SUCH_STACK or _INTERNAL.
 *
 * The caller promises:
 * buf is NULL or points to len bytes, to is NULL or points to an address.
 */
int dpdk_sockets_send_to(struct dpdk_sockets_stack stack,
                         struct dpdk_sockets_udp socket,
                         const void *buf,
                         size_t len,
                         const struct dpdk_sockets_address *to);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DPDK_SOCKETS_H */
