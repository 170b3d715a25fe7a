/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The time.
 */
#ifndef NOW_H
#define NOW_H

#include <stdint.h>

/* In milliseconds, since some time before. Never 0. */
uint64_t now_ms(void);

#endif
