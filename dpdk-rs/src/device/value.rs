// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Checks of values that become a part of text which DPDK parses.

use core::ops::RangeInclusive;
use std::path::Path;

/// A value of an option or of a device that cannot be passed to DPDK.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {value:?} cannot be used: {remedy}")]
#[non_exhaustive]
pub struct InvalidValue {
    /// What the value is, such as `file of net_pcap0`.
    pub what: String,
    /// The value.
    pub value: String,
    /// What to give instead.
    pub remedy: String,
}

impl InvalidValue {
    fn new(what: impl Into<String>, value: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), remedy: remedy.into() }
    }
}

/// The maximum length of an interface's name in bytes: that of the kernel.
const LONGEST_INTERFACE: usize = 15;

/// The maximum length of a file prefix in bytes. Longer ones leave no room for DPDK's sockets, whose paths have at most
/// 107 bytes.
const LONGEST_PREFIX: usize = 48;

/// The maximum length of a path in bytes: that of the kernel, and of the drivers.
const LONGEST_PATH: usize = 4095;

/// Separators of arguments, of lists and of devices in devices, and what may become one.
const SEPARATORS: &[char] = &[',', '=', '[', ']', '(', ')', '{', '}', '"', '\'', '\\'];

/// A path. A device's argument ends at a comma, and a second equals sign starts another one.
pub(super) fn path(device: &str, path: &Path) -> Result<String, InvalidValue> {
    let what = format!("file of {device}");
    let invalid = |remedy: String| InvalidValue::new(&*what, path.to_string_lossy(), remedy);
    let text = path.to_str().ok_or_else(|| invalid("give a path in UTF-8".to_owned()))?;
    if text.is_empty() || text.len() > LONGEST_PATH {
        return Err(invalid(format!("give a path of 1 to {LONGEST_PATH} bytes")));
    }
    if text.contains(|letter: char| SEPARATORS.contains(&letter) || letter.is_control()) {
        let separators: Vec<_> = SEPARATORS.iter().map(char::to_string).collect();
        let separators = separators.join(" ");
        return Err(invalid(format!(
            "give a path without {separators} and control characters, such as that of a link"
        )));
    }
    Ok(text.to_owned())
}

/// The name of an interface of the kernel.
pub(super) fn interface(device: &str, name: &str) -> Result<String, InvalidValue> {
    if is_word(name, LONGEST_INTERFACE) {
        return Ok(name.to_owned());
    }
    let remedy = format!("give 1 to {LONGEST_INTERFACE} {LETTERS}");
    Err(InvalidValue::new(format!("interface of {device}"), name, remedy))
}

/// A file prefix. DPDK makes it part of paths.
pub(crate) fn file_prefix(prefix: &str) -> Result<String, InvalidValue> {
    if is_word(prefix, LONGEST_PREFIX) {
        return Ok(prefix.to_owned());
    }
    Err(InvalidValue::new("file prefix", prefix, format!("give 1 to {LONGEST_PREFIX} {LETTERS}")))
}

/// What [`is_word`] accepts.
const LETTERS: &str = "ASCII letters, digits, '-', '_' and '.', the first one a letter or a digit";

fn is_word(text: &str, longest: usize) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.len() <= longest && text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(is_part)
}

/// A number within bounds.
pub(crate) fn within(what: &str, number: u32, bounds: RangeInclusive<u32>) -> Result<String, InvalidValue> {
    if bounds.contains(&number) {
        return Ok(number.to_string());
    }
    let (least, most) = bounds.into_inner();
    Err(InvalidValue::new(what, number.to_string(), format!("give {least} to {most}")))
}

/// A list of numbers up to `most`, with commas between them.
pub(crate) fn list(what: &str, numbers: impl IntoIterator<Item = u32>, most: u32) -> Result<String, InvalidValue> {
    let numbers: Result<Vec<_>, _> = numbers.into_iter().map(|number| within(what, number, 0..=most)).collect();
    let numbers = numbers?.join(",");
    if numbers.is_empty() { Err(InvalidValue::new(what, "", "give at least one")) } else { Ok(numbers) }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_PATH, SEPARATORS, file_prefix, interface, list, path, within};
    use std::{
        ffi::OsStr,
        os::unix::ffi::OsStrExt,
        path::{Path, PathBuf},
    };

    #[test]
    fn paths_may_have_no_separators() {
        let paths = ["a", "/tmp/in put.pcap", "../ä-b_c.d:e@f~g%h+i#j", &"x".repeat(LONGEST_PATH)];
        for text in paths {
            assert_eq!(path("net_pcap0", Path::new(text)).as_deref(), Ok(text));
        }
        let wrong = SEPARATORS.iter().copied().chain(['\0', '\n', '\x7f', '\u{85}']);
        for text in wrong.map(|letter| format!("/tmp/a{letter}b")).chain([String::new(), "x".repeat(LONGEST_PATH + 1)])
        {
            let error = path("net_pcap0", Path::new(&text)).err().map(|error| (error.what, error.value));
            assert_eq!(error, Some(("file of net_pcap0".to_owned(), text)));
        }
        let bytes = PathBuf::from(OsStr::from_bytes(b"/tmp/\xff"));
        let error = path("net_pcap0", &bytes).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("file of net_pcap0 \"/tmp/\u{fffd}\" cannot be used: give a path in UTF-8"));
    }

    #[test]
    fn interfaces_and_prefixes_are_words() {
        for text in ["eth0", "0", "br-lan", "eth0.100", "a_b", "abcdefghijklmno"] {
            assert_eq!(interface("net_tap0", text).as_deref(), Ok(text));
            assert_eq!(file_prefix(text).as_deref(), Ok(text));
        }
        let wrong = ["", ".", "..", "a/..", "/", "-a", "_a", "a=b", "a,b", "a b", "tap%d", "a\0", "é", "a\n", "a:b"];
        for text in wrong {
            assert!(interface("net_tap0", text).is_err(), "{text}");
            assert!(file_prefix(text).is_err(), "{text}");
        }
        assert!(interface("net_tap0", "abcdefghijklmnop").is_err());
        assert!(file_prefix(&"x".repeat(48)).is_ok());
        assert!(file_prefix(&"x".repeat(49)).is_err());
        let said = file_prefix("a/..").err().map(|error| error.to_string());
        let expected = "file prefix \"a/..\" cannot be used: give 1 to 48 ASCII letters, digits, '-', '_' and '.', \
                        the first one a letter or a digit";
        assert_eq!(said.as_deref(), Some(expected));
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(within("memory in MB", 64, 1..=64).as_deref(), Ok("64"));
        let said = within("memory in MB", 0, 1..=64).err().map(|error| error.to_string());
        assert_eq!(said.as_deref(), Some("memory in MB \"0\" cannot be used: give 1 to 64"));
        assert!(within("memory in MB", 65, 1..=64).is_err());
        assert_eq!(list("lcore", [3, 0, 127], 127).as_deref(), Ok("3,0,127"));
        assert!(list("lcore", [0, 128], 127).is_err());
        assert!(list("lcore", [], 127).is_err());
    }
}
