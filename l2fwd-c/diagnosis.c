/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

/* For the iterator of devices. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "diagnosis.h"

/* Whether the command line disables run-time files. Then no other process can hold them. */
static bool
shares_no_files(int eal_argc, char *const eal_argv[])
{
	for (int i = 1; i < eal_argc; i++) {
		if (strcmp(eal_argv[i], "--in-memory") == 0 ||
			strcmp(eal_argv[i], "--no-shconf") == 0)
			return true;
	}
	return false;
}

/* The process that holds the lock of a primary process on this file; 0 if none is known. */
static pid_t
lock_holder(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool locked;

	if (file < 0)
		return 0;
	locked = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;
	close(file);
	return locked ? lock.l_pid : 0;
}

static void
read_process_name(pid_t pid, char *name, size_t size)
{
	char path[32];
	FILE *file;

	snprintf(name, size, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(name, (int)size, file) != NULL)
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

int
diagnose_init(int eal_argc, char *const eal_argv[], struct error *error)
{
	const char *folder = rte_eal_get_runtime_dir();
	const char *slash = strrchr(folder, '/');
	char path[PATH_MAX];
	char name[32];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/config", folder);
	pid = slash == NULL || shares_no_files(eal_argc, eal_argv) ? 0 : lock_holder(path);
	/* The EAL's number where it finds no hugepages that it may use. */
	if (pid == 0 && rte_errno == EACCES)
		return set_error(error, STATUS_FAILED,
			"cannot initialize the EAL: %s: reserve hugepages that this user may use, "
			"such as by echo 512 "
			">/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages, or give --no-huge",
			rte_strerror(rte_errno));
	if (pid == 0)
		return set_error(error, STATUS_FAILED, "cannot initialize the EAL: %s",
			rte_errno != 0 ? rte_strerror(rte_errno) : "DPDK's output has the reason");
	read_process_name(pid, name, sizeof(name));
	return set_error(error, STATUS_FAILED,
		"cannot initialize the EAL: process %d (%s) runs under the file prefix "
		"'%s' and holds %s: choose another prefix, such as --file-prefix=%s2, or "
		"end that process",
		(int)pid, name, slash + 1, path, slash + 1);
}

int
check_devices(struct error *error)
{
	struct rte_dev_iterator iterator;
	struct rte_device *device;

	/* Devices that other devices have brought along are of other types. */
	RTE_DEV_FOREACH (device, "bus=vdev", &iterator) {
		if (!rte_dev_is_probed(device) &&
			rte_dev_devargs(device)->type == RTE_DEVTYPE_VIRTUAL)
			return set_error(error, STATUS_FAILED,
				"cannot initialize the EAL: the driver of device '%s' refused it: "
				"correct the device's arguments, or leave it out; DPDK's log says "
				"more",
				rte_dev_name(device));
	}
	return 0;
}
