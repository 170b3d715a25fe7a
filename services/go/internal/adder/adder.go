// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Package adder adds two numbers over HTTP/1.1: GET /add/1/2 is answered by "1 + 2 = 3".
package adder

import (
	"fmt"
	"strconv"
	"strings"
)

// page returns the page at a path, or why there is none.
func page(path string) (string, *refusal) {
	words, isSum := strings.CutPrefix(path, "/add/")
	first, second, isPair := strings.Cut(words, "/")
	if !isSum || !isPair || strings.Contains(second, "/") {
		return "", noSuchPage
	}
	a, refusal := number(first)
	if refusal != nil {
		return "", refusal
	}
	b, refusal := number(second)
	if refusal != nil {
		return "", refusal
	}
	sum := a + b
	if (sum < a) != (b < 0) {
		return "", tooLarge
	}
	return fmt.Sprintf("%d + %d = %d\n", a, b, sum), nil
}

// number reads digits, and a minus before them for a negative number.
func number(text string) (int64, *refusal) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, noNumber
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, tooLarge
	}
	return value, nil
}
