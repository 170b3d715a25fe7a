/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <signal.h>
#include <stddef.h>

#include "signals.h"

struct signals signals;

void
stop_for_good(void)
{
	atomic_store(&signals.for_good, true);
	atomic_store(&signals.stop, true);
}

bool
stopped_for_good(void)
{
	atomic_exchange(&signals.stop, false);
	return atomic_load(&signals.for_good);
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
	atomic_store(&signals.stop, true);
}

void
install_signals(void)
{
	/* Without SA_RESTART, so that the signal also ends a write to a reader that has stalled. */
	const struct sigaction on_stop = {.sa_handler = on_stop_signal};
	const struct sigaction on_reset = {.sa_handler = on_reset_signal, .sa_flags = SA_RESTART};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &on_stop, NULL);
	sigaction(SIGTERM, &on_stop, NULL);
	sigaction(SIGUSR1, &on_reset, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}
