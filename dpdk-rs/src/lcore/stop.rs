// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How loops on several lcores are told to end.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Tells loops on other lcores and threads to end. Its clones are one token, and it stays stopped.
///
/// A loop that nobody stops keeps its [`scope`](super::scope) from ending, also when the scope's own closure has failed. With a
/// guard of [`stop_on_drop`](StopToken::stop_on_drop) all loops end together: at a signal, when the closure ends, at an early
/// `?`, and when any of them panics.
///
/// ```no_run
/// use dpdk_rs::{Burst, Eal, RxQueue, TxQueue, lcore::{self, StopToken}};
/// use std::{error::Error, thread, time::Duration};
///
/// fn forward(mut rx: RxQueue, mut tx: TxQueue, stop: &StopToken) {
///     let _guard = stop.stop_on_drop(); // should this loop panic, the others end too
///     let mut burst = Burst::<_, 32>::new();
///     while !stop.is_stopped() {
///         rx.rx(&mut burst);
///         tx.tx(&mut burst);
///         burst.clear();
///     }
/// }
///
/// fn run(eal: &Eal, queues: Vec<(RxQueue, TxQueue)>, stop: &StopToken) -> Result<(), Box<dyn Error>> {
///     for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
///         signal_hook::flag::register(signal, stop.flag())?;
///     }
///     lcore::scope(eal, |scope| {
///         let _guard = stop.stop_on_drop(); // should a launch fail, those before it end
///         for (lcore, (rx, tx)) in eal.worker_lcores().into_iter().zip(queues) {
///             scope.launch(lcore.id(), || forward(rx, tx, stop))?;
///         }
///         while !stop.is_stopped() {
///             thread::sleep(Duration::from_millis(10)); // statistics, control
///         }
///         Ok(())
///     })?
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopToken {
    flag: Arc<AtomicBool>,
}

impl StopToken {
    /// A token that is not stopped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops. What was written before is seen by who finds the token stopped.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Whether somebody has stopped it: a load, as cheap as that of an atomic that nobody writes.
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Stops when it is dropped, also by a panic or an early return.
    pub fn stop_on_drop(&self) -> StopGuard {
        StopGuard { token: self.clone() }
    }

    /// The flag itself, which is true once stopped: for `signal_hook::flag::register`, or a signal handler of your own.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// Stops its token when dropped; made by [`StopToken::stop_on_drop`].
#[derive(Debug)]
#[must_use = "it stops when it is dropped, which is at once"]
pub struct StopGuard {
    token: StopToken,
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.token.stop();
    }
}
