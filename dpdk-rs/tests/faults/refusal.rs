// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that refuse, and devices that disappear: the error identifies the device, the device is closed, and the
//! others keep working.

use crate::{
    capture,
    forked::{Forked, forked},
    frames::{bytes, frame, packet, pool, receive, send, start, until},
    kernel::Interface,
    namespace::{namespace, shell},
    process::{attach, eal_args, folder, init, isolated, isolated_bare, isolated_in},
    wire::{Setup, vhost_end, virtio_end},
};
use dpdk_rs::{Burst, EalError, Mempool, Port, PortConfig, PortError, TxQueue, port::Unconfigured};
use nix::net::if_::if_nametoindex;
use std::{
    fs,
    io::{Read, Write},
    os::unix::net::UnixStream,
    process::{Command, Stdio},
};

const ENOENT: i32 = 2;
const EINVAL: i32 = 22;

/// A ring works, whatever the others do.
pub(crate) fn ring_works(port: Port<Unconfigured>, pool: &Mempool) {
    let (_port, mut rx, mut tx) = start(port, pool);
    for number in 0..100 {
        send(&mut tx, packet(pool, &frame(number, 64)));
        assert_eq!(bytes(&receive(&mut rx)), frame(number, 64));
    }
}

/// None of these is a port, nor an obstacle to the port next to it.
#[test]
fn devices_with_arguments_that_fail() {
    isolated_bare(|| {
        let missing = folder().join("missing/file").display().to_string();
        fs::write(folder().join("empty"), "").unwrap();
        for device in [
            "net_null1,no-such-argument=1".to_owned(),
            "net_null1,copy=1,no-rx=1".to_owned(),
            format!("net_pcap1,rx_pcap={missing}"),
            format!("net_pcap1,tx_pcap={missing}"),
            format!("net_pcap1,rx_pcap={}/empty", folder().display()),
            "net_pcap1".to_owned(),
            "net_pcap1,iface=no-such-interface".to_owned(),
            "net_af_packet1".to_owned(),
            "net_af_packet1,iface=no-such-interface".to_owned(),
            "net_af_packet1,iface=lo,framesz=1000000".to_owned(),
            format!("net_tap1,iface={}", "long".repeat(20)),
            "net_vhost1".to_owned(),
            "net_virtio_user1".to_owned(),
            format!("net_virtio_user1,path={missing}"),
            format!("net_virtio_user1,path={missing},server=0,queues=2000"),
            "net_memif1,role=nobody".to_owned(),
            "net_memif1,bsize=0".to_owned(),
            "net_no_such_driver1".to_owned(),
        ] {
            let ended = forked(|| {
                match init(eal_args(&["net_ring0", &device])) {
                    Ok((eal, _)) => {
                        let mut ports = eal.ports();
                        assert_eq!(ports.len(), 1, "{ports:?}");
                        ring_works(ports.remove(0), &pool(&eal, "pool"));
                    }
                    Err(EalError::Device(named)) => assert!(device.starts_with(&named), "{named}"),
                    // DPDK takes an unknown driver for a wrong command line, and then has no device at all.
                    Err(error) => assert!(error.errno().is_some_and(|errno| errno.get() > 0), "{error:?}"),
                }
                0
            });
            assert_eq!(ended.code(), Some(0), "{device}: {:?}\n{}", ended.status, ended.stderr);
            assert!(!ended.stderr.contains("the EAL is not cleaned up"), "{device}: {}", ended.stderr);
        }
    });
}

/// Configures a port, which refuses: with the name of the call, and an error number.
fn refuses(port: Port<Unconfigured>, config: &PortConfig, pool: &Mempool, call: &str, errno: Option<i32>) {
    let (id, name) = (port.id(), port.name().to_owned());
    let error = port.configure(config, pool).and_then(Port::start).unwrap_err();
    assert_eq!((error.port(), error.call()), (id, Some(call)), "{error}");
    assert!(error.to_string().starts_with(&format!("port {id} ({name}): cannot ")), "{error}");
    let number = error.errno().unwrap().get();
    assert!(number > 0 && errno.is_none_or(|errno| errno == number), "{error:?}");
}

