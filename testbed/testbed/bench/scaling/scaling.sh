#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Measures how the forwarders beside this script scale over lcores, ports and queues, on devices without a wire (net_null).
# It needs nothing but a shell and the usual tools of a Debian (awk, sort, sed), and no root. Each line of what it writes
# is a JSON object: first the machine, then one for each run. `./x bench scaling --from` makes a report of it.

set -eu

usage() {
    cat <<END
usage: $0 [options]

  --out FILE     file for the raw data; default: scaling.jsonl beside this script
  --rounds N     rounds, each of which runs every condition once in random order; default 8
  --seconds N    measured seconds per run, after one second of warm-up; default 3
  --lcores N     maximum lcores; default: cores minus one
  --most N       maximum ports and queues of one lcore; default 8
  --seed N       seed of the random order
  --hugepages    use hugepages, which must be reserved: rates are higher
END
}

fail() {
    echo "$0: $*" >&2
    exit 1
}

home=$(cd "$(dirname "$0")" && pwd)
out=$home/scaling.jsonl
rounds=8 seconds=3 lcores_max='' most=8 hugepages=false
seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage && exit ;;
        --hugepages) hugepages=true && shift && continue ;;
        --out | --rounds | --seconds | --lcores | --most | --seed) [ $# -ge 2 ] || fail "$1 needs a value" ;;
        *) fail "unknown option '$1': see --help" ;;
    esac
    case $1:$2 in
        --out:*) ;;
        *:*[!0-9]* | *: | *:0*) fail "$1 takes a number from 1 on, not '$2'" ;;
    esac
    case $1 in
        --out) out=$2 ;;
        --rounds) rounds=$2 ;;
        --seconds) seconds=$2 ;;
        --lcores) lcores_max=$2 ;;
        --most) most=$2 ;;
        --seed) seed=$2 ;;
    esac
    shift 2
done

work=$(mktemp -d)
# DPDK makes a folder for the file prefix of this run, which nobody uses again.
trap 'rm -rf "$work" "${RUNTIME_DIRECTORY:-/var/run}/dpdk/scaling-$$" "${XDG_RUNTIME_DIR:-/tmp}/dpdk/scaling-$$"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

text() { # escapes what is put between the quotes of a JSON string
    tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g'
}

field() { # FILE NAME: the value of the first line 'NAME : VALUE'
    sed -n "s/^$2[[:space:]]*:[[:space:]]*//p" "$1" | head -n 1
}

# --- the machine ------------------------------------------------------------------------------------------------------

# One logical CPU of each core, of those that this process may use.
usable=$(field /proc/self/status Cpus_allowed_list | tr ',' '\n' |
    awk -F - '{ for (cpu = $1; cpu <= $NF; cpu++) print cpu }')
cores=
for cpu in $usable; do
    siblings=/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list
    first=$cpu
    if [ -r "$siblings" ]; then
        for sibling in $(tr ',' '\n' <"$siblings" | awk -F - '{ for (cpu = $1; cpu <= $NF; cpu++) print cpu }'); do
            case " $(echo "$usable" | tr '\n' ' ')" in
                *" $sibling "*) first=$sibling && break ;;
            esac
        done
    fi
    [ "$first" != "$cpu" ] || cores="$cores $cpu"
