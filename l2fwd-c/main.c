/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Layer 2 forwarding with DPDK: reads in the order of the calls in main() and run().
 */

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "args.h"
#include "error.h"
#include "forward.h"
#include "observation.h"
#include "port.h"
#include "stats.h"
#include "stats_json.h"
#include "topology.h"

/* How often to look at the links. */
#define LINK_INTERVAL_S 1

/* Set by signals and by --duration; read by all lcores, which then leave their queues. */
static atomic_bool stop;
/* Set before it where that is for good, and not only until the ports are reset. */
static atomic_bool for_good;

struct forwarder {
	struct options options;
	struct stats_json json;
	/* stdout, or stderr where stdout is for JSON. */
	FILE *text;
	unsigned int nb_ports;
	/* The first nb_open ports need closing. */
	unsigned int nb_open;
	struct port ports[MASK_PORTS];
	unsigned int nb_pairs;
	struct queue_assignment *assignments;
	struct queue_pair *pairs;
	/* By lcore id. */
	struct lcore_work work[RTE_MAX_LCORE];
	/* In TSC cycles; 0 for next_period and end: never. */
	uint64_t start;
	uint64_t next_period;
	uint64_t next_links;
	uint64_t end;
	struct snapshot now;
	struct snapshot before;
};

static void
stop_for_good(void)
{
	atomic_store(&for_good, true);
	atomic_store(&stop, true);
}

static void
on_stop_signal(int signal_number)
{
	(void)signal_number;
	stop_for_good();
}

static void
on_reset_signal(int signal_number)
{
	(void)signal_number;
	atomic_store(&stop, true);
}

/* Whether the lcores, which have all left their queues, are not to come back. A signal that comes
 * from now on counts again: the flag is taken back before the other one is looked at.
 */
static bool
stopped_for_good(void)
{
	atomic_exchange(&stop, false);
	return atomic_load(&for_good);
}

/* Those that end the program without SA_RESTART, so that a write of statistics to a reader that has
 * stalled ends too.
 */
