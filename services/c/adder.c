/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Adds two numbers over HTTP/1.1: GET /add/1/2 is answered by 1 + 2 = 3. See --help.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adder/server.h"
#include "program.h"

int
main(int argc, char *argv[])
{
	struct server server = {0};
	struct options options;
	int status;

	server.sockets = program_start("adder", argc, argv, &options, &status);
	if (server.sockets == NULL)
		return status;
	server.timeout_ms = options.timeout_ms;
	while (!program_stop) {
		if (server_poll(&server) < 0) {
			fprintf(stderr, "adder: cannot wait for events: %s\n", strerror(errno));
			return EXIT_FAILURE;
		}
	}
	printf("adder: %" PRIu64 " requests answered\n", server.answered);
	server_end(&server);
	program_end(server.sockets, &options);
	return EXIT_SUCCESS;
}
