// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Commands on DPDK's telemetry socket, answered by the program.
//!
//! ```no_run
//! use dpdk_rs::{Eal, telemetry::Value};
//!
//! let (eal, _args) = Eal::init(std::env::args())?;
//! let _command = eal.register_telemetry("/greeter/greet", "Greets. Takes a name.", |name| {
//!     Value::dict([("greeting", Value::from(format!("hello {name}"))), ("length", Value::from(name.len() as u64))])
//! })?;
//! // … dpdk-telemetry.py: --> /greeter/greet,world
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{Eal, Errno, callback::Callbacks, eal, eal::Environment};
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

/// What a command answers; JSON on the socket, of at most 16,000 bytes. Texts are of ASCII: DPDK reads others wrong.
#[doc(alias = "rte_tel_data")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A text, of at most 127 bytes within something else, of at most 8,191 alone.
    Text(String),
    /// A signed number. Alone it is answered as a text.
    Int(i32),
    /// An unsigned number. Alone it is answered as a text.
    Uint(u64),
    /// At most 512 texts.
    Texts(Vec<String>),
    /// At most 512 numbers.
    Uints(Vec<u64>),
    /// At most 256 values by name, in dictionaries within dictionaries up to a depth of 4. Names are of letters, digits, `_`
    /// and `/`.
    Dict(Vec<(String, Value)>),
}

