// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Starting and ending the EAL.

use crate::{
    frames::{bytes, frame, packet, pool, receive, send, start},
    others::{lacks_hugepages, shared_args},
    process::{eal_args, example_program, finish, init, isolated, isolated_bare},
};
use dpdk_rs::{
    Eal, EalError, EalOptions, Mempool,
    diagnosis::{self, Finding},
};
use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, process::CommandExt},
    process::Command,
};

const NOT_CLEANED_UP: &str = "the EAL is not cleaned up";

#[test]
fn own_arguments_follow_the_first_double_dash() {
    isolated_bare(|| {
        let mut args = eal_args(&["net_null0"]);
        args.extend(["--", "-p", "3", "--", "file"].map(str::to_owned));
        let (eal, own) = init(args).unwrap();
        assert_eq!(own, ["-p", "3", "--", "file"]);
        assert_eq!(eal.ports().len(), 1, "the EAL has seen what stands before the dashes");
    });
}

#[test]
fn without_double_dash_all_arguments_are_the_eals() {
    isolated_bare(|| {
        let (_eal, own) = init(eal_args(&[])).unwrap();
        assert!(own.is_empty());
    });
}

#[test]
fn second_start_is_an_error() {
    isolated(&[], |eal| {
        assert_eq!(Eal::init(EalOptions::new()).unwrap_err(), EalError::AlreadyInitialized);
        drop(eal);
        assert_eq!(Eal::init(EalOptions::new()).unwrap_err(), EalError::AlreadyInitialized);
    });
}

#[test]
fn failed_start_cannot_be_tried_again() {
    let output = isolated_bare(|| {
        // Not an option that is wrong: from 25.11 on DPDK ends the process itself then.
        let error = init(["test", "--no-huge", "--vdev=net_missing0"]).unwrap_err();
        assert!(matches!(error, EalError::Init(_)), "{error}");
        assert_eq!(init(eal_args(&[])).unwrap_err(), EalError::AlreadyInitialized);
    });
    assert!(output.contains("net_missing0"), "DPDK says on stderr what was wrong:\n{output}");
}

/// DPDK logs this, and continues without the device.
#[test]
fn device_that_its_driver_refuses_is_an_error() {
    let output = isolated_bare(|| {
        let args = eal_args(&["net_null0", "net_pcap0,rx_pcap=/nothing.pcap"]);
        let error = init(args.clone()).unwrap_err();
        assert_eq!(error, EalError::Device("net_pcap0".to_owned()));
        assert_eq!(
            error.to_string(),
            "cannot initialize the EAL: the driver of device 'net_pcap0' refused it: correct the device's arguments, or leave \
             it out; DPDK's log says more"
        );
        let found = diagnosis::of_start(&args, &error);
        assert!(matches!(found[..], [Finding::DeviceFileMissing { .. }]), "{found:?}");
        assert_eq!(init(eal_args(&[])).unwrap_err(), EalError::AlreadyInitialized);
    });
    assert!(output.contains("/nothing.pcap: No such file or directory"), "DPDK's log says more:\n{output}");
    assert!(!output.contains(NOT_CLEANED_UP), "{output}");
}

/// The EAL continues with the devices that it has, and accepts others later.
#[test]
fn device_that_a_driver_makes_may_be_refused() {
    isolated(&["net_failsafe0,dev(net_pcap7,rx_pcap=/nothing.pcap),dev(net_ring7)"], |eal| {
        assert!(eal.ports().iter().any(|port| port.name() == "net_failsafe0"));
    });
}

