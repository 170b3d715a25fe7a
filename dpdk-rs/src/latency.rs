// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long packets stay in the program, as DPDK measures it: from their reception to the moment that they are sent.

use crate::{Eal, Errno, eal::Environment};
use core::{ffi::CStr, fmt, time::Duration};
use dpdk_sys as sys;
use std::sync::{Arc, Mutex, PoisonError};

/// Why there are no latency statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LatencyError {
    /// A child made by `fork` has no packets: they are its parent's.
    #[error("no latency statistics: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// They were enabled before, and are so for good.
    #[error("latency statistics are enabled already")]
    Enabled,
    /// DPDK refused.
    #[error("cannot {action}: {errno}")]
    Refused {
        /// What was to be done.
        action: &'static str,
        /// The call.
        call: &'static str,
        /// DPDK's error.
        errno: Errno,
    },
}

impl LatencyError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }
}

/// Whether they were enabled. They stay so: lcores may be inside the callbacks that measure.
static ENABLED: Mutex<bool> = Mutex::new(false);

/// The longest interval: some 18 years.
const MOST_NANOS: u64 = u64::MAX >> 5;

/// What DPDK has measured, of all ports together. Zero before the first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latency {
    /// The shortest.
    pub min: Duration,
    /// An average in which older packets count ever less.
    pub average: Duration,
    /// The longest.
    pub max: Duration,
    /// By how much it changes from packet to packet, as RFC 3550 computes it.
    pub jitter: Duration,
}

/// The statistics; made by [`Eal::enable_latency_stats`].
#[derive(Clone)]
pub struct LatencyStats {
    environment: Arc<Environment>,
}

impl Eal {
    /// Measures from now on how long packets take from an RX queue to a TX queue, of the queues of all ports that are configured now:
    /// one packet in each `interval`, or every one if that is zero. The EAL measures until it is cleaned up; lcores that forward
    /// need not be stopped, but several at a time may spoil each other's averages.
    ///
    /// Received packets are marked for it by a dynamic field of the mbuf. It costs a look at each packet, and a lock for each burst.
    ///
    /// # Errors
    /// See [`LatencyError`].
    #[doc(alias = "rte_latencystats_init")]
    pub fn enable_latency_stats(&self, interval: Duration) -> Result<LatencyStats, LatencyError> {
        let environment = self.environment();
        if environment.is_forked() {
            return Err(LatencyError::Forked);
        }
        let _control = environment.control();
        let mut enabled = ENABLED.lock().unwrap_or_else(PoisonError::into_inner);
        if *enabled {
            return Err(LatencyError::Enabled);
        }
        // What was begun cannot be begun again.
        *enabled = true;
        // SAFETY: the call reads a number of this thread.
        let socket = unsafe { sys::rte_socket_id() };
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked.
        let result = unsafe { sys::rte_metrics_init(socket.cast_signed()) };
        check(result, "rte_metrics_init", "make room for metrics")?;
        // DPDK makes cycles of it, of which there are a few in each nanosecond, as a number of 64 bits.
        let nanos = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).min(MOST_NANOS);
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; without a function of
        // ours DPDK calls only its own.
        let result = unsafe { sys::rte_latencystats_init(nanos, None) };
        check(result, "rte_latencystats_init", "measure latency")?;
        Ok(LatencyStats { environment: Arc::clone(environment) })
    }
}

impl fmt::Debug for LatencyStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatencyStats").finish_non_exhaustive()
    }
}

impl LatencyStats {
    /// What was measured so far.
    ///
    /// # Errors
    /// See [`LatencyError`].
    #[doc(alias = "rte_latencystats_get")]
    pub fn read(&self) -> Result<Latency, LatencyError> {
        if self.environment.is_forked() {
            return Err(LatencyError::Forked);
        }
        let _control = self.environment.control();
        // SAFETY: without room the call only tells how many values there are.
        let count = unsafe { sys::rte_latencystats_get_names(core::ptr::null_mut(), 0) };
        let count = check(count, "rte_latencystats_get_names", "read latency")?;
        let mut names = vec![sys::rte_metric_name::default(); usize::from(count)];
        let mut values = vec![sys::rte_metric_value::default(); usize::from(count)];
        // SAFETY: there is room for `count` names.
        let result = unsafe { sys::rte_latencystats_get_names(names.as_mut_ptr(), count) };
        check(result, "rte_latencystats_get_names", "read latency")?;
        // SAFETY: there is room for `count` values, and the measuring has begun, since this object was made.
        let result = unsafe { sys::rte_latencystats_get(values.as_mut_ptr(), count) };
        check(result, "rte_latencystats_get", "read latency")?;
        let mut latency = Latency::default();
        for (name, value) in names.iter().zip(&values) {
            // SAFETY: the call filled the array with a string that ends within it.
            let name = unsafe { CStr::from_ptr(name.name.as_ptr()) };
            let place = match name.to_bytes() {
                b"min_latency_ns" => &mut latency.min,
                b"avg_latency_ns" => &mut latency.average,
                b"max_latency_ns" => &mut latency.max,
                b"jitter_ns" => &mut latency.jitter,
                _ => continue,
            };
            *place = Duration::from_nanos(value.value);
        }
        // Before the first packet the shortest may be the longest that there is.
        Ok(if latency.max.is_zero() { Latency::default() } else { latency })
    }
}

/// The result of a call, which may be an error number of either convention.
fn check(result: i32, call: &'static str, action: &'static str) -> Result<u16, LatencyError> {
    u16::try_from(result).map_err(|_| {
        let errno = if result == -1 { Errno::last() } else { Errno::new(result) };
        LatencyError::Refused { action, call, errno }
    })
}
