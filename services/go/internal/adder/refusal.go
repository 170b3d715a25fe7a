// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package adder

import (
	"fmt"
	"net/http"
)

// A refusal is why a request does not get what it asks for.
type refusal struct {
	status   int
	headers  string
	sentence string
}

// What a request is answered by.
var (
	noNumber   = &refusal{http.StatusBadRequest, "", "This is no number: give /add/A/B, such as /add/1/-2.\n"}
	tooLarge   = &refusal{http.StatusBadRequest, "", "A number or the sum does not fit into 64 bits.\n"}
	noSuchPage = &refusal{http.StatusNotFound, "", "There is no such page: ask for /add/A/B.\n"}
)

// What a connection ends with, since it is not known where its next request begins.
var (
	malformed = &refusal{http.StatusBadRequest, "", "This is no request of HTTP/1.1.\n"}
	hasBody   = &refusal{http.StatusBadRequest, "", "The request has a body: send none.\n"}
	notGet    = &refusal{http.StatusMethodNotAllowed, "Allow: GET\r\n", "Only GET is answered.\n"}
	timedOut  = &refusal{http.StatusRequestTimeout, "", "The request did not come in time.\n"}
	// The answer to HEAD has no content (RFC 9110, section 9.3.2).
	noHead  = &refusal{http.StatusMethodNotAllowed, "Allow: GET\r\n", ""}
	tooLong = &refusal{
		http.StatusRequestHeaderFieldsTooLarge, "", "The head is too long: 8192 bytes, 64 fields.\n",
	}
)

func (r *refusal) Error() string { return r.sentence }

// last returns the last answer of a connection.
func (r *refusal) last() []byte {
	if r.sentence == "" {
		return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n%sConnection: close\r\n\r\n",
			r.status, http.StatusText(r.status), r.headers)
	}
	return fmt.Appendf(nil,
		"HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
		r.status, http.StatusText(r.status), len(r.sentence), r.headers, r.sentence)
}
