// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

package program

import (
	"errors"
	"flag"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestCommandLinesAreUnderstood(t *testing.T) {
	home, far := netip.MustParseAddrPort("[::1]:80"), netip.MustParseAddrPort("[2001:db8::2]:80")
	for _, test := range []struct {
		text    string
		isProxy bool
		want    Options
		line    string
	}{
		{"kernel ::1 80", false, Options{home, 10 * time.Second, netip.AddrPort{}, 10_000}, "kernel ::1 port 80"},
		{"--timeout 0.5 kernel ::1 80", false, Options{home, time.Second / 2, netip.AddrPort{}, 10_000}, "kernel ::1 port 80"},
		{
			"kernel ::1 80 [2001:db8::2]:80 --limit 7 --timeout=2", true,
			Options{home, 2 * time.Second, far, 7}, "kernel ::1 port 80 to [2001:db8::2]:80",
		},
	} {
		found, err := parse(strings.Fields(test.text), test.isProxy)
		if err != nil || found != test.want || found.String() != test.line {
			t.Errorf("%s: %v, %v", test.text, found, err)
		}
	}
	for _, text := range []string{"-h", "--help", "kernel ::1 80 --help"} {
		if _, err := parse(strings.Fields(text), true); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if text := usage("adder", false); !strings.HasPrefix(text, "usage: adder kernel ADDRESS PORT [--timeout SECONDS]\n") {
		t.Error(text)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, test := range []struct {
		text    string
		isProxy bool
		want    string
	}{
		{"", false, "see --help"},
		{"kernel 127.0.0.1", false, "see --help"},
		{"kernel localhost 80", false, "'localhost' is no address"},
		{"kernel 127.0.0.1 0", false, "port '0'"},
		{"kernel 127.0.0.1 65536", false, "port '65536'"},
		{"kernel 127.0.0.1 +80", false, "port '+80'"},
		{"lwip 192.0.2.1/24 80", false, "'lwip' is no kind of sockets"},
		{"kernel 127.0.0.1 80 --timeout 0", false, "a timeout of 0 s"},
		{"kernel 127.0.0.1 80 --timeout -1", false, "a timeout of -1 s"},
		{"kernel 127.0.0.1 80 --timeout NaN", false, "a timeout of NaN s"},
		{"kernel 127.0.0.1 80 --timeout soon", false, "a timeout of soon s"},
		{"kernel 127.0.0.1 80 --timeout", false, "-timeout"},
		{"kernel 127.0.0.1 80 --speed", false, "-speed: see --help"},
		{"kernel 127.0.0.1 80 --limit 5", false, "-limit: see --help"},
		{"kernel 127.0.0.1 80 127.0.0.1:81", false, "see --help"},
		{"kernel 127.0.0.1 80", true, "where to connect to"},
		{"kernel 127.0.0.1 80 localhost:81", true, "'localhost:81' is nothing to connect to"},
		{"kernel 127.0.0.1 80 127.0.0.1:0", true, "'127.0.0.1:0' is nothing to connect to"},
		{"kernel 127.0.0.1 80 127.0.0.1:81 --limit 0", true, "a limit of 0 connections"},
	} {
		_, err := parse(strings.Fields(test.text), test.isProxy)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.text, err)
		}
	}
}
