/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What this program makes of a command line, in words: what both twins must say alike.
 */

#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stddef.h>
#include <stdint.h>

/* Read a command line, each argument of which is a line (NUL ends a line too), with as many lcores
 * as there are arguments for the EAL. Returns an allocated text and its length without the final
 * NUL, or NULL if memory ran out.
 */
char *describe_command_line(const uint8_t *data, size_t data_len, size_t *text_len);

#endif
