// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about the EAL, kept.
#![allow(dead_code)]

use dpdk_rs::{Clock, Eal, EalOptions, lcore};

fn main() {}

fn eal_on_another_thread(eal: Eal) {
    let ports = eal.ports();
    std::thread::spawn(move || ports.len());
}

fn eal_shared(eal: &Eal) {
    let lcores = eal.lcores();
    std::thread::scope(|scope| {
        scope.spawn(|| lcores.len());
    });
}

fn eal_in_a_closure(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    let ports = eal.ports();
    lcore::scope(eal, |scope| scope.launch(worker, || ports.len()).map(drop)).unwrap().unwrap();
}

fn eal_cloned(eal: &Eal) -> [&Eal; 2] {
    [eal, eal]
}

fn eal_made_by_hand() -> Eal {
    let (eal, _args) = Eal::init(EalOptions::new()).unwrap();
    eal
}

fn clock_made_by_hand(eal: &Eal) -> Clock {
    eal.clock()
}
