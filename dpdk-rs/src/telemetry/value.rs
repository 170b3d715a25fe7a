// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The values of answers: what of them DPDK can send, and how they are put together.

use crate::Errno;
use core::{
    ffi::{CStr, c_int},
    ptr::NonNull,
};
use dpdk_sys::{self as sys, rte_tel_data};
use std::ffi::CString;

/// The answer to a command: JSON on the socket, of at most 16,000 bytes. Texts are ASCII: DPDK mishandles other
/// characters.
#[doc(alias = "rte_tel_data")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A text, of at most 8,191 bytes alone and at most 127 bytes inside another value.
    Text(String),
    /// A signed number. Alone it is sent as a text.
    Int(i32),
    /// An unsigned number. Alone it is sent as a text.
    Uint(u64),
    /// At most 512 texts.
    Texts(Vec<String>),
    /// At most 512 numbers.
    Uints(Vec<u64>),
    /// At most 256 values with names. Dictionaries can be nested up to a depth of 4. A name consists of letters,
    /// digits, `_` and `/`.
    Dict(Vec<(String, Value)>),
    /// At most 512 dictionaries, `Texts` or `Uints`. A list is the whole answer: DPDK sends none within something else.
    List(Vec<Value>),
}

impl Value {
    /// A dictionary of the given entries.
    pub fn dict<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Dict(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

/// Declares which types convert to which value.
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

/// The maximum nesting of dictionaries: DPDK needs 16 kB of its thread's stack for each level.
const DEPTH: usize = 4;

/// The maximum length of the JSON in bytes. DPDK has 16,384 for the command, the value and what it puts between them,
/// and omits what does not fit. DPDK 22.11, and possibly newer versions, writes one byte too far if the remaining room
/// is as short as a quoted character.
const MOST_JSON: usize = 16_000;

/// Checks that DPDK can send a value.
pub(super) fn check(value: &Value) -> Result<(), String> {
    limits(value, 0)?;
    match json_len(value) {
        0..=MOST_JSON => Ok(()),
        len => Err(format!("{len} bytes of JSON, but the maximum is {MOST_JSON}")),
    }
}

/// The length of a value as JSON in bytes.
fn json_len(value: &Value) -> usize {
    // DPDK quotes some characters, and omits some.
    let text =
        |text: &str| 2 + text.bytes().map(|byte| if b"\"\\\n\r\t".contains(&byte) { 2 } else { 1 }).sum::<usize>();
    // The brackets, and the separators.
    let many = |lens: &mut dyn Iterator<Item = usize>| 2 + lens.map(|len| len + 1).sum::<usize>().saturating_sub(1);
    match value {
        Value::Text(value) => text(value),
        Value::Int(number) => 2 + number.to_string().len(),
        Value::Uint(number) => 2 + number.to_string().len(),
        Value::Texts(values) => many(&mut values.iter().map(|value| text(value))),
        Value::Uints(values) => many(&mut values.iter().map(|number| number.to_string().len())),
        Value::Dict(entries) => many(&mut entries.iter().map(|(name, value)| text(name) + 1 + json_len(value))),
        Value::List(values) => many(&mut values.iter().map(json_len)),
    }
}

/// Checks that DPDK has room for each part of a value, and handles its texts correctly.
fn limits(value: &Value, depth: usize) -> Result<(), String> {
    let within = |what, count: usize, most: u32| {
        if count <= most as usize { Ok(()) } else { Err(format!("{count} {what}, but the maximum is {most}")) }
    };
    let text = |text: &str, most| {
        if text.contains('\0') {
            return Err("a text with a NUL byte".to_owned());
        }
        // DPDK looks up characters in a table, where bytes from 128 on count as negative numbers.
        if let Some(other) = text.chars().find(|character| !character.is_ascii()) {
            return Err(format!("a text with {other:?}: only ASCII is allowed"));
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
            within("levels of dictionaries", depth, DEPTH as u32)?;
            within("entries", entries.len(), sys::RTE_TEL_MAX_DICT_ENTRIES)?;
            for (name, value) in entries {
                text(name, sys::RTE_TEL_MAX_STRING_LEN)?;
                if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/".contains(&byte)) {
                    return Err(format!("the name {name:?}, whose characters must be letters, digits, '_' and '/'"));
                }
                limits(value, depth + 1)?;
            }
            Ok(())
        }
        Value::List(_) if depth > 0 => {
            Err("a list inside another value: DPDK sends a list only as the whole answer".to_owned())
        }
        Value::List(values) => {
            within("elements", values.len(), sys::RTE_TEL_MAX_ARRAY_ENTRIES)?;
            values.iter().try_for_each(|value| match value {
                Value::Text(_) | Value::Int(_) | Value::Uint(_) => {
                    Err("a text or a number in a list: give Texts or Uints, or put it in a dictionary".to_owned())
                }
                _ => limits(value, depth + 1),
            })
        }
    }
}

/// Writes a value that is within the limits.
///
/// # Safety
/// `data` may be filled.
pub(super) unsafe fn fill(data: NonNull<rte_tel_data>, value: &Value) -> Result<(), String> {
    let raw = data.as_ptr();
    let alone = |text: &str| {
        let text = c_text(text)?;
        // SAFETY: the caller promises data that may be filled; the call copies the string.
        outcome(unsafe { sys::rte_tel_data_string(raw, text.as_ptr()) })
    };
    match value {
        Value::Int(number) => alone(&number.to_string()),
        Value::Uint(number) => alone(&number.to_string()),
        Value::Text(text) => alone(text),
        Value::Texts(texts) => {
            // SAFETY: the caller promises data that may be filled.
            outcome(unsafe { sys::rte_tel_data_start_array(raw, sys::RTE_TEL_STRING_VAL) })?;
            texts.iter().try_for_each(|text| {
                let text = c_text(text)?;
                // SAFETY: an array of texts was started in the data; the call copies the string.
                outcome(unsafe { sys::rte_tel_data_add_array_string(raw, text.as_ptr()) })
            })
        }
        Value::Uints(numbers) => {
            // SAFETY: the caller promises data that may be filled.
            outcome(unsafe { sys::rte_tel_data_start_array(raw, sys::DPDK_SYS_TEL_UINT) })?;
            numbers.iter().try_for_each(|number| {
                // SAFETY: an array of such numbers was started in the data.
                outcome(unsafe { sys::dpdk_sys_tel_data_add_array_uint(raw, *number) })
            })
        }
        Value::Dict(entries) => {
            // SAFETY: the caller promises data that may be filled.
            outcome(unsafe { sys::rte_tel_data_start_dict(raw) })?;
            entries.iter().try_for_each(|(name, value)| {
                // SAFETY: a dictionary was started in the data.
                unsafe { fill_entry(data, &c_text(name)?, value) }
            })
        }
        Value::List(values) => {
            // SAFETY: the caller promises data that may be filled.
            outcome(unsafe { sys::rte_tel_data_start_array(raw, sys::RTE_TEL_CONTAINER) })?;
            // SAFETY: an array of containers was started in the data.
            values.iter().try_for_each(|value| unsafe { fill_element(data, value) })
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
            outcome(unsafe { sys::rte_tel_data_add_dict_string(raw, name, text.as_ptr()) })
        }
        // SAFETY: the caller promises a dictionary; the call copies the name.
        Value::Int(number) => outcome(unsafe { sys::dpdk_sys_tel_data_add_dict_int(raw, name, *number) }),
        // SAFETY: the caller promises a dictionary; the call copies the name.
        Value::Uint(number) => outcome(unsafe { sys::dpdk_sys_tel_data_add_dict_uint(raw, name, *number) }),
        Value::Texts(_) | Value::Uints(_) | Value::Dict(_) | Value::List(_) => {
            let inner = allocate()?;
            // SAFETY: the data is new, and nobody else has it.
            let filled = unsafe { fill(inner, value) };
            let added = filled.and_then(|()| {
                // SAFETY: the caller promises a dictionary. The call copies the name. The inner data now belongs to the
                // dictionary, which frees it after sending it (`keep` is 0).
                outcome(unsafe { sys::rte_tel_data_add_dict_container(raw, name, inner.as_ptr(), 0) })
            });
            if added.is_err() {
                // SAFETY: the data was not added, so this function still owns it.
                unsafe { sys::rte_tel_data_free(inner.as_ptr()) };
            }
            added
        }
    }
}

/// Adds an element to a list.
///
/// # Safety
/// An array of containers was started in `data`.
unsafe fn fill_element(data: NonNull<rte_tel_data>, value: &Value) -> Result<(), String> {
    let inner = allocate()?;
    // Without a fix of 2026 DPDK adds no dictionary to an array, but sends one that is there: each element is added as an empty
    // array, and filled after that.
    // SAFETY: the data is new, and nobody else has it.
    let started = outcome(unsafe { sys::rte_tel_data_start_array(inner.as_ptr(), sys::RTE_TEL_STRING_VAL) });
    let added = started.and_then(|()| {
        // SAFETY: the caller promises an array of containers. The inner data now belongs to the array, which frees it after
        // sending it (`keep` is 0).
        outcome(unsafe { sys::rte_tel_data_add_array_container(data.as_ptr(), inner.as_ptr(), 0) })
    });
    match added {
        // SAFETY: nobody reads the array or its elements before this thread returns to DPDK.
        Ok(()) => unsafe { fill(inner, value) },
        Err(reason) => {
            // SAFETY: the data was not added, so this function still owns it.
            unsafe { sys::rte_tel_data_free(inner.as_ptr()) };
            Err(reason)
        }
    }
}

/// Data for a value within another one.
fn allocate() -> Result<NonNull<rte_tel_data>, String> {
    // SAFETY: the call allocates.
    NonNull::new(unsafe { sys::rte_tel_data_alloc() }).ok_or_else(|| "no memory is left".to_owned())
}

fn c_text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}

