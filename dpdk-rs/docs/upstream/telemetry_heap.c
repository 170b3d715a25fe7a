/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * /eal/heap_info takes any number for an index of the table of heaps.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

static void
report(int signal)
{
	static const char text[] = "the telemetry thread has left the table of heaps: SIGSEGV\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int
main(void)
{
	char *args[] = {"telemetry_heap", "--no-huge", "-m", "16", "--no-pci",
		"--file-prefix=telemetry_heap"};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	static char answer[1 << 16];
	ssize_t len;

	if (rte_eal_init(6, args) < 0)
		return 1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	if (connect(client, (struct sockaddr *)&address, sizeof(address)) != 0) {
		printf("%s is no socket\n", address.sun_path);
		return 77;
	}
	/* The first message is a greeting. */
	if (recv(client, answer, sizeof(answer), 0) <= 0)
		return 1;
	signal(SIGSEGV, report);
	if (send(client, "/eal/heap_info,-1", 17, 0) != 17)
		return 1;
	len = recv(client, answer, sizeof(answer), 0);
	printf("answered: %.*s\n", (int)len, answer);
	return 77;
}
