// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The names of objects in DPDK.
//!
//! Libraries and drivers of DPDK adopt objects that they find under their own names, whoever created them, and trust what
//! is in them. So each name of a program begins in DPDK with a prefix that DPDK does not use.

use std::ffi::CString;

/// What each name of a program begins with in DPDK. Before it DPDK puts prefixes of its own, such as `RG_MP_`.
const PREFIX: &str = "rs.";

/// The maximum length of a name in bytes, if DPDK has room for `bytes`.
pub(crate) const fn longest(bytes: usize) -> usize {
    bytes - PREFIX.len()
}

/// A name in DPDK's form; `None` if it contains a NUL byte, or DPDK would truncate it to `bytes`.
pub(crate) fn to_dpdk(name: &str, bytes: usize) -> Option<CString> {
    CString::new(format!("{PREFIX}{name}")).ok().filter(|_| name.len() <= longest(bytes))
}

/// A name of an object in DPDK as the program gave it. Other programs and DPDK have names without the prefix.
pub(crate) fn from_dpdk(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// The names under which an object is looked for: that of a program that uses this crate, then that of DPDK itself or of a
/// program in another language. `None` if the name contains a NUL byte.
pub(crate) fn candidates(name: &str) -> Option<[CString; 2]> {
    Some([CString::new(format!("{PREFIX}{name}")).ok()?, CString::new(name).ok()?])
}
