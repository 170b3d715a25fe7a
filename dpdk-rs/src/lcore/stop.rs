// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The signal that ends loops on several lcores.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Tells loops on other lcores and threads to end. All clones are one token, which stays stopped.
///
/// A loop that nobody stops keeps its [`scope`](super::scope) from ending, even after the scope's own closure has
/// failed. With a guard from [`stop_on_drop`](StopToken::stop_on_drop) all loops end together: at a signal, at the end
/// of the closure, at an early `?`, and when any of them panics.
///
/// ```no_run
/// use dpdk_rs::{Burst, Eal, RxQueue, TxQueue, lcore::{self, StopToken}};
/// use std::{error::Error, thread, time::Duration};
///
/// fn forward(mut rx: RxQueue, mut tx: TxQueue, stop: &StopToken) {
///     let _guard = stop.stop_on_drop(); // if this loop panics, the others end too
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
///         let _guard = stop.stop_on_drop(); // if a launch fails, the loops launched before it end
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

    /// Stops the token. Whoever then finds the token stopped sees all writes made before this call.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Whether the token is stopped. The call is a load of an atomic that is written once.
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Returns a guard that stops the token when it is dropped, also by a panic or an early return.
    pub fn stop_on_drop(&self) -> StopGuard {
        StopGuard { token: self.clone() }
    }

    /// The flag itself, which becomes true when the token is stopped: for `signal_hook::flag::register`, or for your
    /// own signal handler.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// Stops its token when it is dropped; from [`StopToken::stop_on_drop`].
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
