// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory that is unavailable. DPDK and the diagnosis both read numbers that the test mounts over those of the kernel, in a
//! mount namespace of its own: the machine keeps its hugepages.

use crate::diagnose::{Diagnose, PLAIN, assert_parts};

const OPTIONS: &str = "--no-pci --no-telemetry --vdev=net_null0";

/// A run on a machine with one size of hugepages: so many, of which so many are free, and these mounts.
fn hugepages(total: u32, free: u32, mounts: &str) -> Option<Diagnose> {
    let script = format!(
        "awk '$3 == \"hugetlbfs\" {{ print $2 }}' /proc/mounts | xargs -r umount
         pool() {{
             mkdir -p $1/hugepages-2048kB
             for file in nr_overcommit_hugepages resv_hugepages surplus_hugepages; do
                 echo 0 >$1/hugepages-2048kB/$file
             done
             echo {total} >$1/hugepages-2048kB/nr_hugepages
             echo {free} >$1/hugepages-2048kB/free_hugepages
         }}
         mount -t tmpfs none /sys/kernel/mm/hugepages
         pool /sys/kernel/mm/hugepages
         for node in /sys/devices/system/node/node0/hugepages; do
             [ -d $node ] || continue
             mount -t tmpfs none $node
             pool $node
         done
         {mounts}"
    );
    Diagnose::new().mounted(&script)
}

/// A hugetlbfs at `$RUNTIME_DIRECTORY/pages`.
fn mount(options: &str) -> String {
    format!("mkdir $RUNTIME_DIRECTORY/pages; mount -t hugetlbfs -o pagesize=2M{options} none $RUNTIME_DIRECTORY/pages")
}

#[test]
fn no_hugepages_at_all() {
    let Some(run) = hugepages(0, 0, "") else { return };
    for options in ["", "--in-memory"] {
        let found = run.first(&format!("{OPTIONS} {options}"));
        assert_eq!(
            found,
            "no hugepages are reserved (2048 kB: 0): reserve some, as in sysctl -w vm.nr_hugepages=512, or do without: \
             --no-huge -m 512"
        );
    }
    run.report("--no-huge -m 64 --no-pci --no-telemetry --vdev=net_null0");
}

#[test]
fn no_file_system_for_hugepages() {
    let Some(run) = hugepages(4, 4, "") else { return };
    let found = run.first(OPTIONS);
    assert_parts(
        &found,
        &["4 hugepages of 2048 kB are reserved, but no hugetlbfs for that size is mounted: mkdir -p "],
    );
}

#[test]
fn folder_without_file_system_for_hugepages() {
    let Some(run) = hugepages(4, 4, &mount("")) else { return };
    let found = run.first(&format!("{OPTIONS} --huge-dir=/nothing"));
    assert_parts(&found, &["/nothing is not on a mounted hugetlbfs", "or leave --huge-dir out"]);
}

#[test]
fn read_only_file_system_for_hugepages() {
    let Some(run) = hugepages(4, 4, &mount(",ro")) else { return };
    let found = run.first(OPTIONS);
    assert_parts(&found, &["the hugetlbfs on ", " is mounted read-only: mount -o remount,rw ", "or give --in-memory"]);
}

#[test]
fn file_system_for_hugepages_of_another_user() {
    let mounts = mount(",mode=755") + "; chown 65534 $RUNTIME_DIRECTORY";
    let Some(run) = hugepages(4, 4, &mounts).and_then(Diagnose::by_nobody) else { return };
    let found = run.first(OPTIONS);
    assert_parts(&found, &["user 65534 may not write to ", "where hugepages come from: as root run chown 65534 "]);
}

#[test]
fn hugepages_that_are_all_taken() {
    let Some(run) = hugepages(4, 0, &mount("")) else { return };
    let found = run.first(OPTIONS);
    assert_parts(&found, &["none of the 8 MB of hugepages is free: ", "or reserve more: echo 260 > /sys/kernel/mm/"]);
}

#[test]
fn more_memory_than_hugepages() {
    let Some(run) = hugepages(4, 4, &mount("")) else { return };
    let found = run.first(&format!("{OPTIONS} -m 64"));
    assert_parts(&found, &["64 MB of hugepages are needed, 8 MB are free: request less, or reserve more: echo 32 > "]);
}

#[test]
fn memory_on_a_socket_that_has_too_little() {
    let Some(run) = hugepages(4, 4, &mount("")) else { return };
    let found = run.first(&format!("{OPTIONS} --socket-mem=64"));
    assert_parts(
        &found,
        &["64 MB are needed on socket 0, 8 MB of hugepages are free there", "echo 32 > /sys/devices/"],
    );
}

#[test]
fn memory_on_a_socket_that_is_not_there() {
    let Some(run) = hugepages(4, 4, &mount("")) else { return };
    let found = run.first(&format!("{OPTIONS} --socket-mem=0,0,0,0,0,0,0,64"));
    assert_parts(&found, &["memory is requested on socket 7, this machine has socket 0"]);
}

#[test]
fn less_memory_than_a_pool_needs() {
    let run = Diagnose::new();
    let found = run.first("--no-huge -m 16 --no-pci --no-telemetry --vdev=net_null0");
    assert_parts(&found, &["about 19 MB are needed, and without hugepages there are the 16 MB of -m", "as in -m 64"]);
    run.report(&format!("{PLAIN} --vdev=net_null0"));
}
