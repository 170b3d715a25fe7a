#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Runs on a host for as long as the testbed uses it, and leaves it as it was found: when its input ends, whether because the
# testbed is done or that the connection is lost, it ends the programs that were started in its folder and all that they
# have begun, removes the folder, and gives back the hugepages that it took. The testbed types a line every few seconds;
# without one for a minute, it counts as gone too.
#
# usage: keeper.sh HUGEPAGES
# prints "ready FOLDER FREE TAKEN": its folder, free 2-MB pages, and how many of them it reserved; at the end "left"

set -u
trap '' HUP INT PIPE TERM
# The tests have a pool of their own.
pool=${TESTBED_POOL:-/sys/kernel/mm/hugepages/hugepages-2048kB}
taken=0

programs() { # the processes that work in the folder, or were begun by one that did: those have its DPDK's folder
    grep -lzsxF "RUNTIME_DIRECTORY=$folder/run" /proc/[0-9]*/environ | sed 's,^/proc/,,; s,/.*,,'
    for cwd in /proc/[0-9]*/cwd; do
        if [ "$(readlink "$cwd" 2>/dev/null)" = "$folder" ]; then
            pid=${cwd#/proc/}
            printf '%s\n' "${pid%/cwd}"
        fi
    done
}

leave() {
    for pid in $(programs); do kill -TERM "$pid" 2>/dev/null; done
    patience=60 # of half a second
    while [ -n "$(programs)" ] && [ "$patience" -gt 0 ]; do
        sleep 0.5
        patience=$((patience - 1))
    done
    for pid in $(programs); do kill -KILL "$pid" 2>/dev/null; done
    rm -rf "$folder"
    if [ "$taken" -gt 0 ]; then
        echo $(($(cat "$pool"/nr_hugepages) - taken)) >"$pool"/nr_hugepages
    fi
    echo left
}

folder=$(mktemp -d "${TMPDIR:-/tmp}/testbed-XXXXXXXX") || exit 1
folder=$(readlink -f "$folder")
mkdir "$folder/run" "$folder/pids" || exit 1

if [ "$1" -gt 0 ]; then
    before=$(cat "$pool"/nr_hugepages 2>/dev/null || echo 0)
    if { echo $((before + $1)) >"$pool"/nr_hugepages; } 2>/dev/null; then
        taken=$(($(cat "$pool"/nr_hugepages) - before))
    fi
fi
echo "ready $folder $(cat "$pool"/free_hugepages 2>/dev/null || echo 0) $taken"

# dd takes what there is; at the end of the input it takes nothing.
while beat=$(timeout 60 dd bs=512 count=1 2>/dev/null) && [ -n "$beat" ]; do :; done
leave
