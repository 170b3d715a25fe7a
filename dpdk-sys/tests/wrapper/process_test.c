/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The process: its log, its threads, and what it answers to others.
 */

#include "eal.h"

#include "check.h"

static struct {
	uint32_t level, type;
	size_t len;
	char text[4096];
} logged;

static void
keep(uint32_t level, uint32_t type, const char *text, size_t len)
{
	if (!CHECK(logged.len + len < sizeof(logged.text)))
		return;
	logged.level = level;
	logged.type = type;
	memcpy(&logged.text[logged.len], text, len);
	logged.len += len;
	logged.text[logged.len] = '\0';
}

/* Logs a line, which newer versions of the C library pass on in pieces if it is long. */
static void
log_and_check(uint32_t level, uint32_t type, const char *line)
{
	logged.len = 0;
	dpdk_sys_log(level, type, line);
	CHECK_NUMBER(logged.len, strlen(line) + 1);
	CHECK(strncmp(logged.text, line, strlen(line)) == 0);
	CHECK_NUMBER(logged.text[strlen(line)], '\n');
	CHECK_NUMBER(logged.level, level);
	CHECK_NUMBER(logged.type, type);
}

static void
test_log(void)
{
	char longest[3000];
	char *types;

	CHECK_NUMBER(dpdk_sys_log_to(keep), 0);
	dpdk_sys_log_warning("warning %s");
	CHECK_TEXT(logged.text, "warning %s\n");
	CHECK_NUMBER(logged.level, RTE_LOG_WARNING);
	CHECK_NUMBER(logged.type, RTE_LOGTYPE_USER1);
	log_and_check(RTE_LOG_ERR, RTE_LOGTYPE_EAL, "");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	log_and_check(RTE_LOG_ERR, RTE_LOGTYPE_EAL, longest);
	/* A type that nobody has registered. */
	logged.len = 0;
	dpdk_sys_log(RTE_LOG_ERR, UINT32_MAX, "none");
	CHECK_NUMBER(logged.len, 0);
	CHECK_NUMBER(dpdk_sys_log_to_stderr(), 0);

	types = dpdk_sys_log_types();
	CHECK(types != NULL && strstr(types, "lib.eal") != NULL);
	dpdk_sys_log_types_free(types);
	dpdk_sys_log_types_free(NULL);
}

static void
test_threads(void)
{
	rte_cpuset_t before, after;
	int state;

	CHECK_NUMBER(dpdk_sys_thread_cpus(&before), 0);
	CHECK(CPU_COUNT(&before) > 0);
	CHECK_NUMBER(dpdk_sys_leave_lcores(&before), 0);
	CHECK_NUMBER(dpdk_sys_thread_cpus(&after), 0);
	CHECK(CPU_COUNT(&after) > 0);
	/* None is left without those of the lcores, so that it may use all of these. */
	CPU_ZERO(&after);
	CPU_SET((size_t)rte_lcore_to_cpu_id((int)rte_get_main_lcore()), &after);
	CHECK_NUMBER(dpdk_sys_leave_lcores(&after), 0);
	CHECK_NUMBER(dpdk_sys_thread_cpus(&before), 0);
	CHECK(CPU_EQUAL(&before, &after));
	CPU_ZERO(&after);
	CHECK_NUMBER(dpdk_sys_leave_lcores(&after), EINVAL);

	state = dpdk_sys_hold_cancellation();
	CHECK_NUMBER(state, PTHREAD_CANCEL_ENABLE);
	CHECK_NUMBER(dpdk_sys_hold_cancellation(), PTHREAD_CANCEL_DISABLE);
	dpdk_sys_release_cancellation(state);
	CHECK_NUMBER(dpdk_sys_hold_cancellation(), PTHREAD_CANCEL_ENABLE);
	dpdk_sys_release_cancellation(state);
}

static void
test_messages(void)
{
	struct rte_mp_reply reply = {
		.nb_sent = 2, .nb_received = 2, .msgs = calloc(2, sizeof(struct rte_mp_msg))};

	/* Without shared files no other process can attach. */
	CHECK_NUMBER(dpdk_sys_is_shared(), 0);
	dpdk_sys_mp_reply_free(&reply);
	CHECK(reply.msgs == NULL);
	CHECK_NUMBER(reply.nb_received, 0);
	dpdk_sys_mp_reply_free(&reply);
}

static void
test_telemetry(void)
{
	struct rte_tel_data *data = rte_tel_data_alloc();
	unsigned int nb_added = 0;

	CHECK_NUMBER(rte_tel_data_start_array(data, DPDK_SYS_TEL_UINT), 0);
	while (nb_added < 100000 && dpdk_sys_tel_data_add_array_uint(data, UINT64_MAX) == 0)
		nb_added++;
	CHECK_NUMBER(nb_added, RTE_TEL_MAX_ARRAY_ENTRIES);
	CHECK_NUMBER(rte_tel_data_start_dict(data), 0);
	CHECK_NUMBER(dpdk_sys_tel_data_add_dict_int(data, "least", INT32_MIN), 0);
	CHECK_NUMBER(dpdk_sys_tel_data_add_dict_uint(data, "most", UINT64_MAX), 0);
	CHECK(dpdk_sys_tel_data_add_dict_uint(data,
		      "a name that is longer than DPDK's room for the names of values", 0) != 0);
	rte_tel_data_free(data);
}

int
main(void)
{
	start_eal("process", NULL);
	test_log();
	test_threads();
	test_messages();
	test_telemetry();
	dpdk_sys_forget_lcore();
	CHECK_NUMBER(rte_lcore_id(), LCORE_ID_ANY);
	rte_eal_cleanup();
	return check_result();
}
