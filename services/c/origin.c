/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * What stands behind a proxy: GET / over HTTP/1.1 is answered by 10 KiB of text. See --help.
 */

#include "origin/origin.h"
#include "program.h"

int
main(int argc, char *argv[])
{
	return program_serve("origin", &origin_service, argc, argv);
}
