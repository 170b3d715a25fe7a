/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Messages: a byte says what they are, eight bytes how long (the first one is the highest), and
 * then comes the content.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "../buffer.h"

/* The length of a header in bytes. */
#define HEADER_LEN 9

enum message_kind {
	TEXT = 1,
	BYTES = 2,
	/* There is no content, and no further message. */
	END = 3,
	/* The content is text that says what is wrong, and there is no further message. */
	ERROR = 4,
	/* Added to the kind of a message that is sent back. */
	REPLY = 0x80,
};

/* Why a message is not sent back. */
enum message_refusal {
	NOT_REFUSED,
	WRONG_KIND,
	END_WITH_CONTENT,
	TIMED_OUT,
};

/* What comes before the content. */
struct message_header {
	uint8_t kind;
	uint64_t len;
};

/* Read a header, which has HEADER_LEN bytes. */
enum message_refusal message_parse(const char *bytes, struct message_header *header);

/* Append the header of a reply. Returns false without memory. */
bool message_reply(const struct message_header *header, struct buffer *output);

/* Append an error. Returns false without memory. */
bool message_refuse(enum message_refusal refusal, struct buffer *output);

#endif