impl Value {
    /// Values by name.
    pub fn dict<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Dict(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

/// Declares what becomes which value.
macro_rules! from {
    ($($type:ty => $variant:ident),*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

from!(String => Text, &str => Text, i32 => Int, u64 => Uint, u32 => Uint, u16 => Uint, Vec<String> => Texts, Vec<u64> => Uints);

/// Why a command was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The command or its help has a NUL byte, or a character that is not ASCII.
    #[error("telemetry command {0:?} or its help cannot be used: give ASCII characters, and no NUL byte")]
    Name(String),
    /// The program has such a command already.
    #[error("telemetry command '{0}' is registered already")]
    Taken(String),
    /// A child made by `fork` has no telemetry: it is its parent's.
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
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { .. } = self { Some("rte_telemetry_register_cmd") } else { None }
    }
}

type Answer = Box<dyn FnMut(&str) -> Value + Send>;

/// What answers, by command.
static COMMANDS: Callbacks<CString, Answer> = Callbacks::new();

/// What DPDK knows. It forgets no command.
static KNOWN: Mutex<BTreeSet<CString>> = Mutex::new(BTreeSet::new());

/// A command on the telemetry socket; made by [`Eal::register_telemetry`]. Once this is dropped the answer is `null`.
#[must_use = "the command is answered until this is dropped"]
pub struct TelemetryCommand {
    environment: Arc<Environment>,
    command: CString,
}

impl Eal {
    /// Has `answer` answer a command on DPDK's telemetry socket, which `dpdk-telemetry.py` talks to: it is given what stands
    /// behind the command and a comma, or an empty text.
    ///
    /// The closure runs on a thread of DPDK, one call at a time. A panic in it is caught, and answered by `null`, as is a value
    /// that DPDK cannot tell; then its log says why. With the EAL's option `--no-telemetry` nobody asks.
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
        // Without the lock below: a closure that is refused is dropped, and may come here again then.
        if !COMMANDS.add(name.clone(), Box::new(answer)) {
            return Err(TelemetryError::Taken(command.to_owned()));
        }
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&name) {
            // SAFETY: DPDK copies both strings, and calls `respond` with a command, what is behind it, and data to be filled.
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
        // In a child made by `fork` the locks may be held by threads that it lacks.
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

/// What DPDK calls for each command. A negative result is answered by `null`.
///
/// # Safety
/// `command` is a string, `parameters` one or null, and `data` may be filled.
unsafe extern "C" fn respond(command: *const c_char, parameters: *const c_char, data: *mut rte_tel_data) -> c_int {
    let Some(data) = NonNull::new(data) else { return -1 };
    // SAFETY: the caller promises a string.
    let command = unsafe { CStr::from_ptr(command) };
    let parameters = if parameters.is_null() {
        c""
    } else {
        // SAFETY: the caller promises a string where there is one.
        unsafe { CStr::from_ptr(parameters) }
    };
    let Some(value) = COMMANDS.call(&command.to_owned(), |answer| answer(&parameters.to_string_lossy())) else {
        return -1;
    };
    let told = check(&value).and_then(|()| {
        // SAFETY: the caller promises data that may be filled.
        unsafe { fill(data, &value) }
    });
    match told {
        Ok(()) => 0,
        Err(reason) => {
            eal::log(&format!(
                "the answer to telemetry command {} cannot be told: {reason}",
                command.to_string_lossy()
            ));
            -1
        }
    }
}

/// The deepest dictionary in dictionaries: DPDK takes 16 kB of its thread's stack for each.
const DEPTH: usize = 4;

/// The most bytes of JSON. DPDK has 16,384 for the command, the value and what it puts between them, leaves out what does not
/// fit, and up to 22.11 at least writes one byte too far if what is left over is as short as a quoted character.
const MOST_JSON: usize = 16_000;

/// Whether DPDK can tell a value.
fn check(value: &Value) -> Result<(), String> {
    limits(value, 0)?;
    match json_len(value) {
        0..=MOST_JSON => Ok(()),
        len => Err(format!("{len} bytes of JSON, where {MOST_JSON} are the most")),
    }
}

/// How many bytes of JSON a value is.
fn json_len(value: &Value) -> usize {
    // DPDK quotes some characters, and leaves some out.
    let text =
        |text: &str| 2 + text.bytes().map(|byte| if b"\"\\\n\r\t".contains(&byte) { 2 } else { 1 }).sum::<usize>();
    // What is around them, and what is between them.
    let many = |lens: &mut dyn Iterator<Item = usize>| 2 + lens.map(|len| len + 1).sum::<usize>().saturating_sub(1);
    match value {
        Value::Text(value) => text(value),
        Value::Int(number) => 2 + number.to_string().len(),
        Value::Uint(number) => 2 + number.to_string().len(),
        Value::Texts(values) => many(&mut values.iter().map(|value| text(value))),
        Value::Uints(values) => many(&mut values.iter().map(|number| number.to_string().len())),
        Value::Dict(entries) => many(&mut entries.iter().map(|(name, value)| text(name) + 1 + json_len(value))),
    }
}

/// Whether DPDK has room for each part of a value, and reads its texts right.
fn limits(value: &Value, depth: usize) -> Result<(), String> {
    let within = |what, count: usize, most: u32| {
        if count <= most as usize { Ok(()) } else { Err(format!("{count} {what}, where {most} are the most")) }
    };
    let text = |text: &str, most| {
        if text.contains('\0') {
            return Err("a text with a NUL byte".to_owned());
        }
        // DPDK looks up what to do with a character in a table, and takes bytes from 128 on for negative numbers.
        if let Some(other) = text.chars().find(|character| !character.is_ascii()) {
            return Err(format!("a text with {other:?}, where ASCII is all that it knows"));
        }
        within("bytes of text", text.len(), most - 1)
    };
    match value {
        Value::Text(value) if depth == 0 => text(value, sys::RTE_TEL_MAX_SINGLE_STRING_LEN),
        Value::Text(value) => text(value, sys::RTE_TEL_MAX_STRING_LEN),
        Value::Int(_) | Value::Uint(_) => Ok(()),
        Value::Uints(values) => within("numbers", values.len(), sys::RTE_TEL_MAX_ARRAY_ENTRIES),
        Value::Texts(values) => {
            within("texts", values.len(), sys::RTE_TEL_MAX_ARRAY_ENTRIES)?;
            values.iter().try_for_each(|value| text(value, sys::RTE_TEL_MAX_STRING_LEN))
        }
        Value::Dict(entries) => {
            within("dictionaries in each other", depth, DEPTH as u32)?;
            within("entries", entries.len(), sys::RTE_TEL_MAX_DICT_ENTRIES)?;
            for (name, value) in entries {
                text(name, sys::RTE_TEL_MAX_STRING_LEN)?;
                if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/".contains(&byte)) {
                    return Err(format!("the name {name:?}, which may have letters, digits, '_' and '/'"));
                }
                limits(value, depth + 1)?;
            }
            Ok(())
        }
    }
}

/// Writes a value within its limits.
///
/// # Safety
/// `data` may be filled.
unsafe fn fill(data: NonNull<rte_tel_data>, value: &Value) -> Result<(), String> {
    let raw = data.as_ptr();
    let alone = |text: &str| {
        let text = c_text(text)?;
        // SAFETY: the caller promises data that may be filled; the call copies the string.
        told(unsafe { sys::rte_tel_data_string(raw, text.as_ptr()) })
    };
    match value {
        Value::Int(number) => alone(&number.to_string()),
        Value::Uint(number) => alone(&number.to_string()),
        Value::Text(text) => alone(text),
        Value::Texts(texts) => {
            // SAFETY: the caller promises data that may be filled.
            told(unsafe { sys::rte_tel_data_start_array(raw, sys::RTE_TEL_STRING_VAL) })?;
            texts.iter().try_for_each(|text| {
                let text = c_text(text)?;
                // SAFETY: an array of texts was started in the data; the call copies the string.
                told(unsafe { sys::rte_tel_data_add_array_string(raw, text.as_ptr()) })
            })
        }
        Value::Uints(numbers) => {
            // SAFETY: the caller promises data that may be filled.
            told(unsafe { sys::rte_tel_data_start_array(raw, sys::DPDK_SYS_TEL_UINT) })?;
            numbers.iter().try_for_each(|number| {
                // SAFETY: an array of such numbers was started in the data.
                told(unsafe { sys::dpdk_sys_tel_data_add_array_uint(raw, *number) })
            })
        }
        Value::Dict(entries) => {
            // SAFETY: the caller promises data that may be filled.
            told(unsafe { sys::rte_tel_data_start_dict(raw) })?;
            entries.iter().try_for_each(|(name, value)| {
                // SAFETY: a dictionary was started in the data.
                unsafe { fill_entry(data, &c_text(name)?, value) }
            })
        }
    }
}

/// Adds an entry to a dictionary.
///
/// # Safety
/// A dictionary was started in `data`.
unsafe fn fill_entry(data: NonNull<rte_tel_data>, name: &CStr, value: &Value) -> Result<(), String> {
    let (raw, name) = (data.as_ptr(), name.as_ptr());
    match value {
        Value::Text(text) => {
            let text = c_text(text)?;
            // SAFETY: the caller promises a dictionary; the call copies the strings.
            told(unsafe { sys::rte_tel_data_add_dict_string(raw, name, text.as_ptr()) })
        }
        // SAFETY: the caller promises a dictionary; the call copies the name.
        Value::Int(number) => told(unsafe { sys::dpdk_sys_tel_data_add_dict_int(raw, name, *number) }),
        // SAFETY: the caller promises a dictionary; the call copies the name.
        Value::Uint(number) => told(unsafe { sys::dpdk_sys_tel_data_add_dict_uint(raw, name, *number) }),
        Value::Texts(_) | Value::Uints(_) | Value::Dict(_) => {
            // SAFETY: the call allocates.
            let inner = NonNull::new(unsafe { sys::rte_tel_data_alloc() }).ok_or("no memory is left")?;
            // SAFETY: the data is fresh, and nobody else has it.
            let filled = unsafe { fill(inner, value) };
            let added = filled.and_then(|()| {
                // SAFETY: the caller promises a dictionary; the call copies the name. From here on the inner data is the dictionary's,
                // which frees it when it has been told (`keep` is 0).
                told(unsafe { sys::rte_tel_data_add_dict_container(raw, name, inner.as_ptr(), 0) })
            });
            if added.is_err() {
                // SAFETY: the data was not added, so it is still ours.
                unsafe { sys::rte_tel_data_free(inner.as_ptr()) };
            }
            added
        }
    }
}

fn c_text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}

/// The result of a call: 0, or an error number of either sign.
fn told(result: c_int) -> Result<(), String> {
    if result == 0 { Ok(()) } else { Err(Errno::new(result).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::{Value, check};

    #[test]
    fn what_dpdk_can_tell_passes_and_the_rest_is_named() {
        let name = "name".to_owned();
        for good in [
            Value::from("x".repeat(8191)),
            Value::from(vec![1_u64; 512]),
            Value::dict([("a_Z/9", Value::from("x".repeat(127))), ("b", Value::Int(-1))]),
            Value::dict([("a", Value::dict([("b", Value::dict([("c", Value::dict([("d", 1_u64.into())]))]))]))]),
        ] {
            assert_eq!(check(&good), Ok(()));
        }
        for (bad, reason) in [
            (Value::from("x".repeat(8192)), "8192 bytes of text, where 8191 are the most"),
            (Value::from(vec![1_u64; 513]), "513 numbers, where 512 are the most"),
            (Value::from(vec!["x".repeat(128)]), "128 bytes of text, where 127 are the most"),
            (Value::dict([("a b", 1_u64.into())]), "the name \"a b\", which may have letters, digits, '_' and '/'"),
            (Value::dict([("a", Value::from("x\0"))]), "a text with a NUL byte"),
            (Value::from("Zürich"), "a text with 'ü', where ASCII is all that it knows"),
            (Value::from("\"".repeat(8191)), "16384 bytes of JSON, where 16000 are the most"),
            (Value::from(vec!["x".repeat(127); 124]), "16121 bytes of JSON, where 16000 are the most"),
            (Value::Dict(vec![(name, Value::Int(0)); 257]), "257 entries, where 256 are the most"),
        ] {
            assert_eq!(check(&bad), Err(reason.to_owned()));
        }
        assert_eq!(check(&Value::from(vec!["x".repeat(127); 123])), Ok(()));
        let deep = (0..6).fold(Value::Int(1), |value, _| Value::dict([("in", value)]));
        assert_eq!(check(&deep), Err("5 dictionaries in each other, where 4 are the most".to_owned()));
    }
}
