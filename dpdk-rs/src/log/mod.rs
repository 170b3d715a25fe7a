// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! DPDK's log: levels by type, and the program's own lines. With the feature `tracing`, DPDK's lines can become
//! `tracing` events, or the other way round.
//!
//! Each line has a type, such as `lib.eal` or `pmd.net.ixgbe.init`, and a level. A line is written only if its level is
//! at least as important as the level of its type. The log goes to stderr. While [`Eal::init`](crate::Eal::init) runs
//! on one thread, the functions of this module block on other threads.
//!
//! ```no_run
//! use dpdk_rs::log::{self, Level, LogType};
//!
//! let (_eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
//! log::set_level("pmd.net.*", Level::Debug)?;
//! log::write(LogType::User1, Level::Notice, "the table was read again");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
#[cfg(feature = "tracing")]
mod events;
mod steady;
#[cfg(feature = "tracing")]
mod subscriber;

pub use error::LogError;
#[cfg(feature = "tracing")]
pub use events::to_tracing;
#[cfg(feature = "tracing")]
pub use subscriber::LogSubscriber;

use dpdk_sys as sys;
use std::{ffi::CString, io};
use steady::Steady;
pub(crate) use steady::while_types_are_added;

/// How important a line is. A lower number is more important.
#[doc(alias = "RTE_LOG_INFO")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Level {
    /// The system is unusable.
    Emergency = sys::RTE_LOG_EMERG,
    /// Somebody must act at once.
    Alert = sys::RTE_LOG_ALERT,
    /// A critical part has failed.
    Critical = sys::RTE_LOG_CRIT,
    /// Something has failed.
    Error = sys::RTE_LOG_ERR,
    /// Something may fail.
    Warning = sys::RTE_LOG_WARNING,
    /// A normal but important event.
    Notice = sys::RTE_LOG_NOTICE,
    /// An informational message.
    Info = sys::RTE_LOG_INFO,
    /// A message for debugging.
    Debug = sys::RTE_LOG_DEBUG,
}

/// The types of an application's lines. Each type has its own level, and is named in the log.
#[doc(alias = "RTE_LOGTYPE_USER1")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LogType {
    /// `user1`.
    User1 = sys::RTE_LOGTYPE_USER1,
    /// `user2`.
    User2 = sys::RTE_LOGTYPE_USER2,
    /// `user3`.
    User3 = sys::RTE_LOGTYPE_USER3,
    /// `user4`.
    User4 = sys::RTE_LOGTYPE_USER4,
    /// `user5`.
    User5 = sys::RTE_LOGTYPE_USER5,
    /// `user6`.
    User6 = sys::RTE_LOGTYPE_USER6,
    /// `user7`.
    User7 = sys::RTE_LOGTYPE_USER7,
    /// `user8`.
    User8 = sys::RTE_LOGTYPE_USER8,
}

/// Sets the level of all types whose names match a pattern, such as `pmd.net.*`; `*` matches all. The EAL's option
/// `--log-level` does the same, also for types that a driver adds later.
///
/// # Errors
/// See [`LogError`].
#[doc(alias = "rte_log_set_level_pattern")]
pub fn set_level(pattern: &str, level: Level) -> Result<(), LogError> {
    let _types = Steady::begin();
    let text = CString::new(pattern).map_err(|_| LogError::Pattern(pattern.to_owned()))?;
    // SAFETY: the call reads a string of ours, and writes numbers to DPDK's table, which exists even without an EAL.
    if unsafe { sys::rte_log_set_level_pattern(text.as_ptr(), level as u32) } < 0 {
        return Err(LogError::NoMemory);
    }
    Ok(())
}

/// Omits all lines that are less important than this level, of any type. Initially none are omitted.
#[doc(alias = "rte_log_set_global_level")]
pub fn set_global_level(level: Level) {
    // SAFETY: the call writes a number, which exists even without an EAL.
    unsafe { sys::rte_log_set_global_level(level as u32) };
}

/// Whether lines of this type and level are written.
#[doc(alias = "rte_log_can_log")]
#[must_use]
pub fn is_enabled(log_type: LogType, level: Level) -> bool {
    let _types = Steady::begin();
    // SAFETY: the call compares numbers, which exist even without an EAL.
    unsafe { sys::rte_log_can_log(log_type as u32, level as u32) }
}

/// Writes a line. A NUL byte ends the line.
#[doc(alias = "rte_log")]
pub fn write(log_type: LogType, level: Level, line: &str) {
    let _types = Steady::begin();
    let until = line.find('\0').unwrap_or(line.len());
    let line = line.get(..until).and_then(|line| CString::new(line).ok()).unwrap_or_default();
    // SAFETY: the line is a string of ours, and the call keeps no pointer to it.
    unsafe { sys::dpdk_sys_log(level as u32, log_type as u32, line.as_ptr()) };
}

/// Writes a warning of this crate.
pub(crate) fn warn(message: &str) {
    if let Ok(message) = CString::new(message) {
        // SAFETY: the message is a string of ours, and the call keeps no pointer to it.
        unsafe { sys::dpdk_sys_log_warning(message.as_ptr()) };
    }
}

/// Sends the log to stderr, unless it goes to `tracing`.
pub(crate) fn begin() {
    #[cfg(feature = "tracing")]
    if events::is_on() {
        return;
    }
    // SAFETY: DPDK allows redirecting the log at any time, even before it is initialised. `stderr` is never closed.
    unsafe { sys::dpdk_sys_log_to_stderr() };
}

/// A writer whose lines go to DPDK's log, for another kind of logger.
///
/// ```no_run
/// use dpdk_rs::log::{Level, LogType, LogWriter};
/// use std::io::Write;
///
/// writeln!(LogWriter::new(LogType::User2, Level::Info), "{} routes", 7)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LogWriter {
    log_type: LogType,
    level: Level,
    line: Vec<u8>,
}

impl LogWriter {
    /// A writer of lines of this type and level.
    #[must_use]
    pub const fn new(log_type: LogType, level: Level) -> Self {
        Self { log_type, level, line: Vec::new() }
    }
}

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece.strip_suffix(b"\n").unwrap_or(piece));
            if piece.ends_with(b"\n") {
                write(self.log_type, self.level, &String::from_utf8_lossy(&self.line));
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    /// Writes the current line, if there is one.
    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            write(self.log_type, self.level, &String::from_utf8_lossy(&self.line));
            self.line.clear();
        }
        Ok(())
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        let _ = io::Write::flush(self);
    }
}
