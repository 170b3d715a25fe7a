/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * A datagram of another length than DPDK's messages ends the thread that handles messages.
 */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

/* As in lib/eal/common/eal_common_proc.c, whose messages go without the array of files. */
struct message {
	int type;
	struct rte_mp_msg msg;
};

static atomic_int nb_handled;

static int
handle(const struct rte_mp_msg *msg, const void *peer)
{
	(void)msg;
	(void)peer;
	nb_handled++;
	return 0;
}

static int
nb_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;

	while (readdir(tasks) != NULL)
		count++;
	closedir(tasks);
	return count;
}

int
main(void)
{
	char *args[] = {"mp_socket", "--no-huge", "-m", "16", "--no-pci", "--no-telemetry",
		"--file-prefix=mp_socket"};
	const size_t len = sizeof(struct message) - sizeof(((struct rte_mp_msg *)NULL)->fds);
	struct message message = {.msg.name = "greeting"};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_DGRAM, 0);
	int before;

	if (rte_eal_init(7, args) < 0 || rte_mp_action_register("greeting", handle) != 0)
		return 1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/mp_socket",
		rte_eal_get_runtime_dir());
	if (connect(client, (struct sockaddr *)&address, sizeof(address)) != 0) {
		printf("%s is no socket\n", address.sun_path);
		return 77;
	}
	if (send(client, &message, len, 0) != (ssize_t)len)
		return 1;
	while (nb_handled == 0)
		;
	before = nb_threads();
	if (send(client, "x", 1, 0) != 1 || send(client, &message, len, 0) != (ssize_t)len)
		return 1;
	while (nb_handled == 1 && nb_threads() == before)
		;
	printf("after a datagram of one byte, the next message %s\n",
		nb_handled == 1 ? "is not handled: the thread has ended" : "is handled");
	return nb_handled == 1 ? 0 : 77;
}
