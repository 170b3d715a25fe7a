/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../http/http.h"
#include "adder.h"

static const struct refusal no_number = {
	"400 Bad Request", "", "This is no number: give /add/A/B, such as /add/1/-2.\n"};
static const struct refusal too_large = {
	"400 Bad Request", "", "A number or the sum does not fit into 64 bits.\n"};
static const struct refusal no_such_page = {
	"404 Not Found", "", "There is no such page: ask for /add/A/B.\n"};

/* Digits, and a minus before them for a negative number. */
static const struct refusal *
read_number(const char *text, size_t len, int64_t *number)
{
	size_t at = len > 0 && *text == '-' ? 1 : 0;
	const bool is_negative = at == 1;
	int64_t value = 0;

	if (at == len)
		return &no_number;
	for (size_t i = at; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return &no_number;
	for (; at < len; at++) {
		const int64_t digit = text[at] - '0';

		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, is_negative ? -digit : digit, &value))
			return &too_large;
	}
	*number = value;
	return NULL;
}

static const struct refusal *
adder_page(const char *path, size_t len, char room[PAGE_ROOM], struct page *page)
{
	static const char prefix[] = "/add/";
	const char *end = path + len, *slash;
	const struct refusal *refusal;
	int64_t a, b, sum;

	if (len < strlen(prefix) || memcmp(path, prefix, strlen(prefix)) != 0)
		return &no_such_page;
	path += strlen(prefix);
	slash = memchr(path, '/', (size_t)(end - path));
	if (slash == NULL || memchr(slash + 1, '/', (size_t)(end - slash - 1)) != NULL)
		return &no_such_page;
	refusal = read_number(path, (size_t)(slash - path), &a);
	if (refusal == NULL)
		refusal = read_number(slash + 1, (size_t)(end - slash - 1), &b);
	if (refusal != NULL)
		return refusal;
	if (__builtin_add_overflow(a, b, &sum))
		return &too_large;
	page->bytes = room;
	/* Three numbers of 20 characters at most. */
	page->len = (size_t)snprintf(
		room, PAGE_ROOM, "%" PRId64 " + %" PRId64 " = %" PRId64 "\n", a, b, sum);
	return NULL;
}

static bool
adder_take(void *state, const char *bytes, size_t len, struct buffer *output, struct taken *taken)
{
	return http_take(state, adder_page, bytes, len, output, taken);
}

const struct service adder_service = {
	.state_size = sizeof(struct http),
	.has_deadline = true,
	.take = adder_take,
	.time_out = http_time_out,
	.free = http_free,
};
