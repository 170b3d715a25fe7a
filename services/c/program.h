/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What the programs have in common: where they listen, and when they end.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "service.h"

/* Run a service until SIGINT or SIGTERM. Returns the exit status. */
int program_serve(const char *name, const struct service *service, int argc, char *argv[]);

/* Run a proxy until SIGINT or SIGTERM, and then until its connections have ended. Returns the exit
 * status.
 */
int program_proxy(const char *name, int argc, char *argv[]);

#endif
