// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Secondary processes: what they find, what they do not touch, and what remains when a process ends.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start, until},
    others::{announce, ends_well, lacks_hugepages, primary, secondary, shared_args, wait_for},
    process::{another, eal_args, folder, init, isolated_bare, isolated_first, options},
};
use dpdk_rs::{
    Burst, Eal, EalError, EalOptions, Errno, Mempool, Packet, PacketError, PortError, Ring,
    device::Null,
    lcore,
    memory::{Memzone, ObjectPool},
    ring::{Consumer, Producer},
    secondary::{AttachError, LookupError, Secondary},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{collections::BTreeSet, env, fs, thread};

/// A ring that another process of the test has made.
fn found<T: dpdk_rs::secondary::ProcessShared>(primary: &Secondary, name: &str) -> Ring<T> {
    // SAFETY: each test makes and finds a name with one type, and with `shared`.
    unsafe { primary.ring(name) }.unwrap()
}

fn shared<T: dpdk_rs::secondary::ProcessShared>(eal: &Eal, name: &str) -> Ring<T> {
    Ring::builder(name).capacity(255).shared().build(eal).unwrap()
}

/// Takes one element out, waiting for it.
fn next<T: Send>(ring: &Ring<T>) -> T {
    let mut taken = None;
    until("the ring has something", || {
        taken = ring.dequeue();
        taken.is_some()
    });
    taken.unwrap()
}

#[test]
fn packets_cross_processes_and_come_back() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case == 1 {
            let primary = secondary();
            let pool: Mempool<u64> = primary.pool("pool").unwrap();
            let (there, back) = (found::<Packet<u64>>(&primary, "there"), found::<Packet<u64>>(&primary, "back"));
            for number in 0..100 {
                let mut packet = next(&there);
                assert_eq!((bytes(&packet), *packet.private()), (frame(number, 60 + number), number as u64));
                packet.data_mut().unwrap()[0] ^= 0xff;
                *packet.private_mut() += 1000;
                back.enqueue(packet).unwrap();
                // One of its own, of the same pool.
                back.enqueue(self::packet(&pool, &frame(number, 64))).unwrap();
            }
            return;
        }
        let eal = primary(&[]);
        let pool: Mempool<u64> = pool(&eal, "pool");
        let (there, back) = (shared::<Packet<u64>>(&eal, "there"), shared::<Packet<u64>>(&eal, "back"));
        let other = another(1);
        for number in 0..100 {
            let mut packet = packet(&pool, &frame(number, 60 + number));
            *packet.private_mut() = number as u64;
            there.enqueue(packet).unwrap();
        }
        for number in 0..100 {
            let (changed, own) = (next(&back), next(&back));
            let mut expected = frame(number, 60 + number);
            expected[0] ^= 0xff;
            assert_eq!((bytes(&changed), *changed.private()), (expected, 1000 + number as u64));
            assert_eq!(bytes(&own), frame(number, 64));
        }
        ends_well(other);
        assert_eq!(pool.available(), 511, "also what the other process has kept of the pool");
    });
}

