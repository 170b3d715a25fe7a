// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about lcores and scopes, kept.
#![allow(dead_code)]

use dpdk_rs::{
    Eal,
    lcore::{self, JoinHandle, Lcore, LcoreId, Registrar},
    service::{Activity, Service, ServiceCore},
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() {}

fn hole_14_closure_outlives_scope(eal: &Eal) {
    let name = "borrowed".to_owned();
    lcore::scope(eal, |scope| {
        for worker in eal.worker_lcores() {
            let _ = scope.launch(worker.id(), || name.len());
        }
    })
    .unwrap();
}

fn eal_dropped_in_scope(eal: Eal) {
    lcore::scope(&eal, |_scope| ()).unwrap();
    drop(eal);
}

fn handle_outlives_scope(eal: &Eal) -> usize {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| scope.launch(worker, || 1).unwrap().join().unwrap()).unwrap()
}

fn scope_outlives_itself(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| {
        let kept = Some(scope);
        let _ = kept.unwrap().launch(worker, || 1);
    })
    .unwrap();
}

fn capture_not_send(eal: &Eal, count: Arc<u64>) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| scope.launch(worker, move || *count).map(drop)).unwrap().unwrap();
}

fn result_not_send(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| scope.launch(worker, || Arc::new(1)).map(drop)).unwrap().unwrap();
}

fn borrowed_value_not_sync(eal: &Eal) {
    let count = AtomicU64::new(0);
    lcore::scope(eal, |scope| {
        for worker in eal.worker_lcores() {
            let _ = scope.launch(worker.id(), || count.fetch_add(1, Ordering::Relaxed));
        }
    })
    .unwrap();
}

fn value_changed_beside_a_closure(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    let mut count = 0;
    lcore::scope(eal, |scope| scope.launch(worker, || count += 1).map(drop)).unwrap().unwrap();
    assert!(count > 0);
}

fn joined_twice(handle: JoinHandle<'_, String>) -> [String; 2] {
    let value = handle.join().unwrap();
    [value.clone(), value]
}

fn lcore_id_made_by_hand(eal: &Eal) -> LcoreId {
    eal.main_lcore()
}

fn lcore_made_by_hand(worker: Lcore) -> bool {
    worker.is_main()
}

fn registered_on_another_thread(registrar: Registrar) {
    std::thread::spawn(move || drop(registrar.register().unwrap()));
}

fn registered_shared(registrar: &Registrar) {
    let registered = registrar.register().unwrap();
    let id = registered.id();
    std::thread::scope(|scope| {
        scope.spawn(move || id);
    });
}

fn service_closure_borrows(eal: &Eal) -> Service {
    let mut count = 0;
    let closure = move || {
        count += 1;
        if count % 2 == 0 { Activity::Idle } else { Activity::Busy }
    };
    eal.register_service("counter", closure).unwrap()
}

fn service_closure_not_send(eal: &Eal, text: Arc<str>) -> Service {
    let closure = move || if text.is_empty() { Activity::Idle } else { Activity::Busy };
    eal.register_service("reader", closure).unwrap()
}

fn service_on_another_thread(service: Service) -> u64 {
    let stats = service.stats();
    std::thread::spawn(move || stats.calls).join().unwrap()
}

fn service_core_on_another_thread(core: ServiceCore) -> LcoreId {
    let id = core.id();
    std::thread::spawn(move || id).join().unwrap()
}