done
# The first core is left to the system, unless it is the only one.
# shellcheck disable=SC2086 # a list of words
set -- $cores
core_count=$#
[ $# -eq 1 ] || shift
[ -z "$lcores_max" ] || [ "$lcores_max" -le $# ] || fail "$# lcores at most on this machine, not $lcores_max"
lcores=${lcores_max:-$#}
cpus=$(echo "$@" | cut -d ' ' -f "1-$lcores")

# The bundle has a loader and libraries of its own.
loader=
for file in "$home"/lib/ld-linux*; do
    [ ! -x "$file" ] || loader=$file
done

start() { # PROGRAM ARGUMENT…
    start_program=$1
    shift
    if [ -n "$loader" ]; then
        "$loader" --library-path "$home/lib" "$home/$start_program" "$@"
    else
        "$home/$start_program" "$@"
    fi
}

memory() { # LCORES PORTS QUEUES: the EAL's words
    if [ $hugepages = true ]; then
        echo '--in-memory'
    else
        # Generous: descriptors and caches of each, 2.5 kB an mbuf.
        echo "--no-huge -m $((96 + 12 * $2 * $3 + 4 * $1))"
    fi
}

programs=
for program in l2fwd-rs l2fwd-c; do
    [ ! -x "$home/$program" ] || programs="$programs $program"
done
[ -n "$programs" ] || fail "no l2fwd-rs and no l2fwd-c in $home"

eal() { # the words that every run has
    echo "--no-pci --no-telemetry --file-prefix=scaling-$$"
}

# The EAL knows the frequency of the time stamp counter.
first_program=${programs# }
first_program=${first_program%% *}
first_cpu=${cpus%% *}
# shellcheck disable=SC2046 # lists of words
start "$first_program" -l "$first_cpu" $(eal) $(memory 1 1 1) --log-level=lib.eal:debug --vdev=net_null0 -- -p 1 --duration 1 \
    >"$work/clock" 2>&1 || { cat "$work/clock" >&2 && fail "$first_program does not run on this machine: see above"; }
tsc_khz=$(sed -n 's/.*TSC frequency is ~\([0-9]*\) KHz.*/\1/p' "$work/clock" | head -n 1)

flags=" $(field /proc/cpuinfo flags) "
case $flags in
    *' hypervisor '*) virtual=true ;;
    *) virtual=false ;;
esac
sums=
for program in $programs; do
    sums="$sums${sums:+,}\"$program\":\"$(sha256sum "$home/$program" | cut -d ' ' -f 1)\""
done
{
    printf '{"type":"machine","schema_version":1,"started":"%s",' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '"cpu":"%s","cores":%s,"cpus":[%s],' "$(field /proc/cpuinfo 'model name' | text)" "$core_count" \
        "$(echo "$cpus" | tr ' ' ',')"
    printf '"virtual":%s,"kernel":"%s","memory_kb":%s,' "$virtual" "$(uname -r | text)" \
        "$(field /proc/meminfo MemTotal | cut -d ' ' -f 1)"
    printf '"system":"%s",' "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release | text)"
    printf '"hugepages":%s,"tsc_khz":%s,"programs":{%s},' "$hugepages" "${tsc_khz:-0}" "$sums"
    printf '"rounds":%s,"seconds":%s,"seed":%s}\n' "$rounds" "$seconds" "$seed"
} >"$out"

# --- the conditions: lcores, ports, queues ----------------------------------------------------------------------------

{
    echo '1 1 1'
    count=2
    while [ "$count" -le "$lcores" ]; do
        # DPDK has 32 ports at most.
        [ "$count" -gt 32 ] || echo "$count $count 1"
        echo "$count 1 $count"
        # All of the first, then fewer, and the last.
        if [ "$count" -lt 8 ]; then step=1; elif [ "$count" -lt 32 ]; then step=4; else step=16; fi
        if [ "$count" -lt "$lcores" ] && [ $((count + step)) -gt "$lcores" ]; then
            count=$lcores
        else
            count=$((count + step))
        fi
    done
    for count in 2 4 8; do
        [ "$count" -le "$most" ] || continue
        echo "1 $count 1"
        echo "1 1 $count"
    done
} >"$work/conditions"

shuffled() { # ROUND
    for program in $programs; do
        sed "s/^/$program /" "$work/conditions"
    done | awk -v seed="$((seed + $1))" 'BEGIN { srand(seed) } { printf "%.9f %s\n", rand(), $0 }' | sort -n | cut -d ' ' -f 2-
}

run() { # ROUND PROGRAM LCORES PORTS QUEUES
    devices=
    map=
    port=0
    while [ $port -lt "$4" ]; do
        devices="$devices --vdev=net_null$port"
        map="$map${map:+,}($port,$port)"
        port=$((port + 1))
    done
    pairs=$((($4 * $5 + $3 - 1) / $3))
    mine=$(echo "$cpus" | cut -d ' ' -f "1-$3" | tr ' ' ',')
    rm -f "$work/stats"
    before=$(sed -n '1s/^cpu *//p' /proc/stat | tr ' ' ',')
    times >"$work/before"
    status=0
    # shellcheck disable=SC2046,SC2086 # lists of words
    start "$2" -l "$mine" $(eal) $(memory "$3" "$4" "$5") $devices -- -p "$(printf %x $(((1 << $4) - 1)))" -q $pairs \
        --queues "$5" "--portmap=$map" -T 1 --duration $((seconds + 1)) --stats-json "$work/stats" \
        >"$work/log" 2>&1 || status=$?
    times >"$work/after"
    after=$(sed -n '1s/^cpu *//p' /proc/stat | tr ' ' ',')
    # User and system time of the programs that have ended.
    cpu_s=$(sed -n 2p "$work/before" | cat - "$work/after" | awk 'function s(t) { split(t, p, /[ms]/); return 60 * p[1] + p[2] }
        NR == 1 { old = s($1) + s($2) } NR == 3 { printf "%.2f", s($1) + s($2) - old }')
    printf '{"type":"run","round":%s,"program":"%s","lcores":%s,"ports":%s,"queues":%s,' "$1" "$2" "$3" "$4" "$5"
    printf '"status":%s,"error":"%s","cpu_s":%s,' $status "$([ $status -eq 0 ] || tail -n 1 "$work/log" | text)" "$cpu_s"
    printf '"stat":[[%s],[%s]],"messages":[' "$before" "$after"
    [ ! -f "$work/stats" ] || paste -s -d ',' "$work/stats" | tr -d '\n'
    printf ']}\n'
}

count=$(($(shuffled 1 | wc -l) * rounds))
echo "$count runs of $((seconds + 1)) s, about $((count * (seconds + 2) / 60 + 1)) min, on $lcores of $core_count cores" >&2
done=0
round=1
while [ $round -le "$rounds" ]; do
    shuffled "$round" >"$work/order"
    while read -r program lcore_count ports queues; do
        run "$round" "$program" "$lcore_count" "$ports" "$queues" >>"$out" </dev/null
        done=$((done + 1))
        echo "$done of $count: round $round, $program, lcores: $lcore_count, ports: $ports, queues of each: $queues" >&2
    done <"$work/order"
    round=$((round + 1))
done
echo "raw data: $out" >&2