#[test]
fn what_is_found_is_compared_with_what_is_asked_for() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case == 1 {
            let primary = secondary();
            assert!(primary.is_primary_alive());
            assert_eq!(lcore::current(), None, "a number would be another process's too");
            assert_eq!(Eal::init(EalOptions::new()).unwrap_err(), EalError::AlreadyInitialized);
            let missing = |kind| LookupError::Missing { kind, name: "missing".to_owned() };
            assert_eq!(primary.pool::<()>("missing").unwrap_err(), missing("pool"));
            assert_eq!(primary.pool::<()>("objects").unwrap_err(), LookupError::NotPackets("objects".to_owned()));
            let error = LookupError::PrivateLen { name: "pool".to_owned(), asked: 16, has: 8 };
            assert_eq!(primary.pool::<[u8; 16]>("pool").unwrap_err(), error);
            assert_eq!(primary.pool::<()>("exhausted").unwrap_err(), LookupError::Exhausted("exhausted".to_owned()));
            let error = LookupError::Name { kind: "pool", name: "a\0b".to_owned() };
            assert_eq!(primary.pool::<()>("a\0b").unwrap_err(), error);
            let pool = primary.pool::<u64>("pool").unwrap();
            assert_eq!((pool.size(), pool.data_room(), pool.available()), (511, 2176, 510));
            drop(pool.clone());
            assert_eq!(pool.available(), 510, "a clone is the same handle");
            // SAFETY: rings that are not found are not used.
            let refused = |name| unsafe { primary.ring::<u64>(name) }.unwrap_err();
            assert_eq!(refused("missing"), missing("ring"));
            assert_eq!(refused("ends"), LookupError::OneEnd { name: "ends".to_owned(), end: "producer" });
            assert_eq!(refused("long"), LookupError::ElementLength { name: "long".to_owned(), len: 8 });
            // SAFETY: the other process has made the ring for such elements, shares it, and only puts in.
            let mut end: Consumer<u64> = unsafe { primary.consumer("ends") }.unwrap();
            assert_eq!((end.capacity(), end.dequeue(), end.dequeue()), (255, Some(7), None));
            // SAFETY: the other process has made the ring for such elements, shares it, and has it do with one element.
            let mut end: Producer<[u32; 4]> = unsafe { primary.producer("long") }.unwrap();
            end.enqueue([1, 2, 3, 4]).unwrap();
            // SAFETY: as above; nothing is put in.
            assert!(unsafe { primary.producer::<[u32; 4]>("rs.long") }.is_ok(), "its name in DPDK");
            assert_eq!(primary.memzone("missing"), None);
            let zone = primary.memzone("zone").unwrap();
            assert_eq!(zone.len, 128);
            // SAFETY: the other process has written to the zone before, and frees it after the end of this one.
            assert_eq!(unsafe { zone.addr.wrapping_add(100).read() }, 42);
            return;
        }
        let eal = primary(&[]);
        let pool: Mempool<u64> = pool(&eal, "pool");
        let _objects = ObjectPool::builder("objects").build(&eal, |_| 0_u64).unwrap();
        let exhausted: Mempool = Mempool::builder("exhausted").size(31).cache(0).build(&eal).unwrap();
        let _all: Vec<Packet> = (0..31).map(|_| exhausted.alloc().unwrap()).collect();
        let (mut producer, _kept) = Ring::<u64>::builder("ends").capacity(255).shared().build_spsc(&eal).unwrap();
        producer.enqueue(7).unwrap();
        let long = shared::<[u32; 4]>(&eal, "long");
        let mut zone = Memzone::builder("zone", 128).build(&eal).unwrap();
        zone.bytes_mut()[100] = 42;
        ends_well(another(1));
        assert_eq!((producer.len(), long.dequeue(), pool.available()), (0, Some([1, 2, 3, 4]), 511));
        // DPDK has either secondary processes or threads of the program as lcores.
        let registrar = eal.registrar();
        let error = thread::spawn(move || registrar.register().map(drop).unwrap_err()).join().unwrap();
        assert!(matches!(error, lcore::RegisterError::Register(errno) if errno.get() == nix::libc::EINVAL), "{error}");
    });
}

/// The number of a pool's driver leads into a table of each process's own, and not every driver can be shared.
#[test]
fn pools_of_other_drivers_are_refused() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case == 1 {
            let error = secondary().pool::<()>("pool").unwrap_err();
            assert_eq!(error, LookupError::Driver("pool".to_owned()));
            return;
        }
        let (eal, _) = init([shared_args(&[]), vec!["--mbuf-pool-ops-name=stack".to_owned()]].concat()).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        ends_well(another(1));
        assert_eq!(pool.available(), 511);
    });
}

/// The file that this process has loaded a driver from; none where drivers are linked in.
fn driver_file(name: &str) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains(name)).map(str::to_owned)
}

