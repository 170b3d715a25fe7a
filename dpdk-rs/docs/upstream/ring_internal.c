/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * net_ring follows an address that it reads in its arguments.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>

static void
report(int signal)
{
	static const char text[] = "net_ring has followed an address in a text: SIGSEGV\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int
main(void)
{
	char *args[] = {"ring_internal", "--no-huge", "-m", "16", "--no-pci", "--no-telemetry",
		"--no-shconf"};

	if (rte_eal_init(7, args) < 0)
		return 1;
	signal(SIGSEGV, report);
	printf("added: %d\n", rte_eal_hotplug_add("vdev", "net_ring0", "internal=0x41414141"));
	return 77;
}
