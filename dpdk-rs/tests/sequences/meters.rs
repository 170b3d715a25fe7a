// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Meters of all three kinds and any parameters, beside buckets.

use crate::{
    buckets::{Bucket, Model},
    raw::Usage,
};
use dpdk_rs::{
    Eal, Tsc,
    meter::{Color, MeterError, SrTcm, SrTcmParams, TrTcm, TrTcm4115, TrTcm4115Params, TrTcmParams},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;

/// The largest parameter.
const MOST: u64 = 1 << 40;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct MeterPlan {
    rfc: Rfc,
    /// Of the committed bucket and of the other one.
    #[proptest(strategy = "(rate(), rate())")]
    rates: (u64, u64),
    #[proptest(strategy = "(burst(), burst())")]
    bursts: (u64, u64),
    #[proptest(strategy = "vec(any::<MeterDeed>(), 0..60)")]
    deeds: Vec<MeterDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rfc {
    /// It has no second rate.
    Rfc2697,
    Rfc2698,
    Rfc4115,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum MeterDeed {
    #[proptest(weight = 12)]
    Packet {
        /// In ms since the one before.
        #[proptest(
            strategy = "prop_oneof![6 => 0_i64..20, 2 => 0_i64..100_000, 1 => -50_i64..0, 1 => Just(86_400_000)]"
        )]
        after: i64,
        #[proptest(
            strategy = "prop_oneof![6 => 0_usize..20_000, 2 => any::<u32>().prop_map(|len| len as usize), 1 => Just(usize::MAX)]"
        )]
        len: usize,
        #[proptest(strategy = "prop_oneof![6 => Just(Color::Green), 1 => Just(Color::Yellow), 1 => Just(Color::Red)]")]
        color: Color,
    },
    /// From here on it is a clone that is asked.
    Clone,
}

fn rate() -> impl Strategy<Value = u64> {
    let usual = prop::sample::select(&[1_000_u64, 125_000, 4_000_000, 125_000_000, 12_500_000_000]);
    let edges = prop::sample::select(&[0_u64, 1, 9, MOST - 1, MOST, MOST + 1, u64::MAX]);
    prop_oneof![8 => usual, 4 => 1_u64..10_000_000, 2 => edges]
}

fn burst() -> impl Strategy<Value = u64> {
    let edges = prop::sample::select(&[0_u64, 1, MOST - 1, MOST, MOST + 1, u64::MAX]);
    prop_oneof![8 => 1_000_u64..200_000, 2 => 1_u64..1 << 33, 2 => edges]
}

/// What the meters have in common.
trait Meter: Clone {
    fn ask(&mut self, now: Tsc, len: usize, color: Color) -> Color;
}

macro_rules! meters {
    ($($meter:ident),+) => {$(
        impl Meter for $meter {
            fn ask(&mut self, now: Tsc, len: usize, color: Color) -> Color {
                self.color(now, len, color)
            }
        }
    )+};
}

meters!(SrTcm, TrTcm, TrTcm4115);

/// Makes a meter, if its parameters are of one, and asks it.
pub(crate) fn run(eal: &Eal, plan: &MeterPlan) {
    let before = Usage::now();
    let ((cir, other), (cbs, more)) = (plan.rates, plan.bursts);
    // Long after the clock's beginning, so that it can run backwards.
    let start = Tsc::from_cycles(eal.clock().hz() * 1_000);
    match plan.rfc {
        Rfc::Rfc2697 => {
            let params = SrTcmParams { cir, cbs, ebs: more };
            let valid = cir > 0 && (cbs, more) != (0, 0);
            let made = SrTcm::new(eal, params, start);
            check(&made, &[("cir", cir), ("cbs", cbs), ("ebs", more)], valid);
            made.into_iter().for_each(|meter| {
                assert_eq!(meter.params(), params);
                work(eal, meter, model(eal, plan, 2697), plan);
            });
        }
        Rfc::Rfc2698 => {
            let params = TrTcmParams { cir, pir: other, cbs, pbs: more };
            let valid = cir > 0 && other >= cir && cbs > 0 && more > 0;
            let made = TrTcm::new(eal, params, start);
            check(&made, &[("cir", cir), ("pir", other), ("cbs", cbs), ("pbs", more)], valid);
            made.into_iter().for_each(|meter| {
                assert_eq!(meter.params(), params);
                work(eal, meter, model(eal, plan, 2698), plan);
            });
        }
        Rfc::Rfc4115 => {
            let params = TrTcm4115Params { cir, eir: other, cbs, ebs: more };
            let valid = (cir == 0 || cbs > 0) && (other == 0 || more > 0);
            let made = TrTcm4115::new(eal, params, start);
            check(&made, &[("cir", cir), ("eir", other), ("cbs", cbs), ("ebs", more)], valid);
            made.into_iter().for_each(|meter| {
                assert_eq!(meter.params(), params);
                work(eal, meter, model(eal, plan, 4115), plan);
            });
        }
    }
    assert_eq!(Usage::now(), before, "a meter holds memory of DPDK's");
}

/// The first parameter that is too large is named; else what does not go together is refused.
fn check<M>(made: &Result<M, MeterError>, params: &[(&'static str, u64)], valid: bool) {
    let large = params.iter().find(|(_, value)| *value > MOST);
    let expected = match large {
        Some((name, value)) => Some(MeterError::TooLarge { name, value: *value }),
        None => (!valid).then_some(MeterError::Invalid),
    };
    assert_eq!(made.as_ref().err(), expected.as_ref(), "{params:?}");
}

fn model(eal: &Eal, plan: &MeterPlan, rfc: u32) -> Model {
    let second = if rfc == 2697 { 0 } else { plan.rates.1 };
    Model { rfc, first: Bucket::new(eal, plan.rates.0, plan.bursts.0), second: Bucket::new(eal, second, plan.bursts.1) }
}

fn work<M: Meter>(eal: &Eal, mut meter: M, mut model: Model, plan: &MeterPlan) {
    let hz = eal.clock().hz();
    let millisecond = hz / 1_000;
    // In cycles: now, and when the buckets were filled last.
    let mut now = hz * 1_000;
    let mut filled = now;
    for deed in &plan.deeds {
        match *deed {
            MeterDeed::Packet { after, len, color } => {
                now = now.saturating_add_signed(after * millisecond.cast_signed());
                // A time before that of another packet counts as that.
                let seconds = now.saturating_sub(filled) as f64 / hz as f64;
                // DPDK counts 32 bits of it.
                let counted = u32::try_from(len).unwrap_or(u32::MAX) as f64;
                if model.is_near(seconds, counted) {
                    continue;
                }
                let found = meter.ask(Tsc::from_cycles(now), len, color);
                assert_eq!(found, model.color(seconds, counted, color), "{len} bytes after {seconds} s");
                assert!(found >= color);
                filled = filled.max(now);
            }
            MeterDeed::Clone => meter = meter.clone(),
        }
    }
}
