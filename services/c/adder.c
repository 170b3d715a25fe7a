/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Adds two numbers over HTTP/1.1: GET /add/1/2 is answered by 1 + 2 = 3. See --help.
 */

#include "adder/adder.h"
#include "program.h"

int
main(int argc, char *argv[])
{
	return program_serve("adder", &adder_service, argc, argv);
}