#[test]
fn bad_arguments_do_not_use_up_the_start() {
    isolated_bare(|| {
        let error = Eal::init(EalOptions::new().file_prefix("a/..")).unwrap_err();
        assert!(matches!(&error, EalError::Value(invalid) if invalid.value == "a/.."), "{error}");
        let error = init(["test", "-l\0"]).unwrap_err();
        assert_eq!(error, EalError::Argument("-l\0".to_owned()));
        assert_eq!(error.to_string(), r#"argument "-l\0" contains a NUL byte"#);
        init(eal_args(&[])).unwrap();
    });
}

/// The words that a process was started with.
#[test]
fn bad_command_lines_are_errors() {
    let run = |name: &str, args: &[&[u8]]| {
        let args = args.iter().map(|arg| OsStr::from_bytes(arg));
        let ended = finish(Command::new(example_program("eal_init")).arg0(name).args(args));
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        ended.stderr
    };
    assert!(run("--", &[b"-p"]).starts_with("Error: NoArguments"));
    assert!(run("eal_init", &[b"--no-huge", b"--", b"a\xff"]).starts_with("Error: NotUtf8(\"a\u{fffd}\")"));
}

#[test]
fn lcores_are_those_of_the_command_line() {
    isolated(&[], |eal| {
        let all: Vec<u32> = eal.lcores().iter().map(|lcore| lcore.id().get()).collect();
        let workers: Vec<u32> = eal.worker_lcores().iter().map(|lcore| lcore.id().get()).collect();
        assert_eq!((all, workers), (vec![0, 1, 2], vec![1, 2]));
        assert_eq!(eal.main_lcore().get(), 0);
        assert_eq!(eal.lcores().iter().filter(|lcore| lcore.is_main()).count(), 1);
    });
}

#[test]
fn says_that_there_are_no_hugepages() {
    isolated(&[], |eal| assert!(!eal.has_hugepages()));
}

#[test]
fn version_is_not_below_the_floor() {
    let version = dpdk_rs::dpdk_version();
    let release: Vec<u32> = version.split('.').take(2).map(|part| part.parse().unwrap()).collect();
    assert!(release >= vec![22, 11], "{version}");
}

/// The memory of this process in KiB, as far as it is mapped.
fn mapped() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
fn dropping_the_eal_gives_its_memory_back() {
    let output = isolated(&[], |eal| {
        let before = mapped();
        drop(eal);
        let after = mapped();
        // -m 128
        assert!(before - after >= 128 * 1024, "{before} KiB before, {after} KiB after");
    });
    assert!(!output.contains(NOT_CLEANED_UP), "{output}");
}

#[test]
fn eal_lives_as_long_as_what_was_made_from_it() {
    let output = isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let before = mapped();
        drop(eal);
        assert!(pool.alloc().is_some());
        let clone = pool.clone();
        drop(pool);
        assert!(clone.alloc().is_some());
        assert_eq!(mapped(), before);
        drop(clone);
        assert!(before - mapped() >= 128 * 1024);
    });
    assert!(!output.contains(NOT_CLEANED_UP), "{output}");
}

#[test]
fn clean_up_is_skipped_and_logged_when_a_packet_was_leaked() {
    let output = isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        std::mem::forget(pool.alloc().unwrap());
        let before = mapped();
        drop(pool);
        drop(eal);
        assert_eq!(mapped(), before);
    });
    assert!(output.contains("the EAL is not cleaned up: 1 pools have mbufs that were never returned"), "{output}");
}

#[test]
fn clean_up_is_skipped_and_logged_on_another_thread() {
    let output = isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        drop(eal);
        std::thread::spawn(move || drop(pool)).join().unwrap();
    });
    let expected = "the EAL is not cleaned up: the last object made from it was dropped on another thread";
    assert!(output.contains(expected), "{output}");
}

/// Only processes that share hugepages can be primary and secondary.
#[test]
fn secondary_process_is_an_error_and_leaves_the_primary_alone() {
    if lacks_hugepages() {
        return;
    }
    isolated_bare(|| {
        let mut args = shared_args(&["net_ring0"]);
        let (eal, _) = init([&args[..], &["-m", "32"].map(str::to_owned)].concat()).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(eal.ports().remove(0), &pool);
        args.retain(|arg| !arg.starts_with("--vdev"));
        for kind in ["secondary", "auto"] {
            let mut secondary = Command::new(example_program("eal_init"));
            let ended = finish(secondary.args(&args[1..]).arg(format!("--proc-type={kind}")));
            assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
            assert!(ended.stderr.contains(&format!("Error: {:?}", EalError::Secondary)), "{}", ended.stderr);
            send(&mut tx, packet(&pool, &frame(1, 64)));
            assert_eq!(bytes(&receive(&mut rx)), frame(1, 64));
        }
    });
}
