/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <picohttpparser.h>

#include "request.h"

/* The maximum length of a head in bytes. */
#define LONGEST_HEAD 8192
#define MAX_HEADERS 64

static bool
is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

/* Note what one token of Connection says. */
static void
connection_token(const char *text, size_t len, struct request *request)
{
	while (len > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	if (is_word(text, len, "close"))
		request->keeps_alive = false;
	else if (is_word(text, len, "keep-alive") && request->is_http10)
		request->keeps_alive = true;
}

/* Read whether more requests may follow. */
static const struct refusal *
read_headers(const struct phr_header *headers, size_t nb_headers, struct request *request)
{
	unsigned int nb_hosts = 0, nb_lengths = 0;

	request->keeps_alive = !request->is_http10;
	for (size_t i = 0; i < nb_headers; i++) {
		const struct phr_header *header = &headers[i];
		const char *value = header->value, *end = value + header->value_len;

		/* A line that continues another one. */
		if (header->name == NULL)
			return &refusal_malformed;
		if (is_word(header->name, header->name_len, "host")) {
			nb_hosts++;
		} else if (is_word(header->name, header->name_len, "transfer-encoding")) {
			return &refusal_has_body;
		} else if (is_word(header->name, header->name_len, "content-length")) {
			nb_lengths++;
			if (header->value_len != 1 || *value != '0' || nb_lengths > 1)
				return &refusal_has_body;
		} else if (is_word(header->name, header->name_len, "connection")) {
			while (value <= end) {
				const char *comma = memchr(value, ',', (size_t)(end - value));
				const char *stop = comma != NULL ? comma : end;

				connection_token(value, (size_t)(stop - value), request);
				value = stop + 1;
			}
		}
	}
	/* RFC 9112, section 3.2. */
	if (nb_hosts > 1 || (nb_hosts == 0 && !request->is_http10))
		return &refusal_malformed;
	return NULL;
}

/* The path of /path, or of http://host/path (RFC 9112, section 3.2.2). */
static void
read_target(const char *target, size_t len, struct request *request)
{
	static const char scheme[] = "http://";
	const char *end = target + len;

	if (len >= strlen(scheme) && strncasecmp(target, scheme, strlen(scheme)) == 0) {
		target += strlen(scheme);
		target = memchr(target, '/', (size_t)(end - target));
	}
	request->path = target;
	request->path_len = target == NULL ? 0 : (size_t)(end - target);
}

static enum parsed
refuse(struct request *request, const struct refusal *refusal)
{
	request->refusal = refusal;
	return REFUSED;
}

enum parsed
parse_request(const char *bytes, size_t len, struct request *request)
{
	struct phr_header headers[MAX_HEADERS];
	size_t nb_headers = MAX_HEADERS, method_len, target_len, empty = 0;
	const char *head, *end, *method, *target;
	int minor, ret;

	*request = (struct request){0};
	/* RFC 9112, section 2.2: empty lines before a request are ignored. */
	while (len - empty >= 2 && memcmp(bytes + empty, "\r\n", 2) == 0)
		empty += 2;
	head = bytes + empty;
	len -= empty;
	end = memmem(head, len, "\r\n\r\n", 4);
	if (end != NULL)
		len = (size_t)(end + 4 - head);
	/* A line feed alone is the end of a line for some, and not for others. */
	for (const char *at = head; (at = memchr(at, '\n', (size_t)(head + len - at))) != NULL;
		at++)
		if (at == head || at[-1] != '\r')
			return refuse(request, &refusal_malformed);
	if (len > LONGEST_HEAD || empty > LONGEST_HEAD)
		return refuse(request, &refusal_too_long);
	if (end == NULL)
		return INCOMPLETE;
	ret = phr_parse_request(head, len, &method, &method_len, &target, &target_len, &minor,
		headers, &nb_headers, 0);
	if (ret < 0)
		/* It does not tell why; so many headers are the only reason that has a status. */
		return refuse(request,
			nb_headers == MAX_HEADERS ? &refusal_too_long : &refusal_malformed);
	/* The parser lets bytes beyond ASCII pass. */
	for (size_t i = 0; i < target_len; i++)
		if ((unsigned char)target[i] > '~')
			return refuse(request, &refusal_malformed);
	request->is_http10 = minor == 0;
	request->refusal = read_headers(headers, nb_headers, request);
	if (request->refusal != NULL)
		return REFUSED;
	if (method_len == 4 && memcmp(method, "HEAD", 4) == 0)
		return refuse(request, &refusal_head);
	if (method_len != 3 || memcmp(method, "GET", 3) != 0)
		return refuse(request, &refusal_not_get);
	read_target(target, target_len, request);
	request->len = empty + len;
	return REQUEST;
}
