/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Assertions that go on after a failure, so that one run shows them all.
 */

#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned int nb_checks;
static unsigned int nb_failures;

static inline bool
check_at(bool ok, const char *file, int line, const char *what)
{
	nb_checks++;
	if (!ok) {
		nb_failures++;
		fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	}
	return ok;
}

#define CHECK(condition) check_at(condition, __FILE__, __LINE__, #condition)

#define CHECK_NUMBER(actual, expected) \
	do { \
		const uint64_t actual_ = (uint64_t)(actual); \
		const uint64_t expected_ = (uint64_t)(expected); \
		if (!check_at(actual_ == expected_, __FILE__, __LINE__, #actual " == " #expected)) \
			fprintf(stderr, "  got %" PRIu64 ", expected %" PRIu64 "\n", actual_, \
				expected_); \
	} while (0)

#define CHECK_TEXT(actual, expected) \
	do { \
		const char *actual_ = (actual); \
		const char *expected_ = (expected); \
		if (!check_at(actual_ != NULL && strcmp(actual_, expected_) == 0, __FILE__, \
			    __LINE__, #actual)) \
			fprintf(stderr, "  got      \"%s\"\n  expected \"%s\"\n", \
				actual_ != NULL ? actual_ : "(null)", expected_); \
	} while (0)

/* The exit status of the test program. A test that checked nothing has not passed. */
static inline int
check_result(void)
{
	fprintf(stderr, "%u checks, %u failed\n", nb_checks, nb_failures);
	return nb_checks == 0 || nb_failures != 0;
}

#endif
