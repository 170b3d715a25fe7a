/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <string.h>

#include "../http/http.h"
#include "origin.h"

#define LEN 10240
#define LINE 32

static const struct refusal no_such_page = {
	"404 Not Found", "", "There is no such page: ask for /.\n"};

/* Lines of the alphabet, with a number of their own: 320 of 32 bytes. */
static const char *
origin_text(void)
{
	static char text[LEN];

	if (text[0] != '\0')
		return text;
	for (int at = 0; at < LEN; at += LINE) {
		const int line = at / LINE;

		text[at] = (char)('0' + line / 100);
		text[at + 1] = (char)('0' + line / 10 % 10);
		text[at + 2] = (char)('0' + line % 10);
		memcpy(text + at + 3, "  abcdefghijklmnopqrstuvwxyz\n", LINE - 3);
	}
	return text;
}

static const struct refusal *
origin_page(const char *path, size_t len, char room[PAGE_ROOM], struct page *page)
{
	(void)room;
	if (len != 1 || *path != '/')
		return &no_such_page;
	*page = (struct page){origin_text(), LEN};
	return NULL;
}

static bool
origin_take(void *state, const char *bytes, size_t len, struct buffer *output, struct taken *taken)
{
	return http_take(state, origin_page, bytes, len, output, taken);
}

const struct service origin_service = {
	.state_size = sizeof(struct http),
	.has_deadline = true,
	.take = origin_take,
	.time_out = http_time_out,
	.free = http_free,
};
