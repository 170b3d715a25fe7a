// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Queues that are stopped and started one by one.

use crate::{
    capture::{read, write},
    frames::{bytes, frame, only_port, packet, pool},
    process::{eal_args, folder, init, isolated, isolated_bare},
};
use dpdk_rs::{Burst, Eal, Mempool, Port, PortConfig, PortError, RxQueue, TxQueue, port::StopError};

const LACKS: &str = "the device has no start and stop of single queues";

/// A port with two queues each way: each reads its own four frames, and writes to its own file.
fn with_two_queues(eal: &mut Option<Eal>) -> Port<dpdk_rs::port::Unconfigured> {
    let mut device = "net_pcap0".to_owned();
    for queue in 0..2 {
        let input = folder().join(format!("in{queue}.pcap"));
        write(&input, &(0..4).map(|number| frame(10 * queue + number, 100)).collect::<Vec<_>>());
        let output = folder().join(format!("out{queue}.pcap"));
        device += &format!(",rx_pcap={},tx_pcap={}", input.display(), output.display());
    }
    let (started, _) = init(eal_args(&[&device])).unwrap();
    only_port(eal.insert(started))
}

fn two() -> PortConfig {
    PortConfig::default().rx_queues(2).tx_queues(2)
}

fn receive_one(rx: &mut RxQueue) -> Vec<u8> {
    let mut burst = Burst::<(), 1>::new();
    assert_eq!(rx.rx(&mut burst), 1);
    bytes(&burst[0])
}

fn send_one(pool: &Mempool, tx: &mut TxQueue, number: usize) {
    let mut burst = Burst::<(), 1>::new();
    burst.push(packet(pool, &frame(number, 60))).unwrap();
    assert_eq!(tx.tx(&mut burst), 1);
}

#[test]
fn one_queue_stops_and_starts_while_the_others_go_on() {
    isolated_bare(|| {
        let mut eal = None;
        let port = with_two_queues(&mut eal);
        let pool: Mempool = pool(eal.as_ref().unwrap(), "pool");
        let (port, rx, tx) = port.configure(&two(), &pool).unwrap().start().unwrap();
        let [mut first, second]: [RxQueue; 2] = rx.try_into().unwrap();
        let [mut out, other_out]: [TxQueue; 2] = tx.try_into().unwrap();
        let stopped = second.stop().unwrap();
        let stopped_out = other_out.stop().unwrap();
        assert_eq!((stopped.port(), stopped.id(), stopped_out.id()), (port.id(), 1, 1));
        assert_eq!(receive_one(&mut first), frame(0, 100));
        send_one(&pool, &mut out, 1);
        // It goes on where it was.
        let mut second = stopped.start().unwrap();
        assert_eq!(receive_one(&mut second), frame(10, 100));
        let mut other_out = stopped_out.start().unwrap();
        send_one(&pool, &mut other_out, 2);
        // All of the queues have to come back, running or given back.
        let stopped = second.stop().unwrap();
        let (port, rx, tx) = match port.stop(vec![first], vec![out, other_out]) {
            Err(StopError::Queues(all)) => all.into_inner().unwrap(),
            other => panic!("{other:?}"),
        };
        stopped.give_back();
        let port = port.stop(rx, tx).unwrap();
        assert_eq!(read(&folder().join("out1.pcap")).len(), 1);
        let (_port, rx, tx) = port.start().unwrap();
        assert_eq!((rx.len(), tx.len()), (2, 2), "there are as many as before");
    });
}

#[test]
fn queues_can_wait_until_each_is_started() {
    isolated_bare(|| {
        let mut eal = None;
        let port = with_two_queues(&mut eal);
        let pool: Mempool = pool(eal.as_ref().unwrap(), "pool");
        let port = port.configure(&two().deferred_start(true), &pool).unwrap();
        let (port, mut rx, tx) = port.start_stopped().unwrap();
        assert_eq!((rx.len(), tx.len()), (2, 2));
        let mut second = rx.remove(1).start().unwrap();
        assert_eq!((second.id(), receive_one(&mut second)), (1, frame(10, 100)));
        rx.remove(0).give_back();
        tx.into_iter().for_each(dpdk_rs::StoppedTxQueue::give_back);
        // Started as usual, they all run at once.
        let (port, mut rx, tx) = port.stop(vec![second], vec![]).unwrap().start().unwrap();
        assert_eq!((rx.len(), tx.len(), receive_one(&mut rx[0])), (2, 2, frame(0, 100)));
        // And without having been configured for it, each is stopped when the port is started.
        let port = port.stop(rx, tx).unwrap();
        let (_port, rx, tx) = port.start_stopped().unwrap();
        drop((rx, tx));
    });
}

#[test]
fn a_device_that_cannot_says_so() {
    isolated(&["net_null0", "net_ring0", "net_null1", "net_null2"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        for name in ["net_null0", "net_ring0"] {
            let port = ports.next().unwrap();
            let (port, mut rx, mut tx) = port.configure(&PortConfig::default(), &pool).unwrap().start().unwrap();
            let refused = rx.remove(0).stop().unwrap_err();
            assert!(matches!(*refused.error, PortError::Lacks { .. }));
            assert!(refused.to_string().ends_with(&format!("({name}): {LACKS}")), "{refused}");
            let refused_tx = tx.remove(0).stop().unwrap_err();
            assert_eq!(refused_tx.error, refused.error);
            // Both are as they were.
            let (mut rx, mut tx) = (refused.queue.into_inner().unwrap(), refused_tx.queue.into_inner().unwrap());
            send_one(&pool, &mut tx, 1);
            receive_one(&mut rx);
            port.stop(vec![rx], vec![tx]).unwrap();
        }
        let error =
            ports.next().unwrap().configure(&PortConfig::default(), &pool).unwrap().start_stopped().unwrap_err();
        assert!(error.to_string().ends_with(LACKS), "{error}");
        let error = ports.next().unwrap().configure(&two().deferred_start(true), &pool).unwrap_err();
        assert!(error.to_string().ends_with(LACKS), "{error}");
        assert_eq!(pool.available(), pool.size());
    });
}
