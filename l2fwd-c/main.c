/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Layer 2 forwarding with DPDK. Each function stands above its caller, in the order of the calls;
 * forward.c handles the frames.
 */

#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "args.h"
#include "diagnosis.h"
#include "error.h"
#include "forward.h"
#include "observation.h"
#include "port.h"
#include "queue_pair.h"
#include "report.h"
#include "signals.h"
#include "topology.h"

struct forwarder {
	struct options options;
	unsigned int nb_ports;
	/* The first nb_open ports need closing. */
	unsigned int nb_open;
	struct port ports[MASK_PORTS];
	unsigned int nb_pairs;
	struct queue_assignment *assignments;
	struct queue_pair *pairs;
	/* By lcore id. */
	struct lcore_work work[RTE_MAX_LCORE];
	struct report report;
};

/* Start the EAL. An argument that the EAL does not use is an error. */
static int
init_eal(int eal_argc, char *argv[], struct error *error)
{
	int ret;

	/* Whatever the EAL's default is, stdout is for the program's own output. */
	rte_openlog_stream(stderr);
	ret = rte_eal_init(eal_argc, argv);
	if (ret < 0)
		return diagnose_init(eal_argc, argv, error);
	if (check_devices(error) != 0) {
		rte_eal_cleanup();
		return -1;
	}
	if (ret + 1 < eal_argc) {
		set_error(error, STATUS_USAGE, "unexpected argument '%s'", argv[ret + 1]);
		rte_eal_cleanup();
		return -1;
	}
	return 0;
}

/* Choose the ports, and assign their queues to lcores. */
static int
plan(struct forwarder *forwarder, struct error *error)
{
	const struct options *options = &forwarder->options;
	struct port_pair pairs[MASK_PORTS];
	unsigned int lcores[RTE_MAX_LCORE];
	unsigned int nb_lcores = 0;
	unsigned int lcore;

	if (check_mask(options->port_mask, error) != 0)
		return -1;

	forwarder->nb_ports = pair_ports(options->port_mask, &options->port_map, pairs);
	for (unsigned int i = 0; i < forwarder->nb_ports; i++) {
		struct port *port = &forwarder->ports[i];

		port->id = pairs[i].port;
		port->peer = pairs[i].peer;
		rte_eth_dev_get_name_by_port(port->id, port->name);
	}

	forwarder->nb_pairs = forwarder->nb_ports * options->queues_per_port;
	forwarder->assignments = calloc(forwarder->nb_pairs, sizeof(struct queue_assignment));
	forwarder->pairs = aligned_alloc(
		alignof(struct queue_pair), forwarder->nb_pairs * sizeof(struct queue_pair));
	if (forwarder->assignments == NULL || forwarder->pairs == NULL)
		return set_error(error, STATUS_FAILED, "out of memory");

	RTE_LCORE_FOREACH (lcore)
		lcores[nb_lcores++] = lcore;
	return assign_queues(pairs, forwarder->nb_ports, options->queues_per_port, lcores,
		nb_lcores, options->queue_pairs_per_lcore, forwarder->assignments, error);
}

static int
setup_ports(struct forwarder *forwarder, struct error *error)
{
	struct rte_mempool *pools[MASK_PORTS];

	for (unsigned int i = 0; i < forwarder->nb_ports; i++) {
		if (check_limits(&forwarder->ports[i], &forwarder->options, error) != 0)
			return -1;
	}
	for (unsigned int i = 0; i < forwarder->nb_ports; i++) {
		pools[i] = open_pool(
			&forwarder->ports[i], &forwarder->options, forwarder->nb_pairs, error);
		if (pools[i] == NULL)
			return -1;
	}
	for (unsigned int i = 0; i < forwarder->nb_ports; i++) {
		forwarder->nb_open = i + 1;
		if (setup_port(&forwarder->ports[i], &forwarder->options, pools[i], error) != 0)
			return -1;
	}
	return 0;
}

/* What the main lcore does after each drain. */
static void
on_drain(void *argument, uint64_t tsc)
{
	struct forwarder *forwarder = argument;

	update_report(&forwarder->report, forwarder->ports, forwarder->nb_ports, forwarder->pairs,
		forwarder->nb_pairs, tsc);
	if (is_over(&forwarder->report, tsc))
		stop_for_good();
}

