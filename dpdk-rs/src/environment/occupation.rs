// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The state of each lcore with respect to this crate's closures.

use super::ControlGuard;
use crate::ids::LcoreId;
use core::sync::atomic::{AtomicU8, Ordering};
use dpdk_sys as sys;

/// The state of an lcore, as `launch` knows it.
pub(crate) struct Occupation(AtomicU8);

impl Occupation {
    /// No closure was ever launched.
    const NONE: u8 = 0;
    const CLOSURE: u8 = 1;
    /// The closure has ended. The lcore is leaving DPDK's launch code, or has left it.
    pub(crate) const LEAVING: u8 = 2;

    pub(crate) const fn new() -> Self {
        Self(AtomicU8::new(Self::NONE))
    }

    /// Reserves the lcore for another closure. Returns its previous state, or `None` if it is busy.
    fn reserve(&self) -> Option<u8> {
        Some(self.0.swap(Self::CLOSURE, Ordering::AcqRel)).filter(|before| *before != Self::CLOSURE)
    }

    /// Reserves the lcore after it has left DPDK's launch code. Returns false if it is busy, or is not a worker of the
    /// EAL: nothing can be launched on a thread of the program that is registered as an lcore.
    pub(crate) fn claim(&self, lcore: LcoreId, control: ControlGuard<'_>) -> bool {
        // SAFETY: the EAL is initialised, since its control plane is locked. The call looks the number up in a table, which is
        // changed with the control plane locked.
        let role = unsafe { sys::rte_eal_lcore_role(lcore.get()) };
        drop(control);
        if role != sys::ROLE_RTE {
            return false;
        }
        let before = self.reserve();
        if before == Some(Self::LEAVING) {
            // Its closure has ended, so whoever joined it may expect that another one can be launched.
            // SAFETY: the lcore exists, since a closure was launched on it before. That closure has ended, so the wait
            // is short, and `reserve` keeps others from launching there during the wait.
            unsafe { sys::rte_eal_wait_lcore(lcore.get()) };
        }
        before.is_some()
    }

    /// Releases an idle lcore.
    pub(crate) fn release(&self) {
        self.set(Self::NONE);
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.0.load(Ordering::Acquire) == Self::LEAVING
    }

    pub(crate) fn set(&self, occupation: u8) {
        self.0.store(occupation, Ordering::Release);
    }
}
