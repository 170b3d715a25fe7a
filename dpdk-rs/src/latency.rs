// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long packets stay in the program, as DPDK measures it: from reception to transmission.

use crate::{Eal, Errno, environment::Environment};
use core::{ffi::CStr, fmt, time::Duration};
use dpdk_sys as sys;
use std::sync::{Arc, Mutex, PoisonError};

/// Why latency statistics are not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LatencyError {
    /// A child process created by `fork` has no packets: they belong to its parent.
    #[error("no latency statistics: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// The statistics were already enabled, and cannot be disabled.
    #[error("latency statistics are already enabled")]
    Enabled,
    /// DPDK refused.
    #[error("cannot {action}: {errno}")]
    Refused {
        /// The action that failed.
        action: &'static str,
        /// The name of the DPDK function.
        call: &'static str,
        /// DPDK's error.
        errno: Errno,
    },
}

impl LatencyError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }
}

/// Whether the statistics were enabled. They stay enabled, since lcores may be inside the callbacks that measure.
static ENABLED: Mutex<bool> = Mutex::new(false);

/// The maximum interval in nanoseconds: about 18 years.
const MOST_NANOS: u64 = u64::MAX >> 5;

/// The measured latency of all ports together. Zero before the first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latency {
    /// The minimum.
    pub min: Duration,
    /// A moving average, in which older packets count less and less.
    pub average: Duration,
    /// The maximum.
    pub max: Duration,
    /// The variation from packet to packet, as in RFC 3550.
    pub jitter: Duration,
}

/// The latency statistics; from [`Eal::enable_latency_stats`].
#[derive(Clone)]
pub struct LatencyStats {
    environment: Arc<Environment>,
}

impl Eal {
    /// Starts measuring how long packets take from an RX queue to a TX queue, for all queues of the ports that are
    /// configured now. It measures one packet in each `interval`, or every packet if the interval is zero. The
    /// measuring ends when the EAL is cleaned up. Lcores may forward during this call. Several lcores that measure at
    /// the same time can falsify each other's averages.
    ///
    /// A dynamic field of the mbuf marks the measured packets. The cost is one check for each packet, and a lock for
    /// each burst.
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
        // Even if a call below fails, `rte_metrics_init` cannot be repeated.
        *enabled = true;
        // SAFETY: the call reads a number of this thread.
        let socket = unsafe { sys::rte_socket_id() };
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked.
        let result = unsafe { sys::rte_metrics_init(socket.cast_signed()) };
        check(result, "rte_metrics_init", "make room for metrics")?;
        // DPDK converts nanoseconds to cycles, a few for each, in 64 bits.
        let nanos = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).min(MOST_NANOS);
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. Without a
        // function of ours DPDK calls only its own.
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
    /// Reads the statistics measured so far.
    ///
    /// # Errors
    /// See [`LatencyError`].
    #[doc(alias = "rte_latencystats_get")]
    pub fn read(&self) -> Result<Latency, LatencyError> {
        if self.environment.is_forked() {
            return Err(LatencyError::Forked);
        }
        let _control = self.environment.control();
        // SAFETY: without room, the call only returns the number of values.
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
        // Before the first packet, DPDK's minimum may be the largest number.
        Ok(if latency.max.is_zero() { Latency::default() } else { latency })
    }
}

/// Checks the result of a call, which may be an error number of either sign.
fn check(result: i32, call: &'static str, action: &'static str) -> Result<u16, LatencyError> {
    u16::try_from(result).map_err(|_| {
        let errno = if result == -1 { Errno::last() } else { Errno::new(result) };
        LatencyError::Refused { action, call, errno }
    })
}
