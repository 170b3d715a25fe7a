/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What stands behind a proxy: GET / over HTTP/1.1 is answered by 10 KiB of text.
 */
#ifndef ORIGIN_H
#define ORIGIN_H

#include "../service.h"

extern const struct service origin_service;

#endif
