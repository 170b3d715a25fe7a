#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Tells what a host is, in lines of a name, a tab and a value; what cannot be found out is left out.

set -u
cpus=/sys/devices/system/cpu

say() { # NAME VALUE
    [ -z "$2" ] || printf '%s\t%s\n' "$1" "$2"
}

file() { # PATH: its first line
    if [ -r "$1" ]; then head -n 1 "$1" 2>/dev/null; fi
}

cpuinfo() { # KEY: of the first CPU
    sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1
}

say kernel "$(uname -r)"
say system "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null | tr -d '"')"
say command_line "$(cat /proc/cmdline)"
say cpu "$(cpuinfo 'model name')"
say microcode "$(cpuinfo microcode)"
# Not every small system has getconf, nor every old one nproc, which tells only what this process may use.
say logical "$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null)"
say governor "$(file $cpus/cpu0/cpufreq/scaling_governor)"
say smt "$(file $cpus/smt/active)"
say isolated "$(file $cpus/isolated)"
say memory_kb "$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)"
say iommu_groups "$(find /sys/kernel/iommu_groups -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)"
say dpdk "$(pkg-config --modversion libdpdk 2>/dev/null)"

for pool in /sys/kernel/mm/hugepages/hugepages-*; do
    if [ -d "$pool" ]; then
        say hugepages "${pool##*-}	$(file "$pool/nr_hugepages")	$(file "$pool/free_hugepages")"
    fi
done

# Network controllers, whichever driver has them.
for device in /sys/bus/pci/devices/*; do
    case $(file "$device/class") in 0x02*) ;; *) continue ;; esac
    interface=
    for net in "$device"/net/* "$device"/virtio*/net/*; do
        if [ -e "$net" ]; then interface=${net##*/}; fi
    done
    firmware=
    if [ -n "$interface" ]; then
        firmware=$(ethtool -i "$interface" 2>/dev/null | sed -n 's/^firmware-version: //p')
    fi
    driver=$(readlink "$device/driver")
    say nic "${device##*/}	$(file "$device/vendor"):$(file "$device/device")	${driver##*/}	$interface	$firmware	$(
        file "$device/current_link_speed"
    )	$(file "$device/current_link_width")	$(file "$device/numa_node")"
done
exit 0