/// Drivers have numbers in the order in which they were loaded, and two processes have loaded another one first. Which one the
/// primary process has loaded first is the file system's matter, so for one of them nothing may be different.
#[test]
fn a_process_with_other_drivers_is_not_attached() {
    const FIRST: [&str; 2] = ["librte_mempool_ring", "librte_mempool_stack"];
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case > 0 {
            let driver = fs::read_to_string(folder().join(format!("driver {case}"))).unwrap();
            let args = [shared_args(&[]), vec![format!("-d{driver}")]].concat();
            // SAFETY: both processes are the same program with the same drivers, in another order, and nothing is used.
            if let Err(error) = unsafe { Secondary::attach(options(args)) } {
                assert_eq!(error, AttachError::Drivers("pool".to_owned()));
                assert!(error.to_string().contains("link both in the same way"), "{error}");
                announce("it was refused");
            }
            return;
        }
        let eal = primary(&[]);
        let drivers: Vec<String> = FIRST.into_iter().filter_map(driver_file).collect();
        if drivers.len() < FIRST.len() {
            println!("skipped: the drivers are linked in, and all processes have the same");
            return;
        }
        let pool: Mempool = pool(&eal, "pool");
        for (case, driver) in (1..).zip(drivers) {
            fs::write(folder().join(format!("driver {case}")), driver).unwrap();
            ends_well(another(case));
        }
        assert!(folder().join("it was refused").exists());
        assert_eq!(pool.available(), 511);
    });
}

/// Takes 1 to 32 packets out of a pool, writes to them, and gives them back, again and again.
fn allocate_and_free(pool: &Mempool, process: usize) {
    let mut burst = Burst::<(), 32>::new();
    for round in 0..3000 {
        pool.alloc_bulk_up_to(&mut burst, 1 + round % 32);
        // Whoever had the same mbuf would see it.
        let bytes = |number: usize| [process, round, number].map(usize::to_ne_bytes).concat();
        for (number, packet) in (0..).zip(&mut burst) {
            packet.append(24).unwrap().copy_from_slice(&bytes(number));
        }
        for (number, packet) in (0..).zip(&burst) {
            assert_eq!(packet.data(), bytes(number), "somebody else has written to it");
        }
        burst.clear();
    }
}

/// Caches of pools are by number of lcore, and lie in shared memory: a secondary process uses none.
#[test]
fn processes_with_the_same_lcores_share_a_pool() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case > 0 {
            let pool = secondary().pool("pool").unwrap();
            announce(&format!("{case} has attached"));
            wait_for("both have attached");
            allocate_and_free(&pool, case);
            return;
        }
        let eal = primary(&[]);
        let pool: Mempool = pool(&eal, "pool");
        let others = [another(1), another(2)];
        wait_for("1 has attached");
        wait_for("2 has attached");
        assert_eq!(pool.available(), 509, "each handle in another process keeps one");
        announce("both have attached");
        allocate_and_free(&pool, case);
        for other in others {
            ends_well(other);
        }
        assert_eq!(pool.available(), 511);
        let all: Vec<Packet> = (0..511).map(|_| pool.alloc().unwrap()).collect();
        let places: BTreeSet<usize> = all.iter().map(|packet| packet.data().as_ptr().addr()).collect();
        assert_eq!((places.len(), pool.available()), (511, 0), "each of them once");
    });
}

#[test]
fn a_killed_secondary_loses_what_it_held_and_nothing_else() {
    if lacks_hugepages() {
        return;
    }
    let output = isolated_first(|case| {
        if case > 0 {
            let primary = secondary();
            let pool: Mempool = primary.pool("pool").unwrap();
            let ring = found::<Packet>(&primary, "ring");
            if case == 2 {
                ring.enqueue(packet(&pool, &frame(2, 64))).unwrap();
                return;
            }
            let _held: Vec<Packet> = (0..10).map(|_| next(&ring)).collect();
            announce("it holds them");
            loop {
                thread::park();
            }
        }
        let eal = primary(&[]);
        let pool: Mempool = pool(&eal, "pool");
        let ring = shared::<Packet>(&eal, "ring");
        let killed = another(1);
        for number in 0..10 {
            ring.enqueue(packet(&pool, &frame(number, 64))).unwrap();
        }
        wait_for("it holds them");
        kill(Pid::from_raw(killed.child.id().cast_signed()), Signal::SIGKILL).unwrap();
        assert_eq!(killed.finish(|_| {}).status.code(), None);
        assert_eq!(pool.available(), 511 - 10 - 1, "what it held, and what its handle kept");
        let next_one = another(2);
        assert_eq!(bytes(&next(&ring)), frame(2, 64));
        ends_well(next_one);
        assert_eq!(pool.available(), 511 - 10 - 1);
    });
    assert!(output.contains("the EAL is not cleaned up: 1 pools have mbufs that were never returned"), "{output}");
}

