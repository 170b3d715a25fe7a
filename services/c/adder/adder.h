/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Adds two numbers over HTTP/1.1: GET /add/1/2 is answered by 1 + 2 = 3.
 */
#ifndef ADDER_H
#define ADDER_H

#include "../service.h"

extern const struct service adder_service;

#endif
