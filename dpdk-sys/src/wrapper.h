/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What bindgen reads. Whatever differs between the DPDK versions that we support is settled here, in C, where the
 * headers of the installed version are at hand: offsets instead of nested anonymous fields, and plain structs
 * instead of bit-fields.
 */
#ifndef DPDK_SYS_WRAPPER_H
#define DPDK_SYS_WRAPPER_H

/* For fopencookie(). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_config.h>
#include <rte_version.h>
#include <rte_acl.h>
#include <rte_alarm.h>
#include <rte_bus.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_eal_memconfig.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_flow.h>
#include <rte_gro.h>
#include <rte_gso.h>
#include <rte_hash.h>
#include <rte_interrupts.h>
#include <rte_ip_frag.h>
#include <rte_kvargs.h>
#include <rte_latencystats.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_lpm.h>
#include <rte_lpm6.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_memory.h>
#include <rte_memzone.h>
#include <rte_meter.h>
#include <rte_metrics.h>
#include <rte_net.h>
#include <rte_pdump.h>
#include <rte_rcu_qsbr.h>
#include <rte_reorder.h>
#include <rte_rib.h>
#include <rte_rib6.h>
#include <rte_ring.h>
#include <rte_service.h>
#include <rte_service_component.h>
#include <rte_telemetry.h>
#include <rte_thash.h>
#include <rte_timer.h>
#include <rte_vfio.h>

#include "wrapper/process.h"
#include "wrapper/memory.h"
#include "wrapper/mbuf.h"
#include "wrapper/pool.h"
#include "wrapper/port.h"
#include "wrapper/flow.h"
#include "wrapper/table.h"

#endif