#[test]
fn captures_that_cannot_be_read_again_and_again() {
    let output = isolated_bare(|| {
        // A port that cannot be closed keeps its file open.
        crate::forked::allow_leaks();
        let path = |name: &str| folder().join(name).display().to_string();
        capture::write(&folder().join("jumbo"), &[frame(0, 9018)]);
        capture::write(&folder().join("many"), &[const { [0; 60] }; 600].map(Vec::from));
        capture::write(&folder().join("few"), &[frame(0, 60), frame(1, 61)]);
        let device = |number, name| format!("net_pcap{number},rx_pcap={},infinite_rx=1", path(name));
        let devices = [device(0, "jumbo"), device(1, "many"), device(2, "few"), device(3, "few")];
        let devices = devices.each_ref().map(String::as_str);
        let (eal, _) = init(eal_args(&[&devices[..], &["net_ring0"]].concat())).unwrap();
        let (first_pool, pool): (Mempool, Mempool) = (pool(&eal, "first"), pool(&eal, "pool"));
        let mut ports = eal.ports();
        let config = PortConfig::default();
        refuses(ports.remove(0), &config, &first_pool, "rte_eth_rx_queue_setup", Some(EINVAL));
        // The driver does not give back the frame that is too long.
        assert!(first_pool.available() >= first_pool.size() - 5);
        refuses(ports.remove(0), &config, &pool, "rte_eth_rx_queue_setup", Some(EINVAL));
        assert_eq!(pool.available(), pool.size());
        let (port, mut rx, tx) = start(ports.remove(0), &pool);
        for number in 0..10 {
            assert_eq!(bytes(&receive(&mut rx)), frame(number % 2, 60 + number % 2));
        }
        drop((port, rx, tx));
        // The driver opens its file again to count what is in it.
        fs::remove_file(folder().join("few")).unwrap();
        refuses(ports.remove(0), &config, &pool, "rte_eth_rx_queue_setup", None);
        ring_works(ports.remove(0), &pool);
        assert!(eal.ports().is_empty() && pool.available() == pool.size());
    });
    assert!(!output.contains("Cannot free ring"), "{output}");
}

/// Having refused, `net_pcap` would free a ring a second time if it were closed, by the port or by the EAL's clean-up.
#[test]
fn capture_that_cannot_be_closed_is_left() {
    let output = isolated_bare(|| {
        // A port that cannot be closed keeps its file open.
        crate::forked::allow_leaks();
        let path = folder().join("many");
        capture::write(&path, &[const { [0; 60] }; 600].map(Vec::from));
        let device = |number| format!("net_pcap{number},rx_pcap={},infinite_rx=1", path.display());
        let (eal, _) = init(eal_args(&[&device(0), &device(1), "net_ring0"])).unwrap();
        let mut ports = eal.ports();
        let small: Mempool = pool(&eal, "small");
        refuses(ports.remove(0), &PortConfig::default(), &small, "rte_eth_rx_queue_setup", Some(EINVAL));
        drop(small);
        let pool: Mempool = Mempool::builder("pool").size(2047).cache(0).build(&eal).unwrap();
        let (port, mut rx, tx) = start(ports.remove(0), &pool);
        assert_eq!(bytes(&receive(&mut rx)), [0; 60]);
        drop((port, rx, tx));
        assert_eq!(pool.available(), pool.size(), "the other port was closed");
        ring_works(ports.remove(0), &pool);
        assert!(eal.ports().is_empty());
    });
    assert!(!output.contains("Cannot free ring"), "{output}");
    let expected = "port 0 (net_pcap0) stays open, and the EAL is not cleaned up: its driver cannot close it after it has refused a queue";
    assert!(output.contains(expected), "{output}");
}

