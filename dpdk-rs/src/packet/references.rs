// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! References to the data of packets: whether any data may have several, and the maximum number.

use super::error::PacketError;
use crate::{
    segment::Segment,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering::Relaxed},
        global,
    },
};
use std::sync::PoisonError;

global! {
    /// Whether a packet was ever shared in this process, or may come from another process, which does not report that it
    /// shares. Before that no two packets have data in common, and writers need not check reference counts. A thread that
    /// has one of two such packets received it after the store, whichever way it came.
    static ANY_SHARED: AtomicBool = AtomicBool::new(false);
}

/// DPDK counts references in 16 bits and does not check for overflow. One call adds a reference for each segment that
/// refers to a buffer, at most as many as are already counted, even if several threads share at once. So the count
/// stays below twice this number; the rest is a margin.
pub(super) const MOST_REFERENCES: u16 = 1 << 14;

global! {
    /// Taking a packet apart adds up to 40,000 references to a buffer that other packets refer to, and DPDK can count
    /// 65,535. So one thread at a time adds them, after checking the count.
    static COUNTING: Mutex<()> = Mutex::new(());
}

/// Why no references to a packet's data can be added.
#[derive(Clone, Copy)]
pub(crate) enum Unsharable {
    /// A thread of the parent process may hold the lock, and does not exist here.
    Forked,
    /// There are already [`MOST_REFERENCES`].
    Crowded,
}

/// Until the guard is dropped, the packet may be taken apart into packets that share its data.
pub(crate) fn begin_taking_apart(
    head: Segment<'_>,
    is_forked: impl FnOnce() -> bool,
) -> Result<Option<MutexGuard<'static, ()>>, Unsharable> {
    let references = || head.chain().map(Segment::references).max().unwrap_or(u16::MAX);
    let counting = if references() > 1 {
        if is_forked() {
            return Err(Unsharable::Forked);
        }
        Some(COUNTING.lock().unwrap_or_else(PoisonError::into_inner))
    } else {
        None
    };
    if references() >= MOST_REFERENCES {
        return Err(Unsharable::Crowded);
    }
    begin_sharing();
    Ok(counting)
}

/// Returns the segment, if its data may be written to.
#[inline(always)]
pub(crate) fn unshared(segment: Segment<'_>) -> Result<Segment<'_>, PacketError> {
    if ANY_SHARED.load(Relaxed) && segment.is_shared() { Err(PacketError::Shared) } else { Ok(segment) }
}

/// From now on packets may have data in common.
pub(crate) fn begin_sharing() {
    ANY_SHARED.store(true, Relaxed);
}
