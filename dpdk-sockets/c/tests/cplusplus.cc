/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * The header in C++.
 */

#include <dpdk_sockets.h>

int
main()
{
	dpdk_sockets_config config = {};
	dpdk_sockets_stack stack = {};
	dpdk_sockets_event event;

	config.ipv4_prefix_len = 24;
	if (dpdk_sockets_new(0, 0, nullptr, &config, &stack) != DPDK_SOCKETS_ERROR_NULL_POINTER)
		return 1;
	return dpdk_sockets_poll(stack, &event, 1) != DPDK_SOCKETS_ERROR_NO_SUCH_STACK;
}
