/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * An EAL that needs neither root nor hugepages.
 */

#ifndef EAL_H
#define EAL_H

#include "wrapper.h"

/* Starts the EAL, at most with one more argument, and ends the test if it does not start. */
static inline void
start_eal(const char *test, const char *argument)
{
	static char prefix[64];
	char *args[] = {(char *)(uintptr_t)test, prefix, (char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "-m", (char *)(uintptr_t) "128", (char *)(uintptr_t) "--no-pci",
		(char *)(uintptr_t) "--no-telemetry", (char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--base-virtaddr=0x200000000000", (char *)(uintptr_t)argument,
		NULL};

	snprintf(prefix, sizeof(prefix), "--file-prefix=wrapper-%s-%d", test, getpid());
	if (rte_eal_init(argument != NULL ? 10 : 9, args) < 0) {
		fprintf(stderr, "the EAL did not start\n");
		exit(1);
	}
}

#endif