/// The result of a call: 0, or an error number of either sign.
fn outcome(result: c_int) -> Result<(), String> {
    if result == 0 { Ok(()) } else { Err(Errno::new(result).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::{Value, check};

    #[test]
    fn what_dpdk_can_send_passes_and_the_rest_is_named() {
        let name = "name".to_owned();
        for good in [
            Value::from("x".repeat(8191)),
            Value::from(vec![1_u64; 512]),
            Value::dict([("a_Z/9", Value::from("x".repeat(127))), ("b", Value::Int(-1))]),
            Value::dict([("a", Value::dict([("b", Value::dict([("c", Value::dict([("d", 1_u64.into())]))]))]))]),
            Value::List(vec![Value::dict([("a", 1_u64.into())]); 512]),
            Value::List(vec![Value::from(vec![1_u64]), Value::from(vec!["x".to_owned()]), Value::Dict(Vec::new())]),
        ] {
            assert_eq!(check(&good), Ok(()));
        }
        for (bad, reason) in [
            (Value::from("x".repeat(8192)), "8192 bytes of text, but the maximum is 8191"),
            (Value::from(vec![1_u64; 513]), "513 numbers, but the maximum is 512"),
            (Value::from(vec!["x".repeat(128)]), "128 bytes of text, but the maximum is 127"),
            (
                Value::dict([("a b", 1_u64.into())]),
                "the name \"a b\", whose characters must be letters, digits, '_' and '/'",
            ),
            (Value::dict([("a", Value::from("x\0"))]), "a text with a NUL byte"),
            (Value::from("Zürich"), "a text with 'ü': only ASCII is allowed"),
            (Value::from("\"".repeat(8191)), "16384 bytes of JSON, but the maximum is 16000"),
            (Value::from(vec!["x".repeat(127); 124]), "16121 bytes of JSON, but the maximum is 16000"),
            (Value::Dict(vec![(name, Value::Int(0)); 257]), "257 entries, but the maximum is 256"),
            (Value::List(vec![Value::Dict(Vec::new()); 513]), "513 elements, but the maximum is 512"),
            (
                Value::dict([("a", Value::List(Vec::new()))]),
                "a list inside another value: DPDK sends a list only as the whole answer",
            ),
            (
                Value::List(vec![Value::Int(1)]),
                "a text or a number in a list: give Texts or Uints, or put it in a dictionary",
            ),
        ] {
            assert_eq!(check(&bad), Err(reason.to_owned()));
        }
        assert_eq!(check(&Value::from(vec!["x".repeat(127); 123])), Ok(()));
        let deep = (0..6).fold(Value::Int(1), |value, _| Value::dict([("in", value)]));
        assert_eq!(check(&deep), Err("5 levels of dictionaries, but the maximum is 4".to_owned()));
    }
}
