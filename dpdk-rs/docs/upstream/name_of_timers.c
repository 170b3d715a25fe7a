/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The timer library takes a memory zone of the program for its own, whatever its size.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_memzone.h>
#include <rte_timer.h>

static void
report(int signal)
{
	static const char text[] =
		"rte_timer_subsystem_init() wrote outside of the memory: SIGSEGV\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int
main(void)
{
	char *args[] = {"name_of_timers", "--no-huge", "-m", "16", "--no-pci", "--no-telemetry",
		"--no-shconf"};

	if (rte_eal_init(7, args) < 0)
		return 1;
	if (rte_memzone_reserve("rte_timer_mz", 64, SOCKET_ID_ANY, 0) == NULL) {
		puts("refused");
		return 77;
	}
	signal(SIGSEGV, report);
	if (rte_timer_subsystem_init() != 0) {
		puts("the library does not take the zone");
		return 77;
	}
	puts("the library has taken a zone of 64 bytes for its table");
	return 0;
}
