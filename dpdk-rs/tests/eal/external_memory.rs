// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory of the program that is registered for devices; what NICs do there, `testbed/tests/test_diagnosis_vm.py` shows.

use crate::{
    frames::{bytes, frame, only_port, packet, pool as ordinary, receive, send, start},
    process::{attach, eal_args, folder, init, isolated_bare},
};
use dpdk_rs::{
    Eal, Mempool, Packet,
    memory::{ExternalMemory, Memzone, RegisterError},
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

const PAGE: usize = 4096;

/// Some bytes of a vector, which begin at a multiple of 64 pages and so many bytes more; it counts its drops.
struct Memory {
    all: Vec<u8>,
    start: usize,
    len: usize,
    drops: Arc<AtomicU32>,
}

impl Memory {
    fn new(more: usize, len: usize) -> Self {
        let all = vec![0xa5; 64 * PAGE + more + len];
        let start = all.as_ptr().align_offset(64 * PAGE) + more;
        Self { all, start, len, drops: Arc::default() }
    }

    fn addr(&self) -> usize {
        self.all.as_ptr().addr() + self.start
    }
}

impl AsMut<[u8]> for Memory {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.all[self.start..][..self.len]
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.drops.fetch_add(1, SeqCst);
    }
}

/// An EAL where devices see memory as the processor does, with these devices and options.
fn with_eal(devices: &[&str], more: &[&str], body: impl FnOnce(Eal)) {
    let mut args = eal_args(devices);
    args.extend(more.iter().map(|&option| option.to_owned()));
    body(init(args).unwrap().0);
}

fn register(eal: &Eal, pages: usize) -> (ExternalMemory<Memory>, Arc<AtomicU32>) {
    let memory = Memory::new(0, pages * PAGE);
    let drops = Arc::clone(&memory.drops);
    (ExternalMemory::register(eal, memory, PAGE).map_err(|(error, _)| error).unwrap(), drops)
}

#[test]
fn a_pool_in_registered_memory_owns_it() {
    isolated_bare(|| {
        with_eal(&["net_ring0"], &["--iova-mode=va"], |eal| {
            let (mut memory, drops) = register(&eal, 40);
            assert!(!memory.is_mapped(), "no NIC is there");
            let place = memory.as_mut().as_ptr_range();
            assert_eq!((memory.as_mut().len(), place.start.addr() % PAGE), (40 * PAGE, 0));
            let pool = Mempool::<()>::builder("pool").size(63).cache(0).build_in(&eal, memory);
            let pool = pool.map_err(|(error, _)| error).unwrap();
            let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
            send(&mut tx, packet(&pool, &frame(1, 100)));
            let held = receive(&mut rx);
            assert!(place.contains(&held.data().as_ptr()));
            drop((port, rx, tx, pool));
            assert_eq!((drops.load(SeqCst), bytes(&held)), (0, frame(1, 100)));
            drop(held);
            drop(Mempool::<()>::builder("another").size(1).cache(0).build(&eal).unwrap());
            assert_eq!(drops.load(SeqCst), 1);
        });
    });
}

#[test]
fn a_packet_of_registered_memory_owns_it() {
    isolated_bare(|| {
        with_eal(&[], &["--iova-mode=va"], |eal| {
            let pool: Mempool = ordinary(&eal, "pool");
            let (mut memory, drops) = register(&eal, 2);
            memory.as_mut().copy_from_slice(&frame(1, 2 * PAGE));
            let first = Packet::attach(&pool, memory).map_err(|(error, _)| error).unwrap();
            let mut rest = first;
            let second = rest.split_off(5000, &pool).unwrap();
            drop(rest);
            assert_eq!((drops.load(SeqCst), bytes(&second)), (0, frame(1, 2 * PAGE)[5000..].to_vec()));
            std::thread::spawn(move || drop(second)).join().unwrap();
            assert_eq!(drops.load(SeqCst), 1);
            // DPDK's list has about 100 places: each was given back.
            for _ in 0..300 {
                drop(Packet::attach(&pool, register(&eal, 1).0).map_err(|(error, _)| error).unwrap());
            }
        });
    });
}

