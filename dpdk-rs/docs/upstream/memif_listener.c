/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A memif server that is closed leaves its listener registered, with the memory that it frees.
 * Whoever connects then makes the interrupt thread follow a freed pointer.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

static void
report(int signal)
{
	static const char text[] = "the interrupt thread has followed a freed pointer: SIGSEGV\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

int
main(void)
{
	static char vdev[128];
	char *args[] = {"memif_listener", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", vdev};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char *block;

	/* An abstract socket is not removed with the device. */
	snprintf(address.sun_path + 1, 32, "memif_listener-%d", getpid());
	snprintf(vdev, sizeof(vdev),
		"--vdev=net_memif0,role=server,socket-abstract=yes,socket=memif_listener-%d",
		getpid());
	if (rte_eal_init(8, args) < 0)
		return 1;
	rte_eth_dev_close(0);
	/* The next owners of the memory. */
	for (size_t len = 1 << 20; len >= 64; len /= 2)
		while ((block = rte_malloc(NULL, len, 0)) != NULL)
			memset(block, 0x55, len);
	signal(SIGSEGV, report);
	if (connect(client, (struct sockaddr *)&address,
		    (socklen_t)(sizeof(sa_family_t) + 1 + strlen(address.sun_path + 1))) != 0) {
		puts("nobody listens any more");
		return 77;
	}
	sleep(10);
	puts("nothing has happened");
	return 77;
}
