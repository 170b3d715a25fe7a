/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef DIAGNOSIS_H
#define DIAGNOSIS_H

#include "error.h"

/* Why the EAL did not start with these arguments. It sets no error number where another process has
 * the file prefix. Returns -1.
 */
int diagnose_init(int eal_argc, char *const eal_argv[], struct error *error);

/* Fails if a driver refused a device of --vdev, without which the EAL starts. */
int check_devices(struct error *error);

#endif
