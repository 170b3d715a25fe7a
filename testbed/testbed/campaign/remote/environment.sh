#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Tells what a host is, in lines of a name, a tab and a value; what cannot be found out is left out.
# The first argument is the folder of a machine's files, for tests; without one it is the root.

set -u
root=${1:-}
cpus=$root/sys/devices/system/cpu

say() { # NAME VALUE
    [ -z "$2" ] || printf '%s\t%s\n' "$1" "$2"
}

file() { # PATH: its first line
    line=
    if [ -r "$1" ]; then read -r line <"$1"; fi 2>/dev/null
    printf '%s' "$line"
}

cpuinfo() { # KEY: of the first CPU
    sed -n "s/^$1[[:space:]]*: //p" "$root/proc/cpuinfo" | head -n 1
}

say kernel "$(uname -r)"
say system "$(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release" 2>/dev/null | tr -d '"')"
say command_line "$(cat "$root/proc/cmdline")"
say cpu "$(cpuinfo 'model name')"
say microcode "$(cpuinfo microcode)"
# Not every small system has getconf, nor every old one nproc, which tells only what this process may use.
say logical "$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null)"
say governor "$(file "$cpus/cpu0/cpufreq/scaling_governor")"
say smt "$(file "$cpus/smt/active")"
say isolated "$(file "$cpus/isolated")"
say memory_kb "$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' "$root/proc/meminfo")"
say iommu_groups "$(find "$root/sys/kernel/iommu_groups" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)"
say dpdk "$(pkg-config --modversion libdpdk 2>/dev/null)"

# Each CPU: its NUMA node, its governor, and its frequency now, at least and at most, in kHz.
for cpu in "$cpus"/cpu[0-9]*; do
    node=
    for place in "$cpu"/node[0-9]*; do
        if [ -e "$place" ]; then node=${place##*node}; fi
    done
    clock=$cpu/cpufreq
    say core "${cpu##*cpu}	$node	$(file "$clock/scaling_governor")	$(file "$clock/scaling_cur_freq")	$(
        file "$clock/scaling_min_freq"
    )	$(file "$clock/scaling_max_freq")"
done
# Where the kernel does not scale it, the frequency in MHz, in the lines after the CPU's own.
sed -n 's/^processor[[:space:]]*: */clock_of	/p; s/^cpu MHz[[:space:]]*: */clock_mhz	/p' "$root/proc/cpuinfo"

for pool in "$root"/sys/kernel/mm/hugepages/hugepages-*; do
    if [ -d "$pool" ]; then
        say hugepages "${pool##*-}	$(file "$pool/nr_hugepages")	$(file "$pool/free_hugepages")"
    fi
done

# Network controllers, whichever driver has them.
for device in "$root"/sys/bus/pci/devices/*; do
    case $(file "$device/class") in 0x02*) ;; *) continue ;; esac
    interface=
    for net in "$device"/net/* "$device"/virtio*/net/*; do
        if [ -e "$net" ]; then interface=${net##*/}; fi
    done
    firmware=
    if [ -n "$interface" ]; then
        firmware=$(ethtool -i "$interface" 2>/dev/null | sed -n 's/^firmware-version: //p')
    fi
    net=$root/sys/class/net/$interface
    mac='' mtu='' speed=''
    if [ -n "$interface" ]; then
        mac=$(file "$net/address") mtu=$(file "$net/mtu")
        # An interface that is down has none: -1, or an error.
        speed=$(file "$net/speed")
    fi
    model=$(lspci -s "${device##*/}" 2>/dev/null | sed 's/^[^ ]* [^:]*: //')
    driver=$(readlink "$device/driver")
    say nic "${device##*/}	$(file "$device/vendor"):$(file "$device/device")	${driver##*/}	$interface	$firmware	$(
        file "$device/current_link_speed"
    )	$(file "$device/current_link_width")	$(file "$device/numa_node")	$(
        file "$device/max_link_speed"
    )	$(file "$device/max_link_width")	$model	$mac	$mtu	$speed"
done
exit 0
