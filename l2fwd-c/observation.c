/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What other processes see of a running forwarder: frames by dpdk-dumpcap, counters by
 * dpdk-telemetry.py.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_pdump.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include "observation.h"
#include "stats.h"

#define STATS_COMMAND "/l2fwd/stats"
#define STATS_HELP \
	"Counters of the forwarder, by port and in total, since the start. No parameters."

/* Renamed in 23.03. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/* The source of the answers; `ports` is NULL if there is none. A thread of DPDK answers. */
static struct {
	pthread_mutex_t lock;
	const struct port *ports;
	unsigned int nb_ports;
	const struct queue_pair *pairs;
	unsigned int nb_pairs;
} observed = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int
ignore_message(const struct rte_mp_msg *message, const void *peer)
{
	(void)message;
	(void)peer;
	return 0;
}

/* Whether other processes can attach to this one. If not, DPDK registers no message action. */
static bool
is_shared(void)
{
	if (!rte_eal_has_hugepages() || rte_mp_action_register("l2fwd", ignore_message) != 0)
		return false;
	rte_mp_action_unregister("l2fwd");
	return true;
}

int
enable_capture(struct error *error)
{
	if (!is_shared())
		return set_error(error, STATUS_FAILED,
			"packets cannot be captured: no other process can attach: "
			"leave out --no-huge, --no-shconf and --in-memory");
	if (rte_pdump_init() < 0)
		return set_error(error, STATUS_FAILED, "packets cannot be captured: %s",
			rte_strerror(rte_errno));
	return 0;
}

static int
describe_totals(struct rte_tel_data *data, const struct totals *totals)
{
	int ret = rte_tel_data_add_dict_uint(data, "rx_packets", totals->rx_packets);

	ret |= rte_tel_data_add_dict_uint(data, "tx_packets", totals->tx_packets);
	ret |= rte_tel_data_add_dict_uint(data, "tx_dropped", totals->tx_dropped);
	ret |= rte_tel_data_add_dict_uint(data, "rx_short", totals->rx_short);
	ret |= rte_tel_data_add_dict_uint(data, "rx_polls", totals->rx_polls);
	ret |= rte_tel_data_add_dict_uint(data, "rx_empty_polls", totals->rx_empty_polls);
	return ret;
}

/* Add an empty dictionary to `data`, which then owns it. Returns NULL if `data` is full or memory
 * runs out.
 */
static struct rte_tel_data *
add_dict(struct rte_tel_data *data, const char *name)
{
	struct rte_tel_data *inner = rte_tel_data_alloc();

	if (inner == NULL)
		return NULL;
	rte_tel_data_start_dict(inner);
	if (rte_tel_data_add_dict_container(data, name, inner, 0) == 0)
		return inner;
	rte_tel_data_free(inner);
	return NULL;
}

static int
describe_snapshot(struct rte_tel_data *data, const struct snapshot *snapshot)
{
	struct rte_tel_data *inner;
	struct rte_tel_data *ports;

	rte_tel_data_start_dict(data);
	ports = add_dict(data, "ports");
	if (ports == NULL)
		return -1;
	for (unsigned int i = 0; i < snapshot->nb_ports; i++) {
		char name[8];

		snprintf(name, sizeof(name), "%u", snapshot->ports[i].port);
		inner = add_dict(ports, name);
		if (inner == NULL || describe_totals(inner, &snapshot->ports[i].totals) != 0)
			return -1;
	}
	inner = add_dict(data, "total");
	if (inner == NULL || describe_totals(inner, &snapshot->total) != 0)
		return -1;
	return rte_tel_data_add_dict_uint(inner, "in_flight", snapshot->in_flight);
}

static int
answer_stats(const char *command, const char *parameters, struct rte_tel_data *data)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int ret = -1;

	(void)command;
	(void)parameters;
	pthread_mutex_lock(&observed.lock);
	if (snapshot != NULL && observed.ports != NULL) {
		add_up(observed.ports, observed.nb_ports, observed.pairs, observed.nb_pairs,
			snapshot);
		ret = describe_snapshot(data, snapshot);
	}
	pthread_mutex_unlock(&observed.lock);
	free(snapshot);
	return ret;
}

int
start_telemetry(const struct port *ports, unsigned int nb_ports, const struct queue_pair *pairs,
	unsigned int nb_pairs, struct error *error)
{
	int ret;

	pthread_mutex_lock(&observed.lock);
	observed.ports = ports;
	observed.nb_ports = nb_ports;
	observed.pairs = pairs;
	observed.nb_pairs = nb_pairs;
	pthread_mutex_unlock(&observed.lock);
	ret = rte_telemetry_register_cmd(STATS_COMMAND, answer_stats, STATS_HELP);
	if (ret < 0)
		return set_error(error, STATUS_FAILED,
			"cannot register telemetry command '" STATS_COMMAND "': %s",
			rte_strerror(-ret));
	return 0;
}

void
stop_telemetry(void)
{
	pthread_mutex_lock(&observed.lock);
	observed.ports = NULL;
	pthread_mutex_unlock(&observed.lock);
}
