// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The progress of service cores that this crate has not started.

use dpdk_sys as sys;

/// The service cores that have services, each with its number of completed rounds.
///
/// Service cores from [`ServiceCore::start`](crate::service::ServiceCore::start) count as open scopes. These are the
/// others: the EAL's options `-s` and `-S` have created them, they call services of drivers, and they run until the EAL
/// ends.
pub(crate) struct Rounds(Vec<(u32, u64)>);

impl Rounds {
    /// Their present progress.
    pub(crate) fn now() -> Self {
        let mut lcores = [0; sys::RTE_MAX_LCORE as usize];
        // SAFETY: the array has room for all lcores. The call reads a DPDK table, which exists as long as the EAL.
        let count = unsafe { sys::rte_service_lcore_list(lcores.as_mut_ptr(), sys::RTE_MAX_LCORE) };
        let lcores = lcores.into_iter().take(usize::try_from(count).unwrap_or(0));
        Self(lcores.filter_map(|lcore| Some((lcore, rounds(lcore)?))).collect())
    }

    /// Whether each of them has ended the round that it was in.
    pub(crate) fn have_ended(&self) -> bool {
        // The end of the previous round may have been noticed late, so one more round is required.
        self.0.iter().all(|(lcore, before)| rounds(*lcore).is_none_or(|now| now.wrapping_sub(*before) >= 2))
    }
}

/// The number of rounds that a service core has completed; `None` if it has no services, and so makes no rounds.
fn rounds(lcore: u32) -> Option<u64> {
    // SAFETY: the call compares the number with DPDK's own list, and counts bits.
    if unsafe { sys::rte_service_lcore_count_services(lcore) } <= 0 {
        return None;
    }
    let mut rounds = 0;
    // SAFETY: the call compares the number with DPDK's own list, reads an atomic number, and writes to one of ours.
    let result = unsafe { sys::rte_service_lcore_attr_get(lcore, sys::RTE_SERVICE_LCORE_ATTR_LOOPS, &raw mut rounds) };
    (result == 0).then_some(rounds)
}
