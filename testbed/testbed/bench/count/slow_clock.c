/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

/* Preloaded into a program on DPDK, it makes DPDK believe that the time stamp counter runs a million times faster than it
 * does. What the program does every 100 us then never comes due, so that it cannot disturb a count of instructions, and
 * the same count comes out on a fast machine and on a slow one.
 *
 * DPDK compares the counter with CLOCK_MONOTONIC_RAW, which nothing else in these programs reads, unless a device file
 * tells it the processor's frequency.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOWER 1000000
#define NS_PER_S 1000000000

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	const long status = syscall(SYS_clock_gettime, clock, now);

	if (status == 0 && clock == CLOCK_MONOTONIC_RAW) {
		const uint64_t ns = ((uint64_t)now->tv_sec * NS_PER_S + (uint64_t)now->tv_nsec) / SLOWER;

		now->tv_sec = (time_t)(ns / NS_PER_S);
		now->tv_nsec = (long)(ns % NS_PER_S);
	}
	return (int)status;
}

int
open64(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	if (strncmp(path, "/dev/cpu/", strlen("/dev/cpu/")) == 0) {
		errno = ENOENT;
		return -1;
	}
	/* Without O_CREAT there may be none; what is read then is not looked at. */
	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	return openat(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
