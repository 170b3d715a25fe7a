/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The process: its log, its threads, and what it answers to others.
 */
#ifndef DPDK_SYS_PROCESS_H
#define DPDK_SYS_PROCESS_H

static const uint32_t DPDK_SYS_VERSION_YEAR = RTE_VER_YEAR;
static const uint32_t DPDK_SYS_VERSION_MONTH = RTE_VER_MONTH;

/* Numbers in what a telemetry command answers: 23.03 has renamed those of 64 bits, and widened the others. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
static const uint32_t DPDK_SYS_TEL_UINT = RTE_TEL_UINT_VAL;
#else
static const uint32_t DPDK_SYS_TEL_UINT = RTE_TEL_U64_VAL;
#endif

static inline int
dpdk_sys_tel_data_add_dict_int(struct rte_tel_data *d, const char *name, int32_t x)
{
	return rte_tel_data_add_dict_int(d, name, x);
}

static inline int
dpdk_sys_tel_data_add_array_uint(struct rte_tel_data *d, uint64_t x)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_array_uint(d, x);
#else
	return rte_tel_data_add_array_u64(d, x);
#endif
}

static inline int
dpdk_sys_tel_data_add_dict_uint(struct rte_tel_data *d, const char *name, uint64_t x)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_dict_uint(d, name, x);
#else
	return rte_tel_data_add_dict_u64(d, name, x);
#endif
}

/* rte_errno is a macro over a thread-local variable. */
static inline int
dpdk_sys_errno(void)
{
	return rte_errno;
}

/* For calls that fail without setting one. */
static inline void
dpdk_sys_set_errno(int number)
{
	rte_errno = number;
}

/* Sends the log to stderr from the first line on: the EAL's own default writes to stdout and syslog. */
static inline int
dpdk_sys_log_to_stderr(void)
{
	return rte_openlog_stream(stderr);
}

/* The CPUs that the calling thread may use; the result is 0, or an error number. */
static inline int
dpdk_sys_thread_cpus(rte_cpuset_t *cpus)
{
	return pthread_getaffinity_np(pthread_self(), sizeof(*cpus), cpus);
}

/* Lets the calling thread use these CPUs without those of the EAL's lcores, or all of these if none is left. */
static inline int
dpdk_sys_leave_lcores(const rte_cpuset_t *cpus)
{
	rte_cpuset_t left = *cpus;
	unsigned int lcore, cpu;

	for (lcore = 0; lcore < RTE_MAX_LCORE; lcore++) {
		enum rte_lcore_role_t role = rte_eal_lcore_role(lcore);
		rte_cpuset_t taken = rte_lcore_cpuset(lcore);

		if (role != ROLE_RTE && role != ROLE_SERVICE)
			continue;
		for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &taken))
				CPU_CLR(cpu, &left);
	}
	if (CPU_COUNT(&left) == 0)
		left = *cpus;
	return pthread_setaffinity_np(pthread_self(), sizeof(left), &left);
}

static inline int
ignore_message(const struct rte_mp_msg *message, const void *peer)
{
	(void)message;
	(void)peer;
	return 0;
}

/* Whether other processes can attach to this one: else it takes no messages from any. */
static inline int
dpdk_sys_is_shared(void)
{
	const char *name = "dpdk_sys_is_shared";

	if (rte_mp_action_register(name, ignore_message) != 0)
		return rte_errno == EEXIST;
	rte_mp_action_unregister(name);
	return 1;
}

/* What is given each line of the log, with its level and type. */
typedef void (*dpdk_sys_log_fn)(uint32_t level, uint32_t type, const char *text, size_t len);

static inline ssize_t
write_log(void *cookie, const char *text, size_t len)
{
	const uint32_t level = (uint32_t)rte_log_cur_msg_loglevel(), type = (uint32_t)rte_log_cur_msg_logtype();

	((dpdk_sys_log_fn)cookie)(level, type, text, len);
	return (ssize_t)len;
}

/* Sends the log to a function. Without a buffer, in which lines of several threads would mix. */
static inline int
dpdk_sys_log_to(dpdk_sys_log_fn function)
{
	const cookie_io_functions_t functions = {.write = write_log};
	FILE *stream = fopencookie((void *)function, "w", functions);

	if (stream == NULL)
		return -1;
	setvbuf(stream, NULL, _IONBF, 0);
	return rte_openlog_stream(stream);
}

/* All types of the log with their numbers, names and levels, a line each; NULL without memory. */
static inline char *
dpdk_sys_log_types(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	if (stream == NULL)
		return NULL;
	rte_log_dump(stream);
	fclose(stream);
	return text;
}

static inline void
dpdk_sys_log_types_free(char *types)
{
	free(types);
}

static inline void
dpdk_sys_log(uint32_t level, uint32_t type, const char *line)
{
	rte_log(level, type, "%s\n", line);
}

/* A line in DPDK's log, at level WARNING. */
static inline void
dpdk_sys_log_warning(const char *message)
{
	rte_log(RTE_LOG_WARNING, RTE_LOGTYPE_USER1, "%s\n", message);
}

/* Takes the calling thread's number of an lcore away, as rte_thread_unregister() does: it uses no lcore's cache any more. */
static inline void
dpdk_sys_forget_lcore(void)
{
	RTE_PER_LCORE(_lcore_id) = LCORE_ID_ANY;
}

/* Frees the replies that rte_mp_request_sync() has allocated; the descriptors in them are left. */
static inline void
dpdk_sys_mp_reply_free(struct rte_mp_reply *reply)
{
	free(reply->msgs);
	reply->msgs = NULL;
	reply->nb_received = 0;
}

/* Has programs that this one starts not inherit a descriptor; negative if there is none of this number. */
static inline int
dpdk_sys_close_on_exec(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Has whoever cancels this thread, as rte_eal_cleanup() does, wait until it may be cancelled again; what was before. */
static inline int
dpdk_sys_hold_cancellation(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void
dpdk_sys_release_cancellation(int before)
{
	pthread_setcancelstate(before, &before);
}

#endif
