// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The arguments with which a device was created, taken apart by the function that its driver uses for them.

use super::DeviceInfo;
use core::ffi::{CStr, c_char};
use dpdk_sys as sys;

/// Pairs of a key and a value, such as `size=64,copy=0`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DeviceArgs {
    /// `None` if there are too many pairs for DPDK. Then there may be anything.
    pairs: Option<Vec<(String, String)>>,
}

impl DeviceArgs {
    /// The arguments of a device.
    pub(super) fn of(info: &DeviceInfo<'_>) -> Self {
        text(info).map_or_else(|| Self { pairs: Some(Vec::new()) }, Self::parse)
    }

    /// Takes arguments apart (`rte_kvargs_parse`). A key without a value has an empty one.
    pub(super) fn parse(args: &CStr) -> Self {
        // SAFETY: both are strings or null, and the call copies the first; without a list of keys it accepts any.
        let list = unsafe { sys::rte_kvargs_parse(args.as_ptr(), core::ptr::null()) };
        if list.is_null() {
            return Self { pairs: None };
        }
        let text = |text: *const c_char| {
            // SAFETY: what is not null in the list is a string that lives as long as the list.
            if text.is_null() { String::new() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() }
        };
        // SAFETY: the list is not null, and nothing else refers to it.
        let sys::rte_kvargs { pairs, count, .. } = unsafe { &*list };
        let pairs = pairs.iter().take(*count as usize).map(|pair| (text(pair.key), text(pair.value))).collect();
        // SAFETY: the call before the last has made the list, and everything in it was copied.
        unsafe { sys::rte_kvargs_free(list) };
        Self { pairs: Some(pairs) }
    }

    #[cfg(test)]
    pub(super) fn from_text(text: &str) -> Self {
        std::ffi::CString::new(text).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// Whether there is, or may be, an argument with one of these keys.
    pub(super) fn has_one_of(&self, keys: &[&str]) -> bool {
        self.pairs.as_ref().is_none_or(|pairs| pairs.iter().any(|(key, _)| keys.contains(&key.as_str())))
    }

    /// The values of an argument. `?` stands for whatever may be there.
    pub(super) fn texts<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let unknown = self.pairs.is_none().then_some("?");
        self.pairs.iter().flatten().filter(move |(name, _)| name == key).map(|(_, value)| value.trim()).chain(unknown)
    }

    /// The values of an argument as numbers. The largest number stands for whatever is not clearly a number.
    pub(super) fn numbers<'a>(&'a self, key: &'a str) -> impl Iterator<Item = u32> {
        self.texts(key).map(number)
    }
}

/// The arguments with which a device was created as text, if any.
pub(super) fn text<'a>(info: &DeviceInfo<'a>) -> Option<&'a CStr> {
    if info.device.is_null() {
        return None;
    }
    // SAFETY: the device of an ethdev lives as long as the ethdev, and so as long as the information.
    let args = unsafe { sys::dpdk_sys_dev_args(info.device) };
    // SAFETY: arguments that are not null are a string that lives as long as the device.
    (!args.is_null()).then(|| unsafe { CStr::from_ptr(args) })
}

/// Parses a number as C's `strtoul` does. Returns the largest number for everything that is not clearly a number.
fn number(text: &str) -> u32 {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8),
        None => text.parse(),
    };
    parsed.unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{DeviceArgs, number};

    fn values(text: &str, key: &str) -> Vec<String> {
        DeviceArgs::from_text(text).texts(key).map(str::to_owned).collect()
    }

    #[test]
    fn values_are_those_that_drivers_see() {
        for text in ["size=64", "copy=0,size=64", "size= 64 ", "queues=[1-2,5],size=64", "size=64,copy", ",,size=64"] {
            assert_eq!(values(text, "size"), ["64"], "{text}");
        }
        assert_eq!(values("size=1,size=2", "size"), ["1", "2"]);
        assert_eq!(values("size", "size"), [""]);
        for text in ["", "no-size=64", "iface=size", "x=[size=1,size=64"] {
            assert_eq!(values(text, "size"), [""; 0], "{text}");
        }
    }

    /// The last key wins.
    #[test]
    fn a_key_before_another_hides_nothing() {
        assert_eq!(values("x=size=4000", "size"), ["4000"]);
        assert!(DeviceArgs::from_text("x=dmas=1").has_one_of(&["dmas"]));
    }

    #[test]
    fn too_many_arguments_may_be_anything() {
        let many = DeviceArgs::from_text(&["a=0"; 33].join(","));
        assert!(many.has_one_of(&["copy"]));
        assert_eq!(many.numbers("copy").collect::<Vec<_>>(), [u32::MAX]);
    }

    #[test]
    fn numbers_are_those_of_strtoul() {
        for (text, value) in [("64", 64), ("0x40", 64), ("0X40", 64), ("0100", 64), ("0", 0)] {
            assert_eq!(number(text), value, "{text}");
        }
        for text in ["", "-1", "64x", "0x", "09", "4294967296", "[64]"] {
            assert_eq!(number(text), u32::MAX, "{text}");
        }
    }
}