#[test]
fn what_another_process_has_found_is_not_freed() {
    if lacks_hugepages() {
        return;
    }
    let output = isolated_first(|case| {
        if case == 1 {
            let primary = secondary();
            let pool: Mempool = primary.pool("pool").unwrap();
            announce("it has the pool");
            wait_for("the other has dropped it");
            let ring = found::<Packet>(&primary, "ring");
            assert_eq!(bytes(&next(&ring)), frame(1, 64), "what was in it is still there");
            assert!(pool.alloc().is_some());
            drop(pool);
            return;
        }
        let eal = primary(&[]);
        let first: Mempool = pool(&eal, "pool");
        let ring = shared::<Packet>(&eal, "ring");
        let again = || Mempool::<()>::builder("pool").size(511).build(&eal);
        let other = another(1);
        wait_for("it has the pool");
        ring.enqueue(packet(&first, &frame(1, 64))).unwrap();
        drop((first, ring));
        assert_eq!(again().unwrap_err().errno().unwrap().get(), nix::libc::EEXIST, "it is not freed");
        announce("the other has dropped it");
        ends_well(other);
        let again = again().expect("what the other process has kept is back, and the pool freed");
        assert_eq!(again.available(), 511);
        let error = Ring::<u64>::builder("ring").build(&eal).unwrap_err();
        assert_eq!(error.errno().unwrap().get(), nix::libc::EEXIST, "a shared ring stays");
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}

#[test]
fn a_primary_that_ends_leaves_the_memory_to_its_secondaries() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| match case {
        1 => {
            let eal = primary(&[]);
            let pool: Mempool = pool(&eal, "pool");
            shared::<Packet>(&eal, "ring").enqueue(packet(&pool, &frame(1, 64))).unwrap();
            announce("it is there");
            wait_for("the other has attached");
        }
        2 => {
            let primary = secondary();
            let pool: Mempool = primary.pool("pool").unwrap();
            let ring = found::<Packet>(&primary, "ring");
            announce("the other has attached");
            wait_for("the primary has ended");
            assert!(!primary.is_primary_alive());
            assert_eq!(bytes(&next(&ring)), frame(1, 64));
            assert_eq!(pool.available(), 510);
            let mut burst = Burst::<(), 32>::new();
            assert_eq!(pool.alloc_bulk(&mut burst), 32);
        }
        _ => {
            let first = another(1);
            wait_for("it is there");
            let second = another(2);
            let said = ends_well(first);
            assert!(said.contains("the EAL is not cleaned up"), "its pool is in use: {said}");
            announce("the primary has ended");
            ends_well(second);
            // SAFETY: nothing is attached to, as the error says.
            let error = unsafe { Secondary::attach(options(shared_args(&[]))) }.unwrap_err();
            assert!(matches!(error, AttachError::NoPrimary { .. }), "{error}");
        }
    });
}

