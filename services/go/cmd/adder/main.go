// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Adder adds two numbers over HTTP: see --help.
package main

import (
	"services/internal/adder"
	"services/internal/program"
)

func main() {
	program.Main("adder", false, func(options program.Options) program.Server {
		return adder.New(options.Timeout)
	})
}
