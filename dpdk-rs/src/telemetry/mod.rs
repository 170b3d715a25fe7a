// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The program's own commands on DPDK's telemetry socket.
//!
//! ```no_run
//! use dpdk_rs::{Eal, EalOptions, telemetry::Value};
//!
//! let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
//! let _command = eal.register_telemetry("/greeter/greet", "Greets. Takes a name.", |name| {
//!     Value::dict([("greeting", Value::from(format!("hello {name}"))), ("length", Value::from(name.len() as u64))])
//! })?;
//! // … dpdk-telemetry.py: --> /greeter/greet,world
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod value;

pub use value::Value;

use crate::{Eal, Errno, callback::Callbacks, environment::Environment, log, sync::global};
use core::{
    ffi::{CStr, c_char, c_int},
    fmt,
    ptr::NonNull,
};
use dpdk_sys::{self as sys, rte_tel_data};
use std::{
    collections::BTreeSet,
    ffi::CString,
    sync::{Arc, Mutex, PoisonError},
};
use value::{check, fill};

/// Why a command was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The command or its help contains a NUL byte, or a character that is not ASCII.
    #[error("telemetry command {0:?} or its help cannot be used: give ASCII characters, and no NUL byte")]
    Name(String),
    /// The program has already registered this command.
    #[error("telemetry command '{0}' is already registered")]
    Taken(String),
    /// A child process created by `fork` has no telemetry: it belongs to its parent.
    #[error("telemetry command '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// DPDK refused.
    #[error(
        "cannot register telemetry command '{command}': {errno}: a command begins with '/' and has up to 55 letters, digits, \
         '_' and '/', its help up to 127 bytes"
    )]
    Refused {
        /// The command.
        command: String,
        /// DPDK's error.
        errno: Errno,
    },
}

impl TelemetryError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { .. } = self { Some("rte_telemetry_register_cmd") } else { None }
    }
}

type Answer = Box<dyn FnMut(&str) -> Value + Send>;

global! {
    /// The closures, by command.
    static COMMANDS: Callbacks<CString, Answer> = Callbacks::new();
}

/// The commands that DPDK knows. DPDK forgets none.
static KNOWN: Mutex<BTreeSet<CString>> = Mutex::new(BTreeSet::new());

/// A command on the telemetry socket; from [`Eal::register_telemetry`]. After this object is dropped, the answer is
/// `null`.
#[must_use = "the command is answered until this is dropped"]
pub struct TelemetryCommand {
    environment: Arc<Environment>,
    command: CString,
}

impl Eal {
    /// Registers a command on DPDK's telemetry socket, to which `dpdk-telemetry.py` connects. `answer` is called with
    /// the text after the command and a comma, or with an empty text.
    ///
    /// The closure runs on a DPDK thread, one call at a time. A panic in it is caught and answered by `null`. A value
    /// that DPDK cannot send, such as a dictionary with an invalid name, is answered by `{"error": "..."}` with the
    /// reason, which DPDK's log has too. With the EAL's option `--no-telemetry` there is no socket.
    ///
    /// # Errors
    /// See [`TelemetryError`].
    #[doc(alias = "rte_telemetry_register_cmd")]
    pub fn register_telemetry(
        &self,
        command: &str,
        help: &str,
        answer: impl FnMut(&str) -> Value + Send + 'static,
    ) -> Result<TelemetryCommand, TelemetryError> {
        let environment = self.environment();
        if environment.is_forked() {
            return Err(TelemetryError::Forked(command.to_owned()));
        }
        let ascii = |text: &str| CString::new(text).ok().filter(|_| text.is_ascii());
        let (Some(name), Some(help)) = (ascii(command), ascii(help)) else {
            return Err(TelemetryError::Name(command.to_owned()));
        };
        // Without holding the lock below: a rejected closure is dropped, and its drop may call this function.
        if !COMMANDS.add(name.clone(), Box::new(answer)) {
            return Err(TelemetryError::Taken(command.to_owned()));
        }
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&name) {
            // SAFETY: DPDK copies both strings, and calls `respond` with a command, the text after it, and data to
            // fill.
            let result = unsafe { sys::rte_telemetry_register_cmd(name.as_ptr(), Some(respond), help.as_ptr()) };
            if let Err(errno) = Errno::check(result) {
                drop(known);
                COMMANDS.remove(&name);
                return Err(TelemetryError::Refused { command: command.to_owned(), errno });
            }
            known.insert(name.clone());
        }
        Ok(TelemetryCommand { environment: Arc::clone(environment), command: name })
    }
}

impl TelemetryCommand {
    /// The command, such as `/l2fwd/stats`.
    #[must_use]
    pub fn command(&self) -> &str {
        self.command.to_str().unwrap_or_default()
    }
}

impl Drop for TelemetryCommand {
    fn drop(&mut self) {
        // In a child process created by `fork`, threads that it lacks may hold the locks.
        if !self.environment.is_forked() {
            COMMANDS.remove(&self.command);
        }
    }
}

impl fmt::Debug for TelemetryCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryCommand").field("command", &self.command()).finish_non_exhaustive()
    }
}

/// The function that DPDK calls for each command. DPDK answers a negative result by `null`.
///
/// # Safety
/// `command` is a string, `parameters` is a string or null, and `data` may be filled.
unsafe extern "C" fn respond(command: *const c_char, parameters: *const c_char, data: *mut rte_tel_data) -> c_int {
    let Some(data) = NonNull::new(data) else { return -1 };
    // SAFETY: the caller promises a string.
    let command = unsafe { CStr::from_ptr(command) };
    let parameters = if parameters.is_null() {
        c""
    } else {
        // SAFETY: the caller promises a string if the pointer is not null.
        unsafe { CStr::from_ptr(parameters) }
    };
    let Some(value) = COMMANDS.call(&command.to_owned(), |answer| answer(&parameters.to_string_lossy())) else {
        return -1;
    };
    let refused = |reason: &str| {
        log::warn(&format!("the answer to telemetry command {} is refused: {reason}", command.to_string_lossy()));
    };
    let value = match check(&value) {
        Ok(()) => value,
        Err(reason) => {
            refused(&reason);
            error(&reason)
        }
    };
    // SAFETY: the caller promises data that may be filled.
    match unsafe { fill(data, &value) } {
        Ok(()) => 0,
        Err(reason) => {
            refused(&reason);
            -1
        }
    }
}

/// The answer in place of a rejected value: the reason, within DPDK's limits.
fn error(reason: &str) -> Value {
    let sendable = |character: char| if character == ' ' || character.is_ascii_graphic() { character } else { '?' };
    let most = sys::RTE_TEL_MAX_STRING_LEN as usize - 1;
    Value::dict([("error", Value::Text(reason.chars().map(sendable).take(most).collect()))])
}

#[cfg(test)]
mod tests {
    use super::{check, error};

    #[test]
    fn every_reason_can_be_sent() {
        for reason in ["the name \"a b\"", "a text with 'ü'", "a\0b", &"ü".repeat(200)] {
            assert_eq!(check(&error(reason)), Ok(()));
        }
    }
}