#[test]
fn ports_of_the_primary_are_read_and_queues_left_to_another_process() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case == 1 {
            let primary = secondary();
            let results = found::<u64>(&primary, "results");
            // SAFETY: the other process does not close its port before this one has ended.
            let mut ports = unsafe { primary.ports() }.unwrap();
            assert_eq!(ports.len(), 1);
            // SAFETY: no port is left that could be closed.
            assert_eq!(unsafe { primary.ports() }.unwrap().len(), 0, "each is handed out once");
            let port = ports.remove(0);
            assert_eq!((port.name(), port.queue_counts()), ("net_ring0", (1, 1)));
            assert!(port.link().unwrap().up);
            // SAFETY: there is no such queue.
            let error = unsafe { port.rx_queue::<()>(1) }.unwrap_err();
            assert!(matches!(error, PortError::Unsupported { asked: 1, .. }), "{error}");
            // SAFETY: the other process only sends on its port, which it has started before and does not stop; its packets are
            // of a pool that it has made.
            let mut rx = unsafe { port.rx_queue::<()>(0) }.unwrap();
            for number in 0..10 {
                assert_eq!(bytes(&receive(&mut rx)), frame(number, 64 + number));
            }
            let refused = rx.stop().unwrap_err();
            assert!(refused.to_string().contains("for another process than its own"), "{refused}");
            assert!(!port.xstats().unwrap().is_empty());
            results.enqueue(port.stats().unwrap().opackets).unwrap();
            return;
        }
        let eal = primary(&["net_ring0"]);
        let pool: Mempool = pool(&eal, "pool");
        let results = shared::<u64>(&eal, "results");
        let (port, mut rx, mut tx) = start(only_port(&eal), &pool);
        for number in 0..10 {
            send(&mut tx, packet(&pool, &frame(number, 64 + number)));
        }
        let other = another(1);
        assert_eq!(next(&results), 10);
        ends_well(other);
        // The other's end has closed nothing.
        send(&mut tx, packet(&pool, &frame(11, 64)));
        assert_eq!(bytes(&receive(&mut rx)), frame(11, 64));
        assert_eq!((port.stats().unwrap().opackets, pool.available()), (11, 511));
    });
}

/// What one process has shared cannot be changed in another, which does not see it happen.
#[test]
fn data_that_another_process_has_shared_is_not_changed() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        let refused = |packet: &mut Packet| assert_eq!(packet.data_mut().unwrap_err(), PacketError::Shared);
        if case == 1 {
            let primary = secondary();
            let (pool, there) = (primary.pool::<()>("pool").unwrap(), found::<Packet>(&primary, "there"));
            let mut packet = packet(&pool, &frame(1, 64));
            let other = packet.share(&pool).unwrap();
            there.enqueue(packet).unwrap();
            there.enqueue(other).unwrap();
            wait_for("both are gone");
            return;
        }
        if case == 2 {
            refused(&mut next(&found(&secondary(), "there")));
            return;
        }
        let eal = primary(&[]);
        let pool: Mempool = pool(&eal, "pool");
        let there = shared::<Packet>(&eal, "there");
        let other = another(1);
        let (mut first, mut second) = (next(&there), next(&there));
        refused(&mut first);
        refused(&mut second);
        drop((first, second));
        announce("both are gone");
        ends_well(other);
        let mut own = packet(&pool, &frame(2, 64));
        there.enqueue(own.share(&pool).unwrap()).unwrap();
        ends_well(another(2));
        own.data_mut().unwrap()[0] = 7;
        drop(own);
        assert_eq!(pool.available(), 511);
    });
}

/// A port that passes on mbufs as they are does not get those that have data in common.
#[test]
fn data_that_is_shared_is_not_sent_to_a_process_that_does_not_know() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case == 1 {
            let primary = secondary();
            let pool: Mempool = primary.pool("pool").unwrap();
            // SAFETY: the other process does not close its port before this one has ended.
            let port = unsafe { primary.ports() }.unwrap().remove(0);
            // SAFETY: the other process only receives on its port, which it has started before and does not stop.
            let mut tx = unsafe { port.tx_queue(0) }.unwrap();
            let mut packet = packet(&pool, &frame(1, 64));
            let other = packet.share(&pool).unwrap();
            let mut burst = Burst::<(), 8>::new();
            for packet in [packet, crate::frames::packet(&pool, &frame(2, 64)), other] {
                burst.push(packet).unwrap();
            }
            assert_eq!((tx.tx(&mut burst), burst.len(), tx.rejected()), (1, 0, 2));
            let mut packet = crate::frames::packet(&pool, &frame(3, 64));
            drop(packet.share(&pool));
            send(&mut tx, packet);
            return;
        }
        let eal = primary(&["net_ring0"]);
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, _tx) = start(only_port(&eal), &pool);
        ends_well(another(1));
        for number in [2, 3] {
            let mut packet = receive(&mut rx);
            assert!(packet.data() == frame(number, 64), "{packet:?}");
            packet.data_mut().unwrap()[0] = 7;
        }
        assert_eq!(pool.available(), 511);
    });
}

