#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Runs a TRex server until it is told to end (SIGTERM), and leaves the machine as it was found: TRex's own scripts reserve
# hugepages, mount /mnt/huge and take NICs from their drivers, and give nothing back. The server proper is a child of its
# script, which hears nothing while it waits: all that was begun here is known by a mark in its environment.
#
# usage: server.sh HOME ARGUMENT…    with TRex's folder and what t-rex-64 is given
# the status is the server's, or 75 if something could not be put back; a line "not put back: …" says what

set -u
# The tests have a machine of their own.
root=${TESTBED_ROOT:-}
home=$1
shift
mark="TESTBED_TREX=$$-$(date +%s)"
stopped=
grace=200 # of 0.1 s

pools() { # the files that say how many hugepages there are, and what they say
    for file in "$root"/sys/devices/system/node/node*/hugepages/hugepages-*/nr_hugepages; do
        if [ -r "$file" ]; then printf '%s %s\n' "$file" "$(cat "$file")"; fi
    done
}

nics() { # network controllers, each with its driver and what overrides the choice of one
    for device in "$root"/sys/bus/pci/devices/*; do
        case $(cat "$device/class" 2>/dev/null) in 0x02*) ;; *) continue ;; esac
        driver=$(readlink "$device/driver")
        override=$(cat "$device/driver_override" 2>/dev/null)
        printf '%s %s %s\n' "${device##*/}" "${driver##*/}-" "${override:-(null)}"
    done
}

is_mounted() { grep -qs ' /mnt/huge hugetlbfs ' "$root/proc/mounts"; }

marked() { # what was begun here and still runs
    grep -lzsxF -- "$mark" /proc/[0-9]*/environ | sed 's,^/proc/,,; s,/.*,,'
}

end() {
    stopped=1
    for pid in $(marked); do kill -TERM "$pid" 2>/dev/null; done
}

failed() { echo "not put back: $1"; }

put_back() { # says what could not be
    if [ -z "$mounted" ] && is_mounted; then umount "$root/mnt/huge" || failed "the mount of /mnt/huge"; fi
    if [ -z "$folder" ]; then rmdir "$root/mnt/huge" 2>/dev/null; fi
    if [ -z "$bird" ]; then rmdir "$root/tmp/trex-bird" 2>/dev/null; fi
    printf '%s\n' "$taken" | while read -r file pages; do
        [ -n "$file" ] || continue
        echo $(($(cat "$file") - pages)) >"$file" || failed "$pages hugepages of $file"
    done
    printf '%s\n' "$nics_before" | while read -r address driver override; do
        device=$root/sys/bus/pci/devices/$address
        now=$(readlink "$device/driver")
        now=${now##*/}
        driver=${driver%-}
        if [ -z "$address" ] || [ "$now" = "$driver" ]; then continue; fi
        if [ "$override" = "(null)" ]; then override=; fi
        {
            if [ -n "$now" ]; then echo "$address" >"$root/sys/bus/pci/drivers/$now/unbind"; fi &&
                if [ -e "$device/driver_override" ]; then echo "$driver" >"$device/driver_override"; fi &&
                if [ -n "$driver" ]; then echo "$address" >"$root/sys/bus/pci/drivers/$driver/bind"; fi &&
                if [ -e "$device/driver_override" ]; then echo "$override" >"$device/driver_override"; fi
        } || failed "NIC $address, which had the driver '$driver'"
    done
}

if ! cd "$home" 2>/dev/null || [ ! -x ./t-rex-64 ]; then
    echo "no program 't-rex-64' in '$home': name TRex's folder on this machine" >&2
    exit 1
fi
trap end TERM INT HUP
mounted=$(is_mounted && echo yes)
folder=$([ ! -d "$root/mnt/huge" ] || echo there)
bird=$([ ! -d "$root/tmp/trex-bird" ] || echo there)
nics_before=$(nics)
pools_before=$(pools)
# The script that changes the machine, which t-rex-64 runs first. Once done, nothing is left for it to change there.
if [ -x ./trex-cfg ]; then env "$mark" ./trex-cfg "$@" >/dev/null 2>&1; fi
taken=$(
    printf '%s\n' "$pools_before" | while read -r file before; do
        if [ -n "$file" ] && [ "$(cat "$file")" -gt "$before" ]; then echo "$file $(($(cat "$file") - before))"; fi
    done
)
status=143
if [ -z "$stopped" ]; then
    env "$mark" ./t-rex-64 "$@" &
    server=$!
    # The signal may have come before there was anything to end.
    [ -z "$stopped" ] || end
    wait "$server"
    status=$?
    if [ -n "$stopped" ]; then
        while [ -n "$(marked)" ] && [ "$grace" -gt 0 ]; do
            sleep 0.1
            grace=$((grace - 1))
        done
    fi
fi
for pid in $(marked); do kill -KILL "$pid" 2>/dev/null; done
if [ -n "$stopped" ] && [ -n "${server:-}" ]; then
    wait "$server"
    status=$?
fi
trap '' TERM INT HUP
undone=$(put_back)
if [ -n "$undone" ]; then
    echo "$undone"
    exit 75
fi
exit "$status"
