// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lines of DPDK's log as `tracing` events.

use super::{error::LogError, steady::without_waiting};
use crate::callback::{Uncancelled, discard};
use core::ffi::c_char;
use dpdk_sys as sys;
use std::{
    cell::Cell,
    collections::BTreeMap,
    ffi::CStr,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

/// The target of the events.
pub(super) const TARGET: &str = "dpdk";

/// Whether the log goes to `tracing`.
static ON: AtomicBool = AtomicBool::new(false);

/// The names of log types that were looked up so far.
static NAMES: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Whether this thread is passing on a line.
    static PASSING_ON: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn is_on() -> bool {
    ON.load(SeqCst)
}

/// Sends DPDK's log to `tracing` instead of stderr, permanently. Call it before [`Eal::init`](crate::Eal::init) to
/// include the lines that `init` logs.
///
/// Each line becomes an event with the target `dpdk`, its type as the field `logtype`, and a level: `ERROR` for DPDK's
/// `ERR` and above, `WARN`, `INFO` for `NOTICE` and `INFO`, and `DEBUG`. DPDK's own levels filter the lines first
/// ([`set_level`](super::set_level)). An event is sent on the thread that writes the line, which may be one of DPDK's.
/// Lines that a subscriber makes DPDK log during the event are dropped, and so are the subscriber's panics.
///
/// ```no_run
/// dpdk_rs::log::to_tracing()?;
/// let (_eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LogError::NoMemory`].
#[doc(alias = "rte_openlog_stream")]
pub fn to_tracing() -> Result<(), LogError> {
    if ON.swap(true, SeqCst) {
        return Ok(());
    }
    // SAFETY: DPDK allows redirecting the log at any time, and `pass_on` accepts whatever is written.
    if unsafe { sys::dpdk_sys_log_to(Some(pass_on)) } < 0 {
        ON.store(false, SeqCst);
        return Err(LogError::NoMemory);
    }
    Ok(())
}

/// The function that DPDK's log writes to, usually with one line.
///
/// # Safety
/// `text` points to `len` bytes.
unsafe extern "C" fn pass_on(level: u32, log_type: u32, text: *const c_char, len: usize) {
    if text.is_null() || PASSING_ON.replace(true) {
        return;
    }
    // DPDK's own threads log too.
    let _uncancelled = Uncancelled::hold();
    // SAFETY: the caller promises `len` bytes.
    let text = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), len) };
    let events = || {
        let name = name_of(log_type);
        for line in String::from_utf8_lossy(text).lines().filter(|line| !line.is_empty()) {
            event(level, &name, line);
        }
    };
    if let Err(payload) = without_waiting(|| panic::catch_unwind(AssertUnwindSafe(events))) {
        discard(payload);
    }
    PASSING_ON.set(false);
}

fn event(level: u32, logtype: &str, line: &str) {
    match level {
        0..=sys::RTE_LOG_ERR => tracing::error!(target: TARGET, logtype, "{line}"),
        sys::RTE_LOG_WARNING => tracing::warn!(target: TARGET, logtype, "{line}"),
        sys::RTE_LOG_NOTICE | sys::RTE_LOG_INFO => tracing::info!(target: TARGET, logtype, "{line}"),
        _ => tracing::debug!(target: TARGET, logtype, "{line}"),
    }
}

/// The name of a log type, or its number.
fn name_of(log_type: u32) -> String {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if !names.contains_key(&log_type) {
        names.extend(types());
    }
    names.entry(log_type).or_insert_with(|| log_type.to_string()).clone()
}

/// All log types, parsed from DPDK's list, which has lines such as `id 0: lib.eal, level is info`.
fn types() -> BTreeMap<u32, String> {
    // SAFETY: the call allocates a string, or returns null if memory is short.
    let list = unsafe { sys::dpdk_sys_log_types() };
    if list.is_null() {
        return BTreeMap::new();
    }
    // SAFETY: a list that is not null is a string.
    let text = unsafe { CStr::from_ptr(list) }.to_string_lossy().into_owned();
    // SAFETY: the string is from C's heap, and nobody else has it.
    unsafe { sys::dpdk_sys_log_types_free(list) };
    text.lines().filter_map(parse_type).collect()
}

fn parse_type(line: &str) -> Option<(u32, String)> {
    let (id, rest) = line.strip_prefix("id ")?.split_once(": ")?;
    let (name, _) = rest.rsplit_once(", level is ")?;
    Some((id.parse().ok()?, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::parse_type;

    #[test]
    fn types_are_read_from_dpdks_list() {
        assert_eq!(parse_type("id 47: pmd.net.tap, level is notice"), Some((47, "pmd.net.tap".to_owned())));
        for other in ["global log level is debug", "id x: lib.eal, level is info", "id 1: lib.eal", ""] {
            assert_eq!(parse_type(other), None);
        }
    }
}
