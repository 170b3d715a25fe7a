/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Sends back messages of any size, marked as replies. See --help.
 */

#include "echo/echo.h"
#include "program.h"

int
main(int argc, char *argv[])
{
	return program_serve("echo", &echo_service, argc, argv);
}