/// `net_failsafe` calls a null pointer when it refuses to be set up.
#[test]
fn capture_in_another_device_is_refused() {
    isolated_bare(|| {
        let path = folder().join("many");
        capture::write(&path, &[const { [0; 60] }; 600].map(Vec::from));
        let device = format!("net_failsafe0,dev(net_pcap0,rx_pcap={},infinite_rx=1)", path.display());
        let (eal, _) = init(eal_args(&[&device])).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let error = eal.ports().remove(0).configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(matches!(error, PortError::Unsupported { .. }), "{error}");
    });
}

/// `net_af_xdp` copies a frame of any length into one of its own buffers.
#[test]
fn a_virtual_device_of_an_unknown_driver_is_refused() {
    let Some(namespace) = namespace("") else { return };
    let output = isolated_in(&namespace, &[], |eal| {
        shell("ip link add one type veth peer two && ip link set one up && ip link set two up");
        let Ok(mut ports) = attach(&eal, "net_af_xdp0,iface=one") else { return println!("no net_af_xdp") };
        let pool: Mempool = pool(&eal, "pool");
        let error = ports.remove(0).configure(&PortConfig::default(), &pool).unwrap_err();
        assert!(matches!(&error, PortError::Lacks { what, .. } if what.contains("its driver net_af_xdp")), "{error}");
    });
    if output.contains("no net_af_xdp") {
        println!("skipped: this DPDK or this kernel has no AF_XDP");
    }
}

#[test]
fn sockets_that_cannot_be_made() {
    let missing = "/nonexistent/folder/vhost.sock";
    isolated(&[&format!("net_vhost0,iface={missing}"), "net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports();
        refuses(ports.remove(0), &PortConfig::default(), &pool, "rte_eth_dev_configure", None);
        ring_works(ports.remove(0), &pool);
        assert_eq!(pool.available(), pool.size());
    });
}

/// Frames that the device does not take, however often it is asked; the caller keeps them.
fn takes_nothing(tx: &mut TxQueue, pool: &Mempool) {
    let mut burst = Burst::<(), 32>::new();
    for number in 0..32 {
        burst.push(packet(pool, &frame(number, 64))).unwrap();
    }
    for _ in 0..3 {
        assert_eq!((tx.tx(&mut burst), burst.len()), (0, 32));
    }
}

