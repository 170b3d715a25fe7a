// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Queues that are stopped and started one by one, which only net_pcap can.

use crate::{
    context::Context,
    model::{Behaviour, DeviceToken, lock},
    operation::End,
    shelf::{Hands, Kind, PortHeld, RxHeld, Shelf, StoppedRxHeld, StoppedTxHeld, TxHeld, pick},
};
use dpdk_rs::{PortError, QueueRefused};
use proptest_derive::Arbitrary;
use std::sync::Arc;

/// What becomes of a queue that is stopped.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum StoppedEnd {
    #[proptest(weight = 3)]
    GiveBack,
    #[proptest(weight = 1)]
    Drop,
    #[proptest(weight = 1)]
    Forget,
}

/// Whether the device's driver can.
fn can(token: &DeviceToken) -> bool {
    matches!(token.record.behaviour, Behaviour::Capture(_))
}

/// The place of the queue or port that a number chooses: of those that can, unless there are none.
fn prefer<T>(from: &[T], number: u8, token: impl Fn(&T) -> &Arc<DeviceToken>) -> Option<usize> {
    let able: Vec<usize> = (0..from.len()).filter(|place| can(token(&from[*place]))).collect();
    pick(&able, number).map(|place| able[place]).or_else(|| pick(from, number))
}

/// What a device says that cannot.
fn check_refusal(token: &DeviceToken, error: &PortError) {
    assert!(!can(token) && matches!(error, PortError::Lacks { .. }), "{error}");
}

/// Takes down that a queue will not come back before the port is started again.
fn take_back(token: &DeviceToken, rx: u16, tx: u16) {
    let mut setup = lock(&token.setup);
    let setup = setup.as_mut().expect("a queue's port is configured");
    setup.given_back.0 += rx;
    setup.given_back.1 += tx;
}

impl<P: Kind> Shelf<P> {
    pub(crate) fn stop_rx(&mut self, queue: u8) -> Option<()> {
        let place = prefer(&self.rx, queue, |held| &held.token)?;
        let RxHeld { queue, token } = self.rx.remove(place);
        let number = queue.id();
        match queue.stop() {
            Ok(queue) => {
                assert!(can(&token) && queue.id() == number);
                self.stopped_rx.push(StoppedRxHeld { queue, token });
            }
            Err(QueueRefused { queue, error }) => {
                check_refusal(&token, &error);
                self.rx.push(RxHeld { queue: queue.into_inner().unwrap(), token });
            }
        }
        Some(())
    }

    pub(crate) fn stop_tx(&mut self, queue: u8) -> Option<()> {
        let place = prefer(&self.tx, queue, |held| &held.token)?;
        let TxHeld { queue, token } = self.tx.remove(place);
        let number = queue.id();
        match queue.stop() {
            Ok(queue) => {
                assert!(can(&token) && queue.id() == number);
                self.stopped_tx.push(StoppedTxHeld { queue, token });
            }
            Err(QueueRefused { queue, error }) => {
                check_refusal(&token, &error);
                self.tx.push(TxHeld { queue: queue.into_inner().unwrap(), token });
            }
        }
        Some(())
    }

    pub(crate) fn start_rx(&mut self, queue: u8) -> Option<()> {
        let place = pick(&self.stopped_rx, queue)?;
        let StoppedRxHeld { queue, token } = self.stopped_rx.remove(place);
        let queue = queue.start().expect("a queue that was stopped starts");
        self.rx.push(RxHeld { queue, token });
        Some(())
    }

    pub(crate) fn start_tx(&mut self, queue: u8) -> Option<()> {
        let place = pick(&self.stopped_tx, queue)?;
        let StoppedTxHeld { queue, token } = self.stopped_tx.remove(place);
        let queue = queue.start().expect("a queue that was stopped starts");
        self.tx.push(TxHeld { queue, token });
        Some(())
    }

    pub(crate) fn end_stopped_rx(&mut self, context: &Context, queue: u8, end: StoppedEnd) -> Option<()> {
        let place = pick(&self.stopped_rx, queue)?;
        let held = self.stopped_rx.remove(place);
        match end {
            // Whether all queues are back is asked of the model and of the port, one after the other.
            StoppedEnd::GiveBack if context.is_quiet() => {
                let StoppedRxHeld { queue, token } = held;
                queue.give_back();
                take_back(&token, 1, 0);
            }
            StoppedEnd::GiveBack | StoppedEnd::Drop => End::Drop.apply(context, held),
            StoppedEnd::Forget => End::Forget.apply(context, held),
        }
        Some(())
    }

    pub(crate) fn end_stopped_tx(&mut self, context: &Context, queue: u8, end: StoppedEnd) -> Option<()> {
        let place = pick(&self.stopped_tx, queue)?;
        let held = self.stopped_tx.remove(place);
        match end {
            StoppedEnd::GiveBack if context.is_quiet() => {
                let StoppedTxHeld { queue, token } = held;
                queue.give_back();
                take_back(&token, 0, 1);
            }
            StoppedEnd::GiveBack | StoppedEnd::Drop => End::Drop.apply(context, held),
            StoppedEnd::Forget => End::Forget.apply(context, held),
        }
        Some(())
    }
}

impl Hands {
    /// Starts a port with all its queues stopped; those for sending go to another shelf.
    pub(crate) fn start_stopped<P: Kind, Q: Kind>(&mut self, port: u8) -> Option<()> {
        let shelf = P::shelf(self);
        let place = prefer(&shelf.configured, port, |held| &held.token)?;
        let PortHeld { port, token } = shelf.configured.remove(place);
        match port.start_stopped() {
            Ok((port, rx, tx)) => {
                assert!(can(&token));
                let counts = token.start();
                assert_eq!((rx.len(), tx.len()), counts);
                shelf.stopped_rx.extend(rx.into_iter().map(|queue| StoppedRxHeld { queue, token: Arc::clone(&token) }));
                shelf.started.push(PortHeld { port, token: Arc::clone(&token) });
                let tx = tx.into_iter().map(|queue| StoppedTxHeld { queue, token: Arc::clone(&token) });
                Q::shelf(self).stopped_tx.extend(tx);
            }
            // The port is closed.
            Err(error) => check_refusal(&token, &error),
        }
        Some(())
    }
}
