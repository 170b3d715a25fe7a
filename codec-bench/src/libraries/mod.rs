// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The libraries, a file each.

pub mod capnp;
pub mod plain;

use crate::contract::{Case, Exchange, Form};

/// A way to pass messages.
pub struct Library {
    /// Its name on command lines.
    pub name: &'static str,
    /// Whether it makes bytes.
    pub has_bytes: bool,
    /// Whether it has a packed form.
    pub packs: bool,
    /// Makes a case of it.
    pub exchange: fn(Case, Form) -> Box<dyn Exchange>,
}

/// All of them.
pub const LIBRARIES: [Library; 2] = [
    Library { name: "capnp", has_bytes: true, packs: true, exchange: capnp::exchange },
    Library { name: "plain", has_bytes: false, packs: false, exchange: plain::exchange },
];

/// The one of this name.
pub fn library(name: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|library| library.name == name)
}
