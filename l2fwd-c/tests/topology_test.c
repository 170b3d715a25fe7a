/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <unistd.h>

#include "../topology.h"
#include "check.h"

/* Pair the ports, with stderr going to a file for the time, to see the warnings. */
static void
pair_and_check(uint64_t mask, const char *map_text, const char *expected, const char *warning)
{
	struct port_map map = {0};
	struct error error = {0};
	struct port_pair pairs[MASK_PORTS];
	char text[512] = "";
	char warned[256] = "";
	size_t length = 0;
	unsigned int nb_pairs;
	FILE *capture = tmpfile();
	const int saved_stderr = dup(STDERR_FILENO);

	if (map_text != NULL) {
		CHECK(parse_port_map(map_text, &map, &error) == 0);
		CHECK(check_port_map(&map, mask, &error) == 0);
	}
	fflush(stderr);
	dup2(fileno(capture), STDERR_FILENO);
	nb_pairs = pair_ports(mask, &map, pairs);
	fflush(stderr);
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);

	rewind(capture);
	length = fread(warned, 1, sizeof(warned) - 1, capture);
	warned[length] = '\0';
	fclose(capture);

	length = 0;
	for (unsigned int i = 0; i < nb_pairs; i++)
		length += (size_t)snprintf(&text[length], sizeof(text) - length, "%s%u>%u",
			i == 0 ? "" : " ", pairs[i].port, pairs[i].peer);
	CHECK_TEXT(text, expected);
	CHECK_TEXT(warned, warning);
}

static void
test_pairs(void)
{
	pair_and_check(0x3, NULL, "0>1 1>0", "");
	pair_and_check(0xf, NULL, "0>1 1>0 2>3 3>2", "");
	/* Neighbours in the mask, not in numbers. */
	pair_and_check(UINT64_C(0x8000000000000112), NULL, "1>4 4>1 8>63 63>8", "");
	pair_and_check(0x1, NULL, "0>0",
		"l2fwd: warning: odd number of ports, port 0 forwards to itself\n");
	pair_and_check(0x16, NULL, "1>2 2>1 4>4",
		"l2fwd: warning: odd number of ports, port 4 forwards to itself\n");
}

static void
test_pairs_of_map(void)
{
	pair_and_check(0xf, "(0,3),(1,2)", "0>3 1>2 2>1 3>0", "");
	pair_and_check(0xf, "(2,2)", "2>2", "");
	pair_and_check(0xff, "(7,1),(0,0)", "0>0 1>7 7>1", "");
	pair_and_check(UINT64_MAX, "(63,0)", "0>63 63>0", "");
}

static const char *
assign(unsigned int nb_ports, uint16_t queues, unsigned int nb_lcores, uint16_t per_lcore,
	int *nb_used, struct error *error)
{
	const unsigned int lcores[] = {1, 4, 5, 9};
	const struct port_pair pairs[] = {{0, 2}, {2, 0}, {3, 3}};
	struct queue_assignment assignments[16];
	static char text[512];
	size_t length = 0;

	*nb_used = assign_queues(
		pairs, nb_ports, queues, lcores, nb_lcores, per_lcore, assignments, error);
	text[0] = '\0';
	for (unsigned int i = 0; *nb_used > 0 && i < nb_ports * queues; i++)
		length += (size_t)snprintf(&text[length], sizeof(text) - length, "%s%u:%u.%u>%u",
			i == 0 ? "" : " ", assignments[i].lcore, assignments[i].port,
			assignments[i].queue, assignments[i].peer);
	return text;
}

static void
test_assignment(void)
{
	struct error error = {0};
	int nb_used;

	CHECK_TEXT(assign(2, 1, 4, 1, &nb_used, &error), "1:0.0>2 4:2.0>0");
	CHECK_NUMBER(nb_used, 2);
	/* In order of port, then queue; the last lcore gets what is left. */
	CHECK_TEXT(assign(3, 2, 4, 4, &nb_used, &error),
		"1:0.0>2 1:0.1>2 1:2.0>0 1:2.1>0 4:3.0>3 4:3.1>3");
	CHECK_NUMBER(nb_used, 2);
	CHECK_TEXT(assign(2, 2, 4, 1, &nb_used, &error), "1:0.0>2 4:0.1>2 5:2.0>0 9:2.1>0");
	CHECK_NUMBER(nb_used, 4);
	CHECK_TEXT(assign(1, 1, 1, 1024, &nb_used, &error), "1:0.0>2");
	CHECK_NUMBER(nb_used, 1);
	CHECK_NUMBER(error.status, 0);
}

static void
test_too_few_lcores(void)
{
	static const struct {
		unsigned int nb_ports, nb_lcores;
		uint16_t queues, per_lcore;
		const char *message;
	} cases[] = {
		{2, 2, 2, 1,
			"too few lcores: 4 queue pairs at 1 per lcore need 4 lcores (available: 2): "
			"give more with -l, or raise -q"},
		/* Rounded up. */
		{3, 1, 1, 2,
			"too few lcores: 3 queue pairs at 2 per lcore need 2 lcores (available: 1): "
			"give more with -l, or raise -q"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = {0};
		int nb_used;

		assign(cases[i].nb_ports, cases[i].queues, cases[i].nb_lcores, cases[i].per_lcore,
			&nb_used, &error);
		CHECK(nb_used < 0);
		CHECK_NUMBER(error.status, STATUS_FAILED);
		CHECK_TEXT(error.message, cases[i].message);
		clear_error(&error);
	}
}

int
main(void)
{
	test_pairs();
	test_pairs_of_map();
	test_assignment();
	test_too_few_lcores();
	return check_result();
}
