/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef ERROR_H
#define ERROR_H

enum {
	/* The machine, a device or a file does not allow what was asked for. */
	STATUS_FAILED = 1,
	/* The command line is wrong on every machine. */
	STATUS_USAGE = 2,
};

/* Why the program cannot go on. An error that was never set has status 0. */
struct error {
	int status;
	char *message;
};

/* Fill in an error; the first one stays. Returns -1, so that callers can return its result. */
int set_error(struct error *error, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print the error as the user sees it, to stderr, and give the exit status. */
int report_error(struct error *error);

void clear_error(struct error *error);

/* Something that the user should know but that does not stop the program. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
