/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef ERROR_H
#define ERROR_H

enum {
	/* The machine, a device or a file does not allow what the command line requests. */
	STATUS_FAILED = 1,
	/* The command line is wrong on every machine. */
	STATUS_USAGE = 2,
};

/* Why the program cannot continue. Status 0 means no error. */
struct error {
	int status;
	char *message;
};

/* Set an error, unless one is set already. Returns -1, so that callers can return its result. */
int set_error(struct error *error, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print the error to stderr, clear it, and return the exit status. */
int report_error(struct error *error);

void clear_error(struct error *error);

/* Print a warning to stderr. The program continues. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
