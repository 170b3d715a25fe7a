// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The end of the EAL: it is cleaned up if no object is left; otherwise the reason is reported.

use super::{Environment, Role, ports, retired_pools::left_behind};
use crate::log;
use dpdk_sys as sys;

impl Drop for Environment {
    fn drop(&mut self) {
        // A secondary process skips clean-up: packets may be left, and it owns nothing here.
        if self.is_forked() || self.role == Role::Secondary {
            return;
        }
        let held = self.control_with_room().retired.len();
        // Mbufs in this memory may be left.
        left_behind().append(&mut self.control().retired);
        let reason = if !self.on_main_thread() {
            "the last object made from it was dropped on another thread".to_owned()
        } else if held > 0 {
            format!("{held} pools have mbufs that were never returned")
        } else if let Some(port) = ports::unclosable(&self.control()) {
            format!("port {port} stays open: {}", ports::LISTENS)
        } else {
            // SAFETY: every `Device` held a reference to this `Environment`, so none is left.
            unsafe { ports::close_rest(&self.control()) };
            // SAFETY: everything made from the EAL held a reference to this `Environment`, so nothing is left; this is
            // the thread that initialised it, and no pool is waiting for mbufs.
            unsafe { sys::rte_eal_cleanup() };
            return;
        };
        log::warn(&format!("the EAL is not cleaned up: {reason}"));
    }
}
