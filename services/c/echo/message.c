/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <endian.h>
#include <string.h>

#include "message.h"

static const char *const texts[] = {
	[WRONG_KIND] = "This is no kind of message: send 1 (text), 2 (bytes) or 3 (end).",
	[END_WITH_CONTENT] = "An end has no content.",
	[TIMED_OUT] = "No message came in time.",
};

enum message_refusal
message_parse(const char *bytes, struct message_header *header)
{
	uint64_t len;

	header->kind = (uint8_t)bytes[0];
	memcpy(&len, bytes + 1, sizeof(len));
	header->len = be64toh(len);
	if (header->kind == END && header->len > 0)
		return END_WITH_CONTENT;
	if (header->kind != TEXT && header->kind != BYTES && header->kind != END)
		return WRONG_KIND;
	return NOT_REFUSED;
}

bool
message_reply(const struct message_header *header, struct buffer *output)
{
	const uint8_t kind = header->kind | REPLY;
	const uint64_t len = htobe64(header->len);

	return buffer_append(output, &kind, sizeof(kind)) &&
	       buffer_append(output, &len, sizeof(len));
}

bool
message_refuse(enum message_refusal refusal, struct buffer *output)
{
	const char *text = texts[refusal];
	const struct message_header header = {ERROR, strlen(text)};

	return message_reply(&header, output) && buffer_append(output, text, strlen(text));
}