/* Forward on all lcores that have work, until the stop flag is set. The main lcore, which calls
 * this, also reports.
 */
static int
forward(struct forwarder *forwarder, struct error *error)
{
	const unsigned int main_lcore = rte_get_main_lcore();
	unsigned int lcore;
	int ret = 0;

	RTE_LCORE_FOREACH (lcore) {
		struct lcore_work *work = &forwarder->work[lcore];

		work->stop = &signals.stop;
		if (lcore == main_lcore) {
			work->periodic = on_drain;
			work->argument = forwarder;
		} else if (work->nb_pairs > 0 && ret == 0) {
			ret = rte_eal_remote_launch(forward_loop, work, lcore);
			if (ret != 0) {
				set_error(error, STATUS_FAILED, "cannot start lcore %u: %s", lcore,
					rte_strerror(-ret));
				stop_for_good();
			}
		}
	}
	forward_loop(&forwarder->work[main_lcore]);
	rte_eal_mp_wait_lcore();
	return ret != 0 ? -1 : 0;
}

/* Stop all ports and start them again. No lcore uses a port meanwhile. */
static int
reset(struct forwarder *forwarder, struct error *error)
{
	const uint64_t begin = rte_rdtsc();

	if (!can_reset(forwarder->ports, forwarder->nb_ports))
		return 0;
	if (reset_ports(forwarder->ports, forwarder->nb_ports, error) != 0)
		return -1;
	add_reset(&forwarder->report, begin);
	return 0;
}

/* Forward until SIGINT, SIGTERM or --duration ends the program. SIGUSR1 resets the ports. */
static int
forward_and_reset(struct forwarder *forwarder, struct error *error)
{
	while (true) {
		if (forward(forwarder, error) != 0)
			return -1;
		if (stopped_for_good())
			return 0;
		if (reset(forwarder, error) != 0)
			return -1;
	}
}

static int
run(struct forwarder *forwarder, struct error *error)
{
	int ret = plan(forwarder, error);

	if (ret >= 0 && forwarder->options.capture)
		ret = enable_capture(error);
	if (ret >= 0)
		ret = setup_ports(forwarder, error);
	if (ret == 0) {
		hand_out_work(forwarder->assignments, forwarder->nb_pairs, &forwarder->options,
			forwarder->ports, forwarder->pairs, forwarder->work);
		ret = start_telemetry(forwarder->ports, forwarder->nb_ports, forwarder->pairs,
			forwarder->nb_pairs, error);
	}
	if (ret == 0) {
		init_report(&forwarder->report, &forwarder->options);
		begin_report(&forwarder->report, &forwarder->options, forwarder->ports,
			forwarder->nb_ports, forwarder->assignments, forwarder->nb_pairs);
		ret = forward_and_reset(forwarder, error);
	}
	if (ret == 0)
		finish_report(&forwarder->report, forwarder->ports, forwarder->nb_ports,
			forwarder->pairs, forwarder->nb_pairs);
	stop_telemetry();
	close_ports(forwarder->ports, forwarder->nb_open);
	free(forwarder->assignments);
	free(forwarder->pairs);
	rte_eal_cleanup();
	return ret;
}

int
main(int argc, char *argv[])
{
	struct forwarder forwarder = {0};
	struct options *options = &forwarder.options;
	struct error error = {0};

	switch (parse_args(argc, argv, options, &error)) {
	case ARGS_HELP:
		print_usage(stdout);
		return EXIT_SUCCESS;
	case ARGS_VERSION:
		print_version(stdout);
		return EXIT_SUCCESS;
	case ARGS_ERROR:
		return report_error(&error);
	case ARGS_RUN:
		break;
	}
	if (open_stats_json(&forwarder.report.json, options->stats_json, &error) == 0 &&
		init_eal(options->eal_argc, argv, &error) == 0) {
		/* Only now: a driver may wait for its peer forever in the EAL, and only the default
		 * action of a signal ends that wait.
		 */
		install_signals();
		run(&forwarder, &error);
	}
	return error.status == 0 ? EXIT_SUCCESS : report_error(&error);
}
