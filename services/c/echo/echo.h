/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Sends back messages of any size, marked as replies.
 */
#ifndef ECHO_H
#define ECHO_H

#include "../service.h"

extern const struct service echo_service;

#endif