#[test]
fn what_cannot_be_registered_comes_back() {
    isolated_bare(|| {
        with_eal(&[], &["--iova-mode=va"], |eal| {
            let refused = |memory: Memory, page_len: usize| {
                let expected = (memory.addr(), memory.len);
                let (error, mut memory) = ExternalMemory::register(&eal, memory, page_len).unwrap_err();
                assert_eq!((memory.addr(), memory.as_mut().len()), expected);
                assert!(memory.as_mut().iter().all(|byte| *byte == 0xa5));
                assert_eq!((memory.drops.load(SeqCst), error.errno(), error.call()), (0, None, None));
                error
            };
            for page_len in [0, 1, 3, 2048, 6000, PAGE + 1] {
                let error = refused(Memory::new(0, 2 * PAGE), page_len);
                assert_eq!(error, RegisterError::PageLength { page_len, least: PAGE });
            }
            for (len, page_len) in [(0, PAGE), (1, PAGE), (PAGE + 64, PAGE), (3 * PAGE, 2 * PAGE)] {
                assert_eq!(refused(Memory::new(0, len), page_len), RegisterError::Length { len, page_len });
            }
            for (more, page_len) in [(64, PAGE), (PAGE - 1, PAGE), (PAGE, 2 * PAGE), (8 * PAGE, 16 * PAGE)] {
                let memory = Memory::new(more, 16 * PAGE);
                let addr = memory.addr();
                assert_eq!(refused(memory, page_len), RegisterError::Address { addr, page_len });
            }
            // As large as the kernel's largest pages may be.
            let (large, _) = register(&eal, 16);
            drop(
                ExternalMemory::register(&eal, Memory::new(0, 64 * PAGE), 64 * PAGE)
                    .map_err(|(error, _)| error)
                    .unwrap(),
            );
            // What DPDK knows, from its own side and from ours.
            let zone = Memzone::builder("zone", 8 * PAGE).align(PAGE as u32).build(&eal).unwrap();
            let (addr, len) = (zone.info().addr.addr(), 8 * PAGE);
            let (error, zone) = ExternalMemory::register(&eal, zone, PAGE).unwrap_err();
            assert_eq!((error, zone.bytes().len()), (RegisterError::Known { addr, len }, len));
            let (error, large) = ExternalMemory::register(&eal, large, PAGE).unwrap_err();
            assert!(matches!(error, RegisterError::Known { len: 0x10000, .. }), "{error}");
            drop(large);
        });
    });
}

#[test]
fn the_list_of_registered_memory_ends() {
    isolated_bare(|| {
        with_eal(&[], &["--iova-mode=va"], |eal| {
            let mut all = Vec::new();
            let error = loop {
                match ExternalMemory::register(&eal, Memory::new(0, PAGE), PAGE) {
                    Ok(memory) => all.push(memory),
                    Err((error, memory)) => break (error, memory.drops.load(SeqCst)),
                }
                assert!(all.len() < 1000);
            };
            let (error, drops) = error;
            assert_eq!((error.errno().unwrap().get(), error.call(), drops), (28, Some("rte_extmem_register"), 0));
            assert!(error.to_string().ends_with("is full: register fewer, larger areas"), "{error}");
            assert!(all.len() > 50, "{}", all.len());
            all.pop();
            drop(register(&eal, 1));
        });
    });
}

#[test]
fn a_port_that_would_not_reach_it() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let vhost = format!("net_vhost0,iface={}", socket.display());
        with_eal(&[&vhost], &["--iova-mode=va"], |eal| {
            drop(register(&eal, 1));
            let pool: Mempool = Mempool::builder("pool").size(2047).build(&eal).unwrap();
            let port = start(only_port(&eal), &pool);
            let peer = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap();
            let (error, memory) = ExternalMemory::register(&eal, Memory::new(0, PAGE), PAGE).unwrap_err();
            assert_eq!(error, RegisterError::Unreachable { port: "net_virtio_user0 (net_virtio_user)".to_owned() });
            drop((port, peer, memory));
        });
    });
}
