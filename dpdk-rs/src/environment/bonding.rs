// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device of `net_bonding` combines, as its driver knows it. Its arguments do not show that: DPDK cuts their
//! numbers to 16 and to 8 bits.

use super::driver::{self, Danger};
use dpdk_sys as sys;

const BROADCAST: i32 = 3;

pub(crate) struct Bonding {
    mode: i32,
    /// The port that the device prefers, once it has members.
    primary: i32,
    /// Empty before it is configured.
    pub(crate) members: Vec<u16>,
}

impl Bonding {
    /// `None` if the port is of another driver.
    ///
    /// # Safety
    /// The information is that of the port, which is there.
    pub(crate) unsafe fn of(id: u16, info: &sys::rte_eth_dev_info) -> Option<Self> {
        if driver::name(info) != driver::BONDING {
            return None;
        }
        let mut bonding = sys::dpdk_sys_bonding::default();
        // SAFETY: the caller promises that `info` and its driver are those of the port; the call fills a struct of ours.
        let count = unsafe { sys::dpdk_sys_bonding_get(info, id, &raw mut bonding) };
        let members = usize::try_from(count).ok().and_then(|count| bonding.members.get(..count));
        // A driver that does not answer may do anything.
        let mode = if members.is_some() { bonding.mode } else { BROADCAST };
        Some(Self { mode, primary: bonding.primary, members: members.unwrap_or_default().to_vec() })
    }

    /// What would use an mbuf or a queue twice. In broadcast mode the driver sends one mbuf through several devices at
    /// once. A ring below it receives the mbuf several times, as separate packets. And the driver receives from its
    /// primary port even if that is not a member.
    pub(crate) fn danger(&self) -> Option<Danger> {
        if self.mode == BROADCAST {
            let allowed = format!("any other than broadcast, {BROADCAST}");
            return Some(("argument 'mode' of net_bonding", BROADCAST.cast_unsigned(), allowed));
        }
        let is_member = self.members.iter().any(|member| i32::from(*member) == self.primary);
        (!self.members.is_empty() && !is_member).then(|| {
            let allowed = format!("one of its members, {:?}", self.members);
            ("argument 'primary' of net_bonding", self.primary.cast_unsigned(), allowed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Bonding;

    #[test]
    fn neither_broadcasts_nor_uses_others_ports() {
        for (mode, primary, members, what) in [
            (0, -1, vec![], None),
            (1, 3, vec![2, 3], None),
            (3, -1, vec![], Some("argument 'mode' of net_bonding")),
            (1, 0, vec![2, 3], Some("argument 'primary' of net_bonding")),
        ] {
            assert_eq!(Bonding { mode, primary, members }.danger().map(|(what, ..)| what), what);
        }
    }
}