/// The driver opens the interface by its name once more for each queue. It would get a second one, and lose the first one's frames.
#[test]
fn tap_is_moved_before_it_is_configured() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0", "net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports();
        let mut elsewhere = Command::new("unshare");
        let mut elsewhere =
            elsewhere.args(["--net", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It answers from its own namespace.
        elsewhere.stdin.as_mut().unwrap().write_all(b"?").unwrap();
        elsewhere.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        shell(&format!("ip link set fault0 netns {}", elsewhere.id()));
        let config = PortConfig::default().rx_descriptors(64);
        let error = ports.remove(0).configure(&config, &pool).unwrap_err();
        // The driver of 25.11 notices it before this crate does.
        if !matches!(error, PortError::Refused { call: "rte_eth_rx_queue_setup", .. }) {
            assert!(matches!(error, PortError::Lacks { .. }), "{error:?}");
            assert!(error.to_string().starts_with("port 0 (net_tap0): the device has no interface in this"), "{error}");
        }
        assert!(if_nametoindex("fault0").is_err(), "closed, with the second interface");
        ring_works(ports.remove(0), &pool);
        drop(elsewhere.stdin.take());
        elsewhere.wait().unwrap();
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn tap_is_deleted() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0", "net_ring0", "net_tap1,iface=fault1"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports();
        let config = PortConfig::default().rx_descriptors(64);
        let (port, mut rx, mut tx) = ports.remove(0).configure(&config, &pool).unwrap().start().unwrap();
        let ring = ports.remove(0);
        let (other, mut other_rx, mut other_tx) = ports.remove(0).configure(&config, &pool).unwrap().start().unwrap();
        send(&mut tx[0], packet(&pool, &frame(1, 64)));
        shell("ip link del fault0");
        takes_nothing(&mut tx[0], &pool);
        let mut burst = Burst::<(), 8>::new();
        assert_eq!((0..10).map(|_| rx[0].rx(&mut burst)).sum::<usize>(), 0);
        let error = port.set_promiscuous(!port.is_promiscuous()).unwrap_err();
        assert!(matches!(&error, PortError::Refused { errno, .. } if errno.get() > 0), "{error:?}");
        assert!(error.to_string().starts_with("port 0 (net_tap0): cannot "), "{error}");
        assert_eq!(port.stats().unwrap().opackets, 1);
        ring_works(ring, &pool);
        // The other tap is there as before.
        let kernel = Interface::open("fault1");
        send(&mut other_tx[0], packet(&pool, &crate::kernel::ours(3, 100)));
        assert_eq!(kernel.receive(), crate::kernel::ours(3, 100));
        kernel.send(&crate::kernel::ours(4, 100));
        until("the frame arrives", || {
            other_rx[0].rx(&mut burst);
            burst.drain().any(|packet| bytes(&packet) == crate::kernel::ours(4, 100))
        });
        match port.stop(rx, tx) {
            Ok(configured) => drop(configured.start()),
            Err(error) => assert!(error.to_string().starts_with("port 0 (net_tap0): cannot "), "{error}"),
        }
        drop((other, other_rx, other_tx));
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn interface_of_af_packet_is_deleted() {
    let setup = "ip link add fault0 type veth peer name fault1; ip link set fault0 up; ip link set fault1 up";
    let Some(namespace) = namespace(setup) else { return };
    isolated_in(&namespace, &["net_af_packet0,iface=fault0", "net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports();
        let (port, mut rx, mut tx) = start(ports.remove(0), &pool);
        send(&mut tx, packet(&pool, &frame(1, 64)));
        shell("ip link del fault0");
        // More than the driver's ring holds: it takes some of them, which are lost, and never blocks.
        let mut taken = 0;
        for number in 0..2000 {
            let mut burst = Burst::<(), 1>::new();
            burst.push(packet(&pool, &frame(number, 64))).unwrap();
            taken += tx.tx(&mut burst);
        }
        assert!(taken < 2000, "{taken}");
        let mut burst = Burst::<(), 8>::new();
        assert_eq!((0..10).map(|_| rx.rx(&mut burst)).sum::<usize>(), 0);
        let error = port.set_promiscuous(!port.is_promiscuous()).unwrap_err();
        assert!(matches!(&error, PortError::Refused { errno, .. } if errno.get() > 0), "{error:?}");
        assert_eq!(port.stats().unwrap().opackets, 1);
        ring_works(ports.remove(0), &pool);
        let Err(error) = port.stop(vec![rx], vec![tx]).unwrap().start() else { panic!("it has no socket any more") };
        assert!(error.to_string().contains("port 0 (net_af_packet0): the device has no second start"), "{error}");
        assert_eq!(pool.available(), pool.size());
    });
}

/// The peer of a vhost port is killed, and another comes.
#[test]
fn virtio_goes_and_comes() {
    isolated_bare(|| {
        let setup = Setup::default();
        let (here, there) = UnixStream::pair().unwrap();
        let victim = Forked::start(|| {
            let mut end = virtio_end(&Setup::default(), there);
            send(&mut end.tx, packet(&end.pool, &frame(1, 60)));
            loop {
                end.meet();
            }
        });
        let (next_here, next_there) = UnixStream::pair().unwrap();
        let next = Forked::start(|| {
            let mut end = virtio_end(&Setup::default(), next_there);
            send(&mut end.tx, packet(&end.pool, &frame(2, 60)));
            assert_eq!(bytes(&receive(&mut end.rx)), frame(3, 60));
            end.meet();
            0
        });
        let mut end = vhost_end(&setup, here);
        assert_eq!(bytes(&receive(&mut end.rx)), frame(1, 60));
        victim.kill();
        until("the link is down", || !end.port.link().unwrap().up);
        takes_nothing(&mut end.tx, &end.pool);
        let mut burst = Burst::<(), 8>::new();
        assert_eq!(end.rx.rx(&mut burst), 0);
        assert_eq!((end.port.stats().unwrap().ipackets, end.pool.available()), (1, end.pool.size()));
        end.turn_to(next_here);
        assert_eq!(bytes(&receive(&mut end.rx)), frame(2, 60));
        send(&mut end.tx, packet(&end.pool, &frame(3, 60)));
        end.meet();
        next.wait().expect_success();
        assert_eq!(end.pool.available(), end.pool.size());
    });
}

/// The peer of a virtio port is killed: what was given to it is lost, and the port can be stopped and closed.
#[test]
fn vhost_goes() {
    isolated_bare(|| {
        let (here, there) = UnixStream::pair().unwrap();
        let victim = Forked::start(|| {
            let mut end = vhost_end(&Setup::default(), there);
            send(&mut end.tx, packet(&end.pool, &frame(1, 60)));
            loop {
                end.meet();
            }
        });
        let mut end = virtio_end(&Setup::default(), here);
        assert_eq!(bytes(&receive(&mut end.rx)), frame(1, 60));
        victim.kill();
        until("the link is down", || !end.port.link().unwrap().up);
        let mut taken = 0;
        for number in 0..1000 {
            let mut burst = Burst::<(), 1>::new();
            burst.push(packet(&end.pool, &frame(number, 60))).unwrap();
            taken += end.tx.tx(&mut burst);
        }
        assert!(taken <= 256, "{taken} frames in a ring of 256");
        let mut burst = Burst::<(), 8>::new();
        assert_eq!(end.rx.rx(&mut burst), 0);
        assert!(end.port.stats().is_ok());
        let (pool, eal) = end.close();
        assert_eq!(pool.available(), pool.size());
        let other: Mempool = crate::frames::pool(&eal, "other");
        assert!(other.alloc().is_some());
    });
}

/// Every setting that a port may refuse after its configuration leaves it as it was.
#[test]
fn settings_that_are_refused() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let ports: Vec<_> = eal.ports().into_iter().map(|port| start(port, &pool)).collect();
        let error = ports[1].0.set_promiscuous(false).unwrap_err();
        assert_eq!((error.call(), error.port().get()), (Some("rte_eth_promiscuous_disable"), 1));
        for (port, rx, tx) in ports {
            let stopped = port.stop(vec![rx], vec![tx]).unwrap();
            for mtu in [0, 1, stopped.info().unwrap().min_mtu - 1] {
                let error = stopped.set_mtu(mtu).unwrap_err();
                assert_eq!(error.call(), Some("rte_eth_dev_set_mtu"), "{error}");
            }
            assert!(stopped.mtu().unwrap() == 1500);
            stopped.start().unwrap();
        }
    });
}

/// The capture to write to is gone when the port is started again; see also the tests of ports.
#[test]
fn start_that_is_refused() {
    isolated_bare(|| {
        let (gone, device) = (folder().join("gone"), |number: usize, folder: &std::path::Path| {
            format!("net_pcap{number},tx_pcap={}", folder.join(number.to_string()).display())
        });
        fs::create_dir(&gone).unwrap();
        let devices = [device(0, &gone), device(1, &folder())];
        let (eal, _) = init(eal_args(&devices.each_ref().map(String::as_str))).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports();
        let (first, rx, tx) = start(ports.remove(0), &pool);
        let stopped = first.stop(vec![rx], vec![tx]).unwrap();
        fs::remove_dir_all(&gone).unwrap();
        let error = stopped.start().unwrap_err();
        assert_eq!((error.call(), error.port().get()), (Some("rte_eth_dev_start"), 0));
        assert_ne!(error.errno().unwrap().get(), ENOENT, "the driver has one number for everything");
        let (second, _rx, mut tx) = start(ports.remove(0), &pool);
        send(&mut tx, packet(&pool, &frame(1, 60)));
        drop((second, tx));
        assert_eq!(capture::read(&folder().join("1")), [frame(1, 60)]);
    });
}
