// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Proxy passes connections on to a back end: see --help.
package main

import (
	"services/internal/program"
	"services/internal/proxy"
)

func main() {
	program.Main("proxy", true, func(options program.Options) program.Server {
		return proxy.New(options.To, options.Timeout, options.Limit)
	})
}
