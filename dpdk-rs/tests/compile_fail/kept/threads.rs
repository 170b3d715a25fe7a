// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What may go to other threads, and what they may share.

use dpdk_rs::{
    Burst, Clock, DynField, DynFlag, Mempool, Packet, Port, PreparedBurst, QueueRefused, Ring, RxQueue, RxTimestamp,
    StoppedRxQueue, StoppedTxQueue, TxBuffer, TxQueue,
    flow::Flow,
    lcore::{JoinHandle, Lcore, Panicked, Registrar, Scope, StopGuard, StopToken},
    lookup::{Acl, HashReader, HashTable, HashWriter, Lpm, Lpm6, RcuReader, RcuWriter},
    memory::{DpdkBox, Heap, Memzone, Object, ObjectPool},
    port::{Configured, Started, StopError, Unconfigured},
    ring::{Consumer, Producer},
    telemetry::TelemetryCommand,
    timer::{ManageError, Timer, Timers},
};
use std::cell::Cell;

fn send_and_share<T: Send + Sync>() {}
fn send<T: Send>() {}

fn main() {
    send_and_share::<Mempool<u64>>();
    send_and_share::<Packet<u64>>();
    send_and_share::<Burst<u64, 4>>();
    send_and_share::<Port<Unconfigured>>();
    send_and_share::<Port<Configured<u64>>>();
    send_and_share::<Port<Started<u64>>>();
    send_and_share::<Clock>();
    send_and_share::<Lcore>();
    send_and_share::<&Scope<'_, '_>>();
    send_and_share::<JoinHandle<'_, String>>();
    send_and_share::<Acl<5>>();
    send_and_share::<DpdkBox<u64>>();
    send_and_share::<DynField<u64>>();
    send_and_share::<DynFlag>();
    send_and_share::<Flow>();
    send_and_share::<HashReader<u32, u32>>();
    send_and_share::<HashTable<u32, String>>();
    send_and_share::<HashWriter<u32, u32>>();
    send_and_share::<Heap>();
    send_and_share::<Lpm>();
    send_and_share::<Lpm6>();
    send_and_share::<Memzone>();
    send_and_share::<Object<'_, u64>>();
    send_and_share::<ObjectPool<Cell<u64>>>();
    // `anyhow` wants errors that may be shared.
    send_and_share::<Panicked>();
    send_and_share::<ManageError>();
    send_and_share::<QueueRefused<RxQueue<u64>>>();
    send_and_share::<StopError<u64>>();
    send_and_share::<StopGuard>();
    send_and_share::<StopToken>();
    send_and_share::<Registrar>();
    send_and_share::<Ring<Cell<u64>>>();
    send_and_share::<RxTimestamp>();
    send_and_share::<TelemetryCommand>();
    send_and_share::<Timer>();
    send_and_share::<Timers>();
    send::<Consumer<u64>>();
    send::<DpdkBox<Cell<u64>>>();
    send::<HashTable<u32, Cell<u64>>>();
    send::<Object<'_, Cell<u64>>>();
    send::<PreparedBurst<'_, u64, 4>>();
    send::<Producer<u64>>();
    send::<RcuReader<u32, String>>();
    send::<RcuWriter<u32, String>>();
    send::<RxQueue<u64>>();
    send::<StoppedRxQueue<u64>>();
    send::<StoppedTxQueue>();
    send::<TxQueue>();
    send::<TxBuffer<u64>>();
}
