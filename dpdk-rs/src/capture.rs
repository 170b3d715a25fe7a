// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Capture of packets by another process: `dpdk-dumpcap`.

use crate::{Eal, Errno, environment::Environment};
use dpdk_sys as sys;
use std::sync::{Mutex, PoisonError};

/// Why capture was not enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// A child process created by `fork` has no packets: they belong to its parent.
    #[error("packets cannot be captured: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// The EAL does not let other processes attach.
    #[error(
        "packets cannot be captured: no other process can attach: leave out --no-huge, --no-shconf and --in-memory"
    )]
    NotShared,
    /// DPDK refused.
    #[error("packets cannot be captured: {0}")]
    Refused(Errno),
}

impl CaptureError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused(errno) = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused(_) = self { Some("rte_pdump_init") } else { None }
    }
}

/// Whether capture was enabled. It stays enabled: the callbacks of a running capture use what disabling would free.
static ENABLED: Mutex<bool> = Mutex::new(false);

impl Eal {
    /// Lets `dpdk-dumpcap`, started with this program's `--file-prefix`, capture the frames that the ports receive and
    /// send, until the EAL is cleaned up. It costs nothing until a capture begins.
    ///
    /// A capture needs hugepages, and an EAL to which other processes can attach: neither `--no-shconf` nor
    /// `--in-memory`. The capturing process is trusted; see the guarantees in the guide.
    ///
    /// # Errors
    /// See [`CaptureError`].
    #[doc(alias = "rte_pdump_init")]
    pub fn enable_capture(&self) -> Result<(), CaptureError> {
        let environment = self.environment();
        if environment.is_forked() {
            return Err(CaptureError::Forked);
        }
        let control = environment.control();
        if !Environment::can_be_attached_to(&control) {
            return Err(CaptureError::NotShared);
        }
        let mut enabled = ENABLED.lock().unwrap_or_else(PoisonError::into_inner);
        if !*enabled {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; it is called once.
            if unsafe { sys::rte_pdump_init() } < 0 {
                return Err(CaptureError::Refused(Errno::last()));
            }
            *enabled = true;
        }
        Ok(())
    }
}
