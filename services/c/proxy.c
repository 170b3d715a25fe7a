/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Joins each connection to one of its own to a back end. See --help.
 */

#include "program.h"

int
main(int argc, char *argv[])
{
	return program_proxy("proxy", argc, argv);
}
