// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Meters, compared with buckets that are filled as the RFCs define.

use crate::{
    buckets::{Bucket, Model},
    numbers::Numbers,
    process::isolated,
};
use dpdk_rs::{
    Eal, Tsc,
    meter::{
        Color::{self, Green, Red, Yellow},
        MeterError, SrTcm, SrTcmParams, TrTcm, TrTcm4115, TrTcm4115Params, TrTcmParams,
    },
};

const COLORS: [Color; 3] = [Green, Yellow, Red];

/// Packets at whole milliseconds, of lengths that rounding does not decide about.
fn compare(eal: &Eal, mut model: Model, mut color: impl FnMut(Tsc, usize, Color) -> Color) {
    let hz = eal.clock().hz();
    let millisecond = hz / 1_000;
    let mut numbers = Numbers(9);
    let (mut now, mut last) = (1_000, 1_000);
    let mut seen = [0; 3];
    for _ in 0..3_000 {
        now += numbers.below(12) as u64;
        let len = 1 + numbers.below(60_000);
        let seconds = ((now - last) * millisecond) as f64 / hz as f64;
        if model.is_near(seconds, len as f64) {
            continue;
        }
        // Most come without a color.
        let before = COLORS[numbers.below(9).saturating_sub(6)];
        let found = color(Tsc::from_cycles(now * millisecond), len, before);
        assert_eq!(found, model.color(seconds, len as f64, before), "{len} bytes at {now} ms");
        assert!(found >= before);
        seen[found as usize] += 1;
        last = now;
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

#[test]
fn packets_are_colored_as_the_rfcs_say() {
    isolated(&[], |eal| {
        let start = Tsc::from_cycles(eal.clock().hz() / 1_000 * 1_000);
        let params = SrTcmParams { cir: 4_000_000, cbs: 100_000, ebs: 60_000 };
        let mut meter = SrTcm::new(&eal, params, start).unwrap();
        let model = Model {
            rfc: 2697,
            first: Bucket::new(&eal, params.cir, params.cbs),
            second: Bucket::new(&eal, 0, params.ebs),
        };
        compare(&eal, model, |now, len, color| meter.color(now, len, color));
        let params = TrTcmParams { cir: 2_000_000, pir: 5_000_000, cbs: 80_000, pbs: 120_000 };
        let mut meter = TrTcm::new(&eal, params, start).unwrap();
        let (first, second) = (Bucket::new(&eal, params.cir, params.cbs), Bucket::new(&eal, params.pir, params.pbs));
        compare(&eal, Model { rfc: 2698, first, second }, |now, len, color| meter.color(now, len, color));
        let params = TrTcm4115Params { cir: 2_000_000, eir: 2_000_000, cbs: 80_000, ebs: 80_000 };
        let mut meter = TrTcm4115::new(&eal, params, start).unwrap();
        let (first, second) = (Bucket::new(&eal, params.cir, params.cbs), Bucket::new(&eal, params.eir, params.ebs));
        compare(&eal, Model { rfc: 4115, first, second }, |now, len, color| meter.color(now, len, color));
    });
}

#[test]
fn a_clock_that_runs_backwards_fills_nothing() {
    isolated(&[], |eal| {
        let hz = eal.clock().hz();
        let at = |seconds: u64| Tsc::from_cycles(seconds * hz);
        let mut meter = SrTcm::new(&eal, SrTcmParams { cir: 1_000, cbs: 1_000, ebs: 0 }, at(10)).unwrap();
        assert_eq!(meter.color(at(10), 1_000, Green), Green);
        for seconds in [10, 9, 0] {
            assert_eq!(meter.color(at(seconds), 500, Green), Red);
        }
        assert_eq!(meter.color(at(12), 900, Green), Green);
        // A packet that is too long for every bucket, and one without bytes.
        assert_eq!(meter.color(at(1_000), usize::MAX, Green), Red);
        assert_eq!((meter.color(at(1_000), 0, Green), meter.color(at(1_000), 0, Red)), (Green, Red));
        let mut other = TrTcm::new(&eal, TrTcmParams { cir: 9, pir: 10, cbs: 10, pbs: 10 }, at(5)).unwrap();
        let colors = [5, 4, 0, 0].map(|seconds| other.color(at(seconds), 5, Green));
        assert_eq!(colors, [Green, Green, Red, Red]);
    });
}

#[test]
fn parameters_that_are_no_meter_are_refused() {
    isolated(&[], |eal| {
        let now = eal.clock().now();
        let (most, more) = (1 << 40, (1 << 40) + 1);
        let single =
            |cir, cbs, ebs| SrTcm::new(&eal, SrTcmParams { cir, cbs, ebs }, now).map(|meter| meter.params().cir);
        assert_eq!(single(most, most, most), Ok(most));
        // DPDK would divide by 0.
        assert_eq!(single(u64::MAX, 1, 1), Err(MeterError::TooLarge { name: "cir", value: u64::MAX }));
        assert_eq!(single(1, 1, more), Err(MeterError::TooLarge { name: "ebs", value: more }));
        assert_eq!((single(0, 1, 1), single(1, 0, 0)), (Err(MeterError::Invalid), Err(MeterError::Invalid)));
        assert_eq!(single(1, 0, 1), Ok(1));
        let two = |cir, pir, cbs, pbs| TrTcm::new(&eal, TrTcmParams { cir, pir, cbs, pbs }, now).map(drop);
        assert_eq!((two(5, 5, 1, 1), two(5, 4, 1, 1)), (Ok(()), Err(MeterError::Invalid)));
        assert_eq!(two(1, more, 1, 1), Err(MeterError::TooLarge { name: "pir", value: more }));
        let beside = |cir, eir, cbs, ebs| TrTcm4115::new(&eal, TrTcm4115Params { cir, eir, cbs, ebs }, now).map(drop);
        assert_eq!((beside(0, 1, 0, 1), beside(1, 1, 1, 0)), (Ok(()), Err(MeterError::Invalid)));
    });
}
