// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Holes 6, 11 and 16: queues of ports that are not started, queues with two owners, and full rings.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool, PortConfig, TxBuffer, port::StopError};
use std::{collections::BTreeSet, time::Duration};

/// A port is stopped while somebody can still poll it. Here it is not: without exactly its own queues nothing happens,
/// and the port and the queues keep working.
/// happens, and the port and the queues go on.
#[test]
fn hole_06_stop_takes_every_queue() {
    isolated(&["net_ring0", "net_ring1"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (mut port, mut rx, mut tx) = start(ports.next().unwrap(), &pool);
        let (_other, other_rx, other_tx) = start(ports.next().unwrap(), &pool);
        let Err(StopError::Queues(back)) = port.stop(vec![], vec![tx]) else { panic!("the RX queue is missing") };
        let (back_port, _, back_tx) = back.into_inner().unwrap();
        (port, tx) = (back_port, back_tx.into_iter().next().unwrap());
        send(&mut tx, packet(&pool, &frame(1, 60)));
        assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));

        let Err(StopError::Queues(back)) = port.stop(vec![other_rx], vec![tx]) else { panic!("it is another port's") };
        let (port, _, mut back_tx) = back.into_inner().unwrap();
        let Err(StopError::Queues(back)) = port.stop(vec![rx], vec![other_tx]) else { panic!("it is another port's") };
        let (port, mut rx, _) = back.into_inner().unwrap();
        send(&mut back_tx[0], packet(&pool, &frame(2, 60)));
        assert_eq!(bytes(&receive(&mut rx[0])), frame(2, 60));
        assert!(port.stop(rx, back_tx).is_ok());
    });
}

/// The queues of a port that has been started again are new, and work.
#[test]
fn hole_06_queues_are_those_of_the_last_start() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut configured = only_port(&eal).configure(&PortConfig::default(), &pool).unwrap();
        for round in 0..5 {
            let (port, mut rx, mut tx) = configured.start().unwrap();
            send(&mut tx[0], packet(&pool, &frame(round, 60)));
            assert_eq!(bytes(&receive(&mut rx[0])), frame(round, 60));
            configured = port.stop(rx, tx).unwrap();
        }
        assert_eq!(pool.available(), pool.size());
    });
}

/// Queues of any port and number that anybody can make are polled by two. Here each port and each queue is handed out once.
#[test]
fn hole_11_ports_and_queues_are_handed_out_once() {
    isolated(&["net_ring0", "net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let ports = eal.ports();
        assert_eq!((ports.len(), eal.ports().len()), (2, 0));
        let mut seen = BTreeSet::new();
        for port in ports {
            let most = usize::from(port.info().unwrap().max_rx_queues).min(4);
            let config = PortConfig::default().rx_queues(most as u16).tx_queues(most as u16);
            let (port, rx, tx) = port.configure(&config, &pool).unwrap().start().unwrap();
            assert_eq!((rx.len(), tx.len()), (most, most));
            for (rx, tx) in rx.iter().zip(&tx) {
                assert_eq!((rx.port(), tx.port()), (port.id(), port.id()));
                assert!(seen.insert(("rx", port.id(), rx.id())) && seen.insert(("tx", port.id(), tx.id())));
            }
            assert!(eal.ports().is_empty());
        }
        assert!(eal.ports().is_empty(), "closed ports are not handed out again");
    });
}

/// Sending until everything is accepted spins for ever if nobody empties the ring. Here the rest stays with the caller,
/// or is dropped and counted.
#[test]
fn hole_16_full_ring_does_not_hold_the_sender() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(2047).cache(0).build(&eal).unwrap();
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut burst = Burst::<(), 1024>::new();
        for number in 0..1024 {
            burst.push(packet(&pool, &frame(number, 60))).unwrap();
        }
        assert_eq!((tx.tx(&mut burst), burst.len()), (1023, 1));
        for _ in 0..1000 {
            assert_eq!((tx.tx(&mut burst), burst.len()), (0, 1));
        }
        assert_eq!(bytes(&burst[0]), frame(1023, 60), "what was not taken is as it was");

        let mut buffer = TxBuffer::<(), 32>::new(tx, 8, Duration::ZERO, eal.clock());
        for number in 0..80 {
            buffer.push(packet(&pool, &frame(number, 60)));
        }
        buffer.append(&mut burst);
        buffer.flush();
        assert_eq!((buffer.sent(), buffer.dropped(), burst.len()), (0, 81, 0));
        assert_eq!(pool.available(), pool.size() - 1023, "what was dropped is back in its pool");

        for number in 0..1023 {
            assert_eq!(bytes(&receive(&mut rx)), frame(number, 60));
        }
        buffer.push(packet(&pool, &frame(5, 60)));
        buffer.flush();
        assert_eq!((buffer.sent(), bytes(&receive(&mut rx))), (1, frame(5, 60)));
    });
}
