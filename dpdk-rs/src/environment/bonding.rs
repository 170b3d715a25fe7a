// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device of `net_bonding` combines, as its driver knows it. Its arguments do not show that: DPDK cuts their
//! numbers to 16 and to 8 bits.

use super::{
    DeviceInfo,
    driver::{self, Danger},
};
use core::{ffi::c_void, ptr, time::Duration};
use dpdk_sys as sys;
use std::sync::{
    Condvar, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

const BROADCAST: i32 = 3;

/// The modes that keep to what an mbuf is: the driver sends it once, and does not write to its data.
const HARMLESS_MODES: [i32; 4] = [0, 1, 2, 4];

/// How often a device asks its members for their links. No argument changes it.
const POLLING_PERIOD_US: u64 = 10_000;

/// An alarm that has not run by then will not run: nothing is left to call it, or what calls it waits for us.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Bonding {
    mode: i32,
    /// The port that the device prefers, once it has members.
    primary: i32,
    /// Empty before it is configured.
    pub(crate) members: Vec<u16>,
}

impl Bonding {
    /// `None` if the port is of another driver.
    pub(crate) fn of(info: &DeviceInfo<'_>) -> Option<Self> {
        if driver::name(info) != driver::BONDING {
            return None;
        }
        let mut bonding = sys::dpdk_sys_bonding::default();
        // SAFETY: the information is that of the port, which is there; the call fills a struct of ours.
        let count = unsafe { sys::dpdk_sys_bonding_get(&raw const **info, info.port(), &raw mut bonding) };
        let members = usize::try_from(count).ok().and_then(|count| bonding.members.get(..count));
        // A driver that does not answer may do anything.
        let mode = if members.is_some() { bonding.mode } else { BROADCAST };
        Some(Self { mode, primary: bonding.primary, members: members.unwrap_or_default().to_vec() })
    }

    /// What would use an mbuf or a queue twice. In broadcast mode the driver sends one mbuf through several devices at
    /// once. A ring below it receives the mbuf several times, as separate packets. In the modes 5 and 6, which balance
    /// the load of transmission, it writes addresses to frames that may have a second owner. And the driver receives
    /// from its primary port even if that is not a member.
    pub(crate) fn danger(&self) -> Option<Danger> {
        if !HARMLESS_MODES.contains(&self.mode) {
            let allowed = format!("one of {HARMLESS_MODES:?}");
            return Some(("argument 'mode' of net_bonding", self.mode.cast_unsigned(), allowed));
        }
        let is_member = self.members.iter().any(|member| i32::from(*member) == self.primary);
        (!self.members.is_empty() && !is_member).then(|| {
            let allowed = format!("one of its members, {:?}", self.members);
            ("argument 'primary' of net_bonding", self.primary.cast_unsigned(), allowed)
        })
    }
}

/// Waits for the alarm of a start that has failed: the driver has set it, does not cancel it, and reads in it the port
/// that has this number by then. DPDK runs alarms on one thread, in the order of their times, so that one of our own runs
/// after it. Whether it has run.
pub(crate) fn outlast_alarm() -> bool {
    let number = SET.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: `reached` may be called at any time, with any argument.
    let set = unsafe { sys::rte_eal_alarm_set(POLLING_PERIOD_US, Some(reached), ptr::without_provenance_mut(number)) };
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = CHANGED.wait_timeout_while(last, PATIENCE, |last| set == 0 && *last < number);
    *waited.unwrap_or_else(PoisonError::into_inner).0 >= number
}

/// How many alarms were set.
static SET: AtomicUsize = AtomicUsize::new(0);

/// The number of the last alarm that has run.
static LAST: Mutex<usize> = Mutex::new(0);

/// Says that it has changed.
static CHANGED: Condvar = Condvar::new();

/// What DPDK calls. Its argument is the number of the alarm, and is not followed.
extern "C" fn reached(number: *mut c_void) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = number.addr();
    CHANGED.notify_all();
}

#[cfg(test)]
mod tests {
    use super::Bonding;

    #[test]
    fn neither_broadcasts_nor_writes_to_frames_nor_uses_others_ports() {
        for (mode, primary, members, what) in [
            (0, -1, vec![], None),
            (1, 3, vec![2, 3], None),
            (3, -1, vec![], Some("argument 'mode' of net_bonding")),
            (4, -1, vec![], None),
            (5, -1, vec![], Some("argument 'mode' of net_bonding")),
            (6, -1, vec![], Some("argument 'mode' of net_bonding")),
            (1, 0, vec![2, 3], Some("argument 'primary' of net_bonding")),
        ] {
            assert_eq!(Bonding { mode, primary, members }.danger().map(|(what, ..)| what), what);
        }
    }
}
