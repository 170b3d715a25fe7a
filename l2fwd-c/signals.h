/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * How signals and --duration stop the lcores.
 */

#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>

struct signals {
	/* Tells all lcores to leave their queues. */
	atomic_bool stop;
	/* Set before `stop` if the program must end. Otherwise the lcores return after a reset of
	 * the ports.
	 */
	atomic_bool for_good;
};

/* Global, since a signal handler cannot be given an argument. */
extern struct signals signals;

/* End the forwarding. */
void stop_for_good(void);

/* Whether the program must end. Call when all lcores have left their queues. Clears `stop` before
 * it reads `for_good`, so that a later signal still counts.
 */
bool stopped_for_good(void);

/* SIGINT and SIGTERM end the program, SIGUSR1 resets the ports. SIGPIPE is ignored. */
void install_signals(void);

#endif
