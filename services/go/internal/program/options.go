// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package program

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

const service = `usage: NAME kernel ADDRESS PORT [--timeout SECONDS]

Serves a TCP port until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  -h, --help         print this text
`

const proxy = `usage: NAME kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]

Passes the connections to a TCP port on to another one until SIGINT or SIGTERM, and then until all of them have ended.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80
  --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10
  --limit N          so many connections are passed on at a time; default: 10000
  -h, --help         print this text
`

// More seconds would not fit into a duration, some time-outs long.
const longest = 1e9

// Options is the command line, checked.
type Options struct {
	// Place is where to listen.
	Place netip.AddrPort
	// Timeout is how long a peer may take.
	Timeout time.Duration
	// To is where a proxy connects to.
	To netip.AddrPort
	// Limit is how many connections a proxy passes on at a time.
	Limit int
}

func (o Options) String() string {
	text := fmt.Sprintf("kernel %s port %d", o.Place.Addr(), o.Place.Port())
	if o.To.IsValid() {
		text += fmt.Sprintf(" to %s", o.To)
	}
	return text
}

func usage(name string, isProxy bool) string {
	text := service
	if isProxy {
		text = proxy
	}
	return strings.ReplaceAll(text, "NAME", name)
}

// parse reads the command line. The error is flag.ErrHelp if the usage is asked for.
func parse(words []string, isProxy bool) (Options, error) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	timeout, limit := flags.String("timeout", "10", ""), new("10000")
	needed, remedy := 3, "give kernel, an address, and a port: see --help"
	if isProxy {
		limit = flags.String("limit", "10000", "")
		needed, remedy = 4, "give kernel, an address, a port, and where to connect to: see --help"
	}
	var values []string
	// Flags may come after values, where Parse stops.
	for len(words) > 0 {
		if err := flags.Parse(words); err != nil {
			return Options{}, fmt.Errorf("%w: see --help", err)
		}
		words = flags.Args()
		if len(words) > 0 {
			values, words = append(values, words[0]), words[1:]
		}
	}
	if len(values) != needed {
		return Options{}, errors.New(remedy)
	}
	if values[0] != "kernel" {
		return Options{}, fmt.Errorf("'%s' is no kind of sockets: give kernel", values[0])
	}
	var options Options
	var errs [4]error
	options.Place, errs[0] = place(values[1], values[2])
	if isProxy {
		options.To, errs[1] = backEnd(values[3])
	}
	options.Timeout, errs[2] = duration(*timeout)
	options.Limit, errs[3] = count(*limit)
	return options, cmp.Or(errs[:]...)
}

func place(address, port string) (netip.AddrPort, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return netip.AddrPort{}, fmt.Errorf("port '%s': give 1 to 65535", port)
	}
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("'%s' is no address: give one such as 127.0.0.1", address)
	}
	return netip.AddrPortFrom(ip, uint16(number)), nil
}

func backEnd(text string) (netip.AddrPort, error) {
	to, err := netip.ParseAddrPort(text)
	if err != nil || to.Port() == 0 {
		return netip.AddrPort{}, fmt.Errorf(
			"'%s' is nothing to connect to: give an address and a port such as 127.0.0.1:80 or [::1]:80", text)
	}
	return to, nil
}

func duration(text string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	timeout := time.Duration(min(seconds, longest) * float64(time.Second))
	if err != nil || timeout <= 0 {
		return 0, fmt.Errorf("a timeout of %s s: give more than 0", text)
	}
	return timeout, nil
}

func count(text string) (int, error) {
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 {
		return 0, fmt.Errorf("a limit of %s connections: give 1 or more", text)
	}
	return limit, nil
}
