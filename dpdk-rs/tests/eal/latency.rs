// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long packets stay in the program.

use crate::{frames::pool, process::isolated};
use dpdk_rs::{
    Burst, Mempool, PortConfig,
    latency::{Latency, LatencyError},
};
use std::time::{Duration, Instant};

#[test]
fn packets_are_measured_from_queue_to_queue() {
    isolated(&["net_null0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let port = eal.ports().remove(0).configure(&PortConfig::default(), &pool).unwrap();
        let (_port, mut rx, mut tx) = port.start().unwrap();
        let latency = eal.enable_latency_stats(Duration::ZERO).unwrap();
        assert_eq!(eal.enable_latency_stats(Duration::ZERO).unwrap_err(), LatencyError::Enabled);
        assert_eq!(latency.read(), Ok(Latency::default()));
        let stay = Duration::from_millis(1);
        let begin = Instant::now();
        for _ in 0..10 {
            let mut burst = Burst::<(), 32>::new();
            assert_eq!(rx[0].rx(&mut burst), 32);
            let received = Instant::now();
            while received.elapsed() < stay {}
            assert_eq!(tx[0].tx(&mut burst), 32);
        }
        let all = begin.elapsed();
        let Latency { min, average, max, jitter, .. } = latency.read().unwrap();
        // DPDK's clock is calibrated to some parts in a thousand.
        assert!(stay.mul_f64(0.9) <= min && min <= average && average <= max && max <= all.mul_f64(1.1), "{latency:?}");
        assert!(jitter <= max);
    });
}
