/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include "refusal.h"

const struct refusal refusal_malformed = {
	"400 Bad Request", "", "This is no request of HTTP/1.1.\n"};
const struct refusal refusal_has_body = {
	"400 Bad Request", "", "The request has a body: send none.\n"};
const struct refusal refusal_not_found = {"404 Not Found", "", "There is no such page.\n"};
const struct refusal refusal_timed_out = {
	"408 Request Timeout", "", "The request did not come in time.\n"};
const struct refusal refusal_too_long = {"431 Request Header Fields Too Large", "",
	"The head is too long: 8192 bytes, 64 fields.\n"};
const struct refusal refusal_not_get = {
	"405 Method Not Allowed", "Allow: GET\r\n", "Only GET is answered.\n"};
const struct refusal refusal_head = {"405 Method Not Allowed", "Allow: GET\r\n", ""};