/// DPDK announces it when a device appears or disappears. A process that was killed does not prevent this.
#[test]
fn devices_come_and_go_in_both_processes() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case > 0 {
            let primary = secondary();
            // SAFETY: this process uses no port while the other one removes it: it waits until that has been done.
            let ports = || unsafe { primary.ports() }.unwrap();
            assert_eq!(ports().len(), 0);
            announce(&format!("{case} has attached"));
            wait_for("the device is there");
            let mut found = ports();
            let port = found.pop().unwrap();
            assert_eq!((found.len(), port.name()), (0, "net_null5"));
            assert_eq!(port.stats().unwrap().ipackets, 0);
            // SAFETY: there is no queue: nobody has set one up.
            let error = unsafe { port.rx_queue::<()>(0) }.unwrap_err();
            assert!(matches!(error, PortError::Unsupported { .. } | PortError::Lacks { .. }), "{error}");
            announce("it has the port");
            wait_for("the device is gone");
            let gone = |errno: Option<Errno>| assert_eq!(errno, Some(Errno::new(nix::libc::ENODEV)));
            gone(port.stats().unwrap_err().errno());
            gone(port.xstats().unwrap_err().errno());
            gone(port.link().unwrap_err().errno());
            drop(port);
            assert_eq!(ports().len(), 0);
            return;
        }
        let eal = primary(&[]);
        let (other, killed) = (another(1), another(2));
        wait_for("1 has attached");
        wait_for("2 has attached");
        kill(Pid::from_raw(killed.child.id().cast_signed()), Signal::SIGKILL).unwrap();
        assert_eq!(killed.finish(|_| {}).status.code(), None);
        let ports = eal.attach(Null::new(5)).unwrap();
        assert_eq!(ports.len(), 1);
        announce("the device is there");
        wait_for("it has the port");
        drop(ports);
        eal.detach("net_null5").unwrap();
        announce("the device is gone");
        ends_well(other);
    });
}

/// Needs no hugepages: nothing of this gets as far as DPDK, and the EAL can still be started.
#[test]
fn without_a_primary_the_error_says_what_to_do() {
    isolated_bare(|| {
        // SAFETY: nothing is attached to, as the errors say.
        let attach_with = |options| unsafe { Secondary::attach(options) }.unwrap_err();
        let attach = |args: Vec<String>| attach_with(options(args));
        let with = |option: &str| [shared_args(&[]), vec![option.to_owned()]].concat();
        let error = attach_with(EalOptions::new().file_prefix("/"));
        assert!(matches!(error, AttachError::Start(EalError::Value(_))), "{error}");
        for option in ["no-huge", "no-shconf", "in-memory"] {
            assert_eq!(attach(with(&format!("--{option}"))), AttachError::NotShared(option));
        }
        assert_eq!(attach(with("--proc-type=auto")), AttachError::ProcType("auto".to_owned()));
        let error = attach(with("--proc-type=secondary"));
        let AttachError::NoPrimary { prefix, config } = &error else { panic!("{error}") };
        assert_eq!(*prefix, env::var(crate::process::VARIABLE).unwrap());
        assert!(config.ends_with(format!("dpdk/{prefix}/config")), "{error}");
        let words = ["no primary process has the file prefix", prefix.as_str(), "start it first", "--file-prefix"];
        assert!(words.iter().all(|words| error.to_string().contains(words)), "{error}");
        assert_eq!(error, attach(shared_args(&[])));
        init(eal_args(&[])).unwrap();
    });
}

/// A primary process without hugepages, whose memory is its own: others see it, and cannot map what it has.
#[test]
fn a_primary_without_hugepages_cannot_be_attached_to() {
    let output = isolated_first(|case| {
        if case == 1 {
            // SAFETY: nothing is attached to, as the error says.
            let error = unsafe { Secondary::attach(options(shared_args(&[]))) }.unwrap_err();
            assert_eq!(error.call(), Some("rte_eal_init"), "{error}");
            assert!(error.to_string().contains("it needs hugepages (no --no-huge)"), "{error}");
            return;
        }
        let args = eal_args(&[]).into_iter().filter(|arg| arg != "--no-shconf");
        let (_eal, _) = init(args).unwrap();
        ends_well(another(1));
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
