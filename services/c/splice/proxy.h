/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Joins each connection to one of its own to a back end, and passes the bytes of both on by splice.
 */
#ifndef PROXY_H
#define PROXY_H

#include "../options.h"

struct proxy;

/* Returns a proxy that listens where the options say, or NULL with errno. */
struct proxy *proxy_new(const struct options *options);

/* Do what there is to do, or wait a little for something. Returns -1 with errno. */
int proxy_poll(struct proxy *proxy);

/* Accept nothing more. Returns whether all pairs have ended, for which they have a time-out; else
 * it is polled, and asked again.
 */
bool proxy_stop(struct proxy *proxy);

/* Print what has become of connections. */
void proxy_print(const struct proxy *proxy);

void proxy_free(struct proxy *proxy);

#endif
