// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A service's closure: one call at a time, and none after the slot was emptied.

use super::{
    dpdk::{Shadow, all_are_freed, as_lcore},
    eal, explore, join,
};
use crate::{
    Mempool,
    service::{Activity, Slot},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
        thread,
    },
};

fn using(data: &Arc<Shadow>) -> Box<dyn FnMut() -> Activity + Send> {
    let (data, calls) = (Arc::clone(data), AtomicUsize::new(0));
    Box::new(move || {
        data.write();
        // Another thread may run between these.
        calls.fetch_add(1, Relaxed);
        data.write();
        Activity::Busy
    })
}

fn calling(slot: &Arc<Slot>, lcore: u32) -> thread::JoinHandle<()> {
    let slot = Arc::clone(slot);
    thread::spawn(move || {
        let _ = as_lcore(lcore, || slot.run());
    })
}

#[test]
fn a_slot_is_emptied_and_filled_while_lcores_call() {
    explore(Some(4), || {
        let eal = eal();
        let (slot, data, later) = (Arc::new(Slot::new()), Arc::new(Shadow::default()), Arc::new(Shadow::default()));
        assert!(slot.fill(using(&data), eal.environment()));
        let callers = [calling(&slot, 1), calling(&slot, 2)];
        slot.empty();
        data.write();
        assert!(slot.fill(using(&later), eal.environment()), "the slot is empty");
        slot.empty();
        later.write();
        callers.into_iter().for_each(join);
        // Both closures have closed their scopes, so that pools are freed again.
        drop(Mempool::<()>::builder("pool").size(1).cache(0).data_room(64).build(&eal));
        assert!(all_are_freed(), "a scope is left open");
    });
}
