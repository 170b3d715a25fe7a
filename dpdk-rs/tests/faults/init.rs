// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! `Eal::init` without memory, files or threads.

use crate::{
    frames::{bytes, frame, packet, pool, receive, send, start},
    interposer::{Kind, Which, with_interposer},
    process::{eal_args, init},
    sweep::{Exception, Outcome, sweep},
};
use dpdk_rs::{Eal, EalError, EalOptions, Mempool, lcore};

const DEVICES: [&str; 2] = ["net_ring0", "net_null0"];

const PARSER: &str = "from 25.11 on, the EAL's parser of arguments ends the process on an error";

/// Where the EAL ends the process rather than return an error.
const EXCEPTIONS: [Exception; 7] = [
    Exception {
        call: "pthread_create from librte_eal",
        end: "PANIC in rte_eal_init():\nCannot create thread",
        reason: "rte_eal_init() panics if an lcore's thread cannot be created",
    },
    Exception {
        call: "rte_memzone_reserve from librte_ethdev",
        end: "PANIC in eth_dev_shared_data_prepare():",
        reason: "eth_dev_shared_data_prepare() panics if the data of all ports cannot be allocated",
    },
    Exception {
        call: "calloc from librte_common_mlx5",
        end: "(rte_pci_unregister+",
        reason: "at exit, librte_common_mlx5 takes a driver from the PCI bus's list that it could not put there",
    },
    Exception { call: "calloc from librte_argparse", end: "ARGPARSE: ", reason: PARSER },
    Exception { call: "malloc from librte_eal", end: "ARGPARSE: ", reason: PARSER },
    Exception { call: "strdup from librte_eal", end: "ARGPARSE: ", reason: PARSER },
    Exception {
        call: "aligned_alloc from librte_eal",
        end: "PANIC in lcore_var_alloc():",
        reason: "from 24.11 on, lcore_var_alloc() panics if the variables of the lcores cannot be allocated",
    },
];

/// Starts the EAL: an error, after which the rest of the program goes on, or an EAL that works.
fn initialise() -> Outcome {
    let args = eal_args(&DEVICES);
    match init(args) {
        Err(error) => {
            match &error {
                EalError::Init(errno) => assert!(errno.get() > 0, "{error}"),
                EalError::Device(device) => assert!(DEVICES.contains(&device.as_str()), "{error}"),
                _ => panic!("{error:?}"),
            }
            assert_eq!(Eal::init(EalOptions::new()).unwrap_err(), EalError::AlreadyInitialized);
            let numbers = std::thread::spawn(|| (0..1000).collect::<Vec<u32>>()).join().unwrap();
            assert_eq!(numbers.iter().sum::<u32>(), 499_500);
            Outcome::Error
        }
        Ok((eal, _)) => {
            use_eal(&eal);
            drop(eal);
            Outcome::Tolerated
        }
    }
}

/// Lcores run, a pool can be made, and whatever ports there are work.
fn use_eal(eal: &Eal) {
    let sum = lcore::scope(eal, |scope| {
        let launch = |lcore: lcore::Lcore| scope.launch(lcore.id(), move || lcore.id().get()).unwrap();
        let handles: Vec<_> = eal.worker_lcores().into_iter().map(launch).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).sum::<u32>()
    });
    assert_eq!(sum.unwrap(), 3);
    let pool: Mempool = pool(eal, "pool");
    for port in eal.ports() {
        let ring = port.name() == "net_ring0";
        let (_port, mut rx, mut tx) = start(port, &pool);
        send(&mut tx, packet(&pool, &frame(1, 64)));
        if ring {
            assert_eq!(bytes(&receive(&mut rx)), frame(1, 64));
        }
    }
    assert_eq!(pool.available(), pool.size());
}

fn init_without(kind: Kind, part: (usize, usize)) {
    sweep(kind, c"rte_eal_init", Which::Only, part, &EXCEPTIONS, initialise);
}

/// As many processes, since each of them has to end before its deadline.
const PARTS: usize = 6;

#[test]
fn init_without_memory() {
    with_interposer(&[], PARTS, |part| init_without(Kind::Memory, (part, PARTS)));
}

#[test]
fn init_without_heap() {
    with_interposer(&[], 2, |part| init_without(Kind::Heap, (part, 2)));
}

#[test]
fn init_without_mappings() {
    with_interposer(&[], 1, |_| init_without(Kind::Mapping, (0, 1)));
}

#[test]
fn init_without_files() {
    with_interposer(&[], 1, |_| init_without(Kind::File, (0, 1)));
}

#[test]
fn init_without_threads() {
    with_interposer(&[], 1, |_| init_without(Kind::Thread, (0, 1)));
}