static void
install_signals(void)
{
	const struct sigaction on_stop = {.sa_handler = on_stop_signal};
	const struct sigaction on_reset = {.sa_handler = on_reset_signal, .sa_flags = SA_RESTART};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &on_stop, NULL);
	sigaction(SIGTERM, &on_stop, NULL);
	sigaction(SIGUSR1, &on_reset, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

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

static double
seconds(const struct forwarder *forwarder, uint64_t tsc)
{
	return (double)(tsc - forwarder->start) / (double)rte_get_tsc_hz();
}

static void
take_snapshot(struct forwarder *forwarder, uint64_t tsc)
{
	collect(forwarder->ports, forwarder->nb_ports, forwarder->pairs, forwarder->nb_pairs,
		&forwarder->now);
	forwarder->now.time_s = seconds(forwarder, tsc);
}

/* What the main lcore does besides forwarding. */
static void
see_to_time(void *argument, uint64_t tsc)
{
	struct forwarder *forwarder = argument;
	const uint64_t period = forwarder->options.period_s * rte_get_tsc_hz();

	if (period != 0 && tsc >= forwarder->next_period) {
		take_snapshot(forwarder, tsc);
		print_stats(forwarder->text, &forwarder->now, &forwarder->before);
		write_stats(&forwarder->json, &forwarder->now, &forwarder->before);
		forwarder->before = forwarder->now;
		while (forwarder->next_period <= tsc)
			forwarder->next_period += period;
	}
	if (tsc >= forwarder->next_links) {
		report_links(forwarder->ports, forwarder->nb_ports, forwarder->text);
		forwarder->next_links = tsc + LINK_INTERVAL_S * rte_get_tsc_hz();
	}
	if (forwarder->end != 0 && tsc >= forwarder->end)
		stop_for_good();
}

static void
set_timer(struct forwarder *forwarder)
{
	const struct options *options = &forwarder->options;

	forwarder->start = rte_rdtsc();
	forwarder->next_period = forwarder->start + options->period_s * rte_get_tsc_hz();
	if (options->duration_s != 0)
		forwarder->end = forwarder->start + options->duration_s * rte_get_tsc_hz();
}

/* Forward on all lcores that have work, until the stop flag is set. The main lcore, which calls
 * this, sees to the time.
 */
static int
forward(struct forwarder *forwarder, struct error *error)
{
	const unsigned int main_lcore = rte_get_main_lcore();
	unsigned int lcore;
	int ret = 0;

	RTE_LCORE_FOREACH (lcore) {
		struct lcore_work *work = &forwarder->work[lcore];

		work->stop = &stop;
		if (lcore == main_lcore) {
			work->periodic = see_to_time;
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

/* Stop all ports, which no lcore uses meanwhile, and start them again. */
static int
reset(struct forwarder *forwarder, struct error *error)
{
	const double begin = seconds(forwarder, rte_rdtsc());
	double end;

	if (!can_reset(forwarder->ports, forwarder->nb_ports))
		return 0;
	if (reset_ports(forwarder->ports, forwarder->nb_ports, error) != 0)
		return -1;
	end = seconds(forwarder, rte_rdtsc());
	print_reset(forwarder->text, end - begin);
	write_reset(&forwarder->json, end, end - begin);
	return 0;
}

/* Until a signal or --duration ends it; after any other signal the ports are reset. */
static int
forward_and_reset(struct forwarder *forwarder, struct error *error)
{
	set_timer(forwarder);
	while (true) {
		if (forward(forwarder, error) != 0)
			return -1;
		if (stopped_for_good())
			break;
		if (reset(forwarder, error) != 0)
			return -1;
	}

	take_snapshot(forwarder, rte_rdtsc());
	count_in_flight(&forwarder->now, forwarder->pairs, forwarder->nb_pairs);
	/* Rates over the whole run: since a snapshot of nothing. */
	memset(&forwarder->before, 0, sizeof(forwarder->before));
	print_stats(forwarder->text, &forwarder->now, &forwarder->before);
	write_stats(&forwarder->json, &forwarder->now, &forwarder->before);
	return 0;
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
		print_start(forwarder->text, &forwarder->options, forwarder->ports,
			forwarder->nb_ports, forwarder->assignments, forwarder->nb_pairs);
		write_start(&forwarder->json, &forwarder->options, forwarder->ports,
			forwarder->nb_ports, forwarder->assignments, forwarder->nb_pairs);
		ret = forward_and_reset(forwarder, error);
	}
	stop_telemetry();
	close_ports(forwarder->ports, forwarder->nb_open);
	free(forwarder->assignments);
	free(forwarder->pairs);
	return ret;
}

/* Whether the command line has no run-time files, so that no other process can have them. */
static bool
shares_no_files(int eal_argc, char *argv[])
{
	for (int i = 1; i < eal_argc; i++) {
		if (strcmp(argv[i], "--in-memory") == 0 || strcmp(argv[i], "--no-shconf") == 0)
			return true;
	}
	return false;
}

/* The process that has the lock which a primary process takes on this file; 0 if none is known. */
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

/* Why the EAL did not start. It sets no error number where another process has the file prefix. */
static void
set_init_error(int eal_argc, char *argv[], struct error *error)
{
	const char *folder = rte_eal_get_runtime_dir();
	const char *slash = strrchr(folder, '/');
	char path[PATH_MAX];
	char name[32];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/config", folder);
	pid = slash == NULL || shares_no_files(eal_argc, argv) ? 0 : lock_holder(path);
	if (pid != 0) {
		read_process_name(pid, name, sizeof(name));
		set_error(error, STATUS_FAILED,
			"cannot initialize the EAL: process %d (%s) runs under the file prefix "
			"'%s' and holds %s: give this one another, as in --file-prefix=%s2, or "
			"end that one",
			(int)pid, name, slash + 1, path, slash + 1);
		return;
	}
	set_error(error, STATUS_FAILED, "cannot initialize the EAL: %s",
		rte_errno != 0 ? rte_strerror(rte_errno) : "what it has printed says why");
}

int
main(int argc, char *argv[])
{
	struct forwarder forwarder = {0};
	struct error error = {0};
	int ret;

	switch (parse_args(argc, argv, &forwarder.options, &error)) {
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
	if (open_stats(&forwarder.json, forwarder.options.stats_json, &error) != 0)
		return report_error(&error);
	forwarder.text = forwarder.json.out == stdout ? stderr : stdout;

	/* Whatever the default of the EAL: stdout is for our own output. */
	rte_openlog_stream(stderr);
	ret = rte_eal_init(forwarder.options.eal_argc, argv);
	if (ret < 0) {
		set_init_error(forwarder.options.eal_argc, argv, &error);
		return report_error(&error);
	}
	/* Not earlier: a driver may wait for its peer without end, and only a signal gets it out.
	 */
	install_signals();
	if (ret + 1 < forwarder.options.eal_argc)
		set_error(&error, STATUS_USAGE, "unexpected argument '%s'", argv[ret + 1]);
	else
		run(&forwarder, &error);
	rte_eal_cleanup();
	return error.status == 0 ? EXIT_SUCCESS : report_error(&error);
}
