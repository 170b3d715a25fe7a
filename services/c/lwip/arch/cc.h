/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What lwIP asks of a compiler and a C library.
 */
#ifndef CC_H
#define CC_H

#include <endian.h>
#include <stdlib.h>

/* The service has htons and its like from the C library. */
#define LWIP_DONT_PROVIDE_BYTEORDER_FUNCTIONS
#define LWIP_RAND() ((uint32_t)random())

#endif
