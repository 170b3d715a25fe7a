// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package adder

import (
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	for _, test := range []struct {
		path, text string
		refusal    *refusal
	}{
		{"/add/1/2", "1 + 2 = 3\n", nil},
		{"/add/-007/0", "-7 + 0 = -7\n", nil},
		{"/add/9223372036854775807/0", "9223372036854775807 + 0 = 9223372036854775807\n", nil},
		{"/add/9223372036854775807/1", "", tooLarge},
		{"/add/-9223372036854775808/-1", "", tooLarge},
		{"/add/9223372036854775808/-1", "", tooLarge},
		{"/add/+1/2", "", noNumber},
		{"/add//2", "", noNumber},
		{"/add/1/-", "", noNumber},
		{"/add/1/1a1", "", noNumber},
		{"/add/1/2?a=b", "", noNumber},
		{"/add/1", "", noSuchPage},
		{"/add/1/2/3", "", noSuchPage},
		{"/sub/1/2", "", noSuchPage},
	} {
		text, refusal := page(test.path)
		if text != test.text || refusal != test.refusal {
			t.Errorf("%s: %q, %v", test.path, text, refusal)
		}
	}
}

func TestHeads(t *testing.T) {
	fields := strings.Repeat("A: b\r\n", mostFields)
	first, end := "GET / HTTP/1.1\r\nA: ", "\r\n\r\n"
	long := first + strings.Repeat("b", longest-len(first)-len(end)) + end
	for _, test := range []struct {
		bytes, kept string
		refusal     *refusal
	}{
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", nil},
		{"\r\n\r\nA\r\n\r\n\r\nB\r\n\r\n", "A\r\n\r\nB\r\n\r\n", nil},
		{"A\r\n" + fields + "\r\n" + "B\r\n" + fields + "\r\n", "A\r\n" + fields + "\r\n" + "B\r\n" + fields + "\r\n", nil},
		{"A\r\n" + fields + "C: d\r\n\r\n", "A\r\n" + fields + "C: d\r", tooLong},
		{long, long, nil},
		{"b" + long, "b" + long[:len(long)-1], tooLong},
		{"A\nB", "A", malformed},
		{"\nA", "", malformed},
		{"A\r\r\n", "A\r", malformed},
		{"A\r\nB: c\r\n d\r\n\r\n", "A\r\nB: c\r\n", malformed},
		{"A\r\n\tB: c\r\n\r\n", "A\r\n", malformed},
		{"content-length:x\r\nContent-Length: 0\r\n\r\n", "content-length:x\r\nContent-Length: 0\r\n\r\n", nil},
		{"A\r\nContent-Length: 0\r\ncontent-length: 0", "A\r\nContent-Length: 0\r\ncontent-length", hasBody},
		{"A\r\nContent-Length: 0\r\n\r\nA\r\nContent-Length: 0\r\n", "A\r\nContent-Length: 0\r\n\r\nA\r\nContent-Length: 0\r\n", nil},
		{"A\r\nTRANSFER-encoding: x", "A\r\nTRANSFER-encoding", hasBody},
		{"A\r\nX-Transfer-Encoding: Transfer-Encoding: x\r\n", "A\r\nX-Transfer-Encoding: Transfer-Encoding: x\r\n", nil},
	} {
		var checked conn
		var kept []byte
		for _, b := range []byte(test.bytes) {
			if checked.refusal.Load() == nil {
				one := []byte{b}
				kept = append(kept, one[:checked.check(one)]...)
			}
		}
		if refusal := checked.refusal.Load(); string(kept) != test.kept || refusal != test.refusal {
			t.Errorf("%.60q byte by byte: %.60q, %v", test.bytes, kept, refusal)
		}
		checked = conn{}
		whole := []byte(test.bytes)
		whole = whole[:checked.check(whole)]
		if refusal := checked.refusal.Load(); string(whole) != test.kept || refusal != test.refusal {
			t.Errorf("%.60q in one: %.60q, %v", test.bytes, whole, refusal)
		}
	}
}
