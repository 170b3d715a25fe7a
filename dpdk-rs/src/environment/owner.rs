// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The owners of ports in DPDK's list, which all processes share.

use core::ffi::{CStr, c_char};
use dpdk_sys as sys;

/// The name of a program as an owner.
pub(super) const PROGRAM: &CStr = c"dpdk-rs";

/// The owner of a port in DPDK's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Nobody,
    /// A program, which has reserved the port.
    Program,
    /// A device, whose driver has given its owner this name.
    Device(String),
}

/// The owner of a port.
pub(super) fn owner(id: u16) -> Owner {
    let mut owner = sys::rte_eth_dev_owner::default();
    // SAFETY: the call checks the number, and fills a struct of ours.
    unsafe { sys::rte_eth_dev_owner_get(id, &raw mut owner) };
    let name = owner.name.map(c_char::cast_unsigned);
    match CStr::from_bytes_until_nul(&name).unwrap_or_default() {
        _ if owner.id == 0 => Owner::Nobody,
        name if name == PROGRAM => Owner::Program,
        name => Owner::Device(name.to_string_lossy().into_owned()),
    }
}
