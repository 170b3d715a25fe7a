#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# What only the whole program shows: exit status, stdout and stderr. Needs neither root nor
# hugepages. Argument: the program.

program=$1
eal="-l 0 --no-huge -m 128 --no-pci --no-shconf --no-telemetry"
work=$(mktemp -d) || exit 1
# Where the EAL leaves a folder.
export RUNTIME_DIRECTORY="$work"
trap 'rm -rf "$work"' EXIT
failures=0

# Run the program with stdout and stderr kept.
run() {
	"$program" "$@" >"$work/out" 2>"$work/err"
	status=$?
}

fail() {
	echo "failed: $1" >&2
	sed 's/^/  stdout: /' "$work/out" >&2
	sed 's/^/  stderr: /' "$work/err" >&2
	failures=$((failures + 1))
}

expect_status() {
	[ "$status" -eq "$1" ] || fail "exit status $status instead of $1"
}

# The last line of stderr.
expect_error() {
	[ "$(tail -n 1 "$work/err")" = "$1" ] || fail "stderr does not end with: $1"
}

expect_out() {
	grep -q -- "$1" "$work/out" || fail "stdout does not hold: $1"
}

run --help
expect_status 0
expect_out '^Usage: l2fwd-c '
[ ! -s "$work/err" ] || fail "help wrote to stderr"

run -- --version
expect_status 0
expect_out '^l2fwd-c [0-9.]* (DPDK [0-9.]*)$'

# Before the EAL, and with the line that tells where help is.
run -- --foo
expect_status 2
[ "$(cat "$work/err")" = "l2fwd: unknown option '--foo'
Run with '-- --help' for the options." ] || fail "unknown option"
[ ! -s "$work/out" ] || fail "an error wrote to stdout"

run -- -p 1 --stats-json "$work/no/such/folder"
expect_status 1
[ "$(cat "$work/err")" = "l2fwd: cannot open '$work/no/such/folder' for statistics: No such file or directory" ] ||
	fail "statistics file that cannot be opened"

# Another process may have the usual file prefix, and would be named instead.
run --no-huge --no-shconf --vdev=net_missing0 -- -p 1
expect_status 1
expect_error "l2fwd: cannot initialize the EAL: No such device"

# $eal is a list of words.
# shellcheck disable=SC2086
{
	run $eal stray --vdev net_null0 -- -p 1
	expect_status 2
	grep -q "^l2fwd: unexpected argument 'stray'$" "$work/err" || fail "stray argument"

	run $eal -- -p 1
	expect_status 1
	expect_error "l2fwd: no Ethernet ports: bind a NIC to a DPDK driver with dpdk-devbind.py, or add a virtual device with --vdev"

	run $eal --vdev net_null0 --vdev net_null1 -- -p 0xf
	expect_status 1
	expect_error "l2fwd: port mask 0xf names ports that do not exist: 2, 3 (available: 0, 1)"

	run $eal --vdev net_null0 --vdev net_null1 -- -p 3
	expect_status 1
	expect_error "l2fwd: too few lcores: 2 queue pairs at 1 per lcore need 2 lcores (available: 1): give more with -l, or raise -q"

	run $eal --vdev net_null0 -- -p 1 --rxd 65535 --txd 65535
	expect_status 1
	expect_error "l2fwd: cannot create a pool of 131358 mbufs on socket 0: Cannot allocate memory: reserve more hugepages, or use fewer descriptors"

	run $eal --vdev net_null0 -- -p 1 -T 0 --duration 1 --stats-json -
	expect_status 0
	[ "$(grep -c '^{.*}$' "$work/out")" -eq 2 ] || fail "two JSON objects"
	[ "$(wc -l <"$work/out")" -eq 2 ] || fail "nothing but JSON"
	expect_out '"balanced":true'
	grep -q '^l2fwd: warning: odd number of ports, port 0 forwards to itself$' "$work/err" ||
		fail "odd number of ports"
	grep -q '^l2fwd: forwarding, stop with Ctrl-C$' "$work/err" || fail "text on stderr"
}

# Stopped by a signal once it forwards; stdout stays free of the logs of the EAL.
# shellcheck disable=SC2086
for signal in INT TERM; do
	: >"$work/out"
	"$program" $eal --vdev net_null0 --vdev net_null1 -- -p 3 -q 2 >"$work/out" 2>"$work/err" &
	pid=$!
	until grep -q '^l2fwd: forwarding' "$work/out" || ! kill -0 $pid; do
		sleep 0.05
	done
	kill -s $signal $pid
	wait $pid
	status=$?
	expect_status 0
	expect_out '^l2fwd: final statistics after '
	grep -qv '^l2fwd: \|^ *[0-9pt]' "$work/out" && fail "strange text on stdout"
done

[ "$failures" -eq 0 ]
