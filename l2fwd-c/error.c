/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"

int
set_error(struct error *error, int status, const char *format, ...)
{
	va_list arguments;

	if (error->status != 0)
		return -1;

	error->status = status;
	va_start(arguments, format);
	if (vasprintf(&error->message, format, arguments) < 0)
		error->message = NULL;
	va_end(arguments);
	return -1;
}

int
report_error(struct error *error)
{
	int status = error->status;

	fprintf(stderr, "l2fwd: %s\n", error->message != NULL ? error->message : "out of memory");
	if (status == STATUS_USAGE)
		fputs("Run with '-- --help' for the options.\n", stderr);
	clear_error(error);
	return status;
}

void
clear_error(struct error *error)
{
	free(error->message);
	error->message = NULL;
	error->status = 0;
}

void
warn(const char *format, ...)
{
	va_list arguments;

	/* Lcores may warn at the same time. */
	flockfile(stderr);
	fputs("l2fwd: warning: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
}
