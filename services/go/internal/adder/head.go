// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package adder

import "bytes"

const (
	// The maximum length of a head in bytes, with empty lines before it.
	longest    = 8_192
	mostFields = 64
)

var (
	contentLength    = []byte("content-length")
	transferEncoding = []byte("transfer-encoding")
)

// A head follows the bytes of requests without bodies, and finds what net/http takes although it could be read in two
// ways: single line feeds, folded fields, lengths that are given twice, and encodings in HTTP/1.0.
type head struct {
	last    byte
	line    []byte // its beginning, longer than the names above
	length  int
	lines   int
	lengths int
}

// next takes the next byte. It returns whether net/http gets it, or why the request is refused. Empty lines before a
// request are left out (RFC 9112, section 2.2).
func (h *head) next(b byte) (bool, *refusal) {
	last, isBefore := h.last, h.lines == 0 && len(h.line) == 0
	h.last = b
	h.length++
	switch {
	case (last == '\r') != (b == '\n'):
		return false, malformed
	case h.length > longest:
		return false, tooLong
	case b == '\r' || (b == '\n' && isBefore):
		return !isBefore, nil
	case b == '\n':
		return true, h.endLine()
	case len(h.line) == 0 && (b == ' ' || b == '\t'):
		return false, malformed
	case b == ':' && h.lines > 0 && bytes.EqualFold(h.line, contentLength):
		h.lengths++
		if h.lengths > 1 {
			return false, hasBody
		}
	case b == ':' && h.lines > 0 && bytes.EqualFold(h.line, transferEncoding):
		return false, hasBody
	}
	if len(h.line) <= len(transferEncoding) {
		h.line = append(h.line, b)
	}
	return true, nil
}

func (h *head) endLine() *refusal {
	isEnd := len(h.line) == 0
	h.line = h.line[:0]
	h.lines++
	if isEnd {
		*h = head{last: h.last, line: h.line}
	} else if h.lines > 1+mostFields {
		return tooLong
	}
	return nil
}
