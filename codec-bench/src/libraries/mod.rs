// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The libraries, a file each.

pub mod capnp;
mod decoded;
pub mod owned;
pub mod plain;
pub mod postcard;
pub mod prost;
pub mod serde_json;

use crate::contract::{Case, Exchange, Form};

/// A way to pass messages.
pub struct Library {
    /// Its name on command lines.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Whether messages can be passed as objects.
    pub has_objects: bool,
    /// Whether it makes bytes.
    pub has_bytes: bool,
    /// Whether it has a packed form.
    pub packs: bool,
    /// Makes a case of it.
    pub exchange: fn(Case, Form) -> Box<dyn Exchange>,
}

/// All of them.
pub const LIBRARIES: [Library; 5] = [
    Library {
        name: "capnp",
        what: "Cap'n Proto by the crate capnp",
        has_objects: true,
        has_bytes: true,
        packs: true,
        exchange: capnp::exchange,
    },
    Library {
        name: "plain",
        what: "structs, copied in place of bytes",
        has_objects: true,
        has_bytes: false,
        packs: false,
        exchange: plain::exchange,
    },
    Library {
        name: "postcard",
        what: "the crate postcard",
        has_objects: false,
        has_bytes: true,
        packs: false,
        exchange: postcard::exchange,
    },
    Library {
        name: "protobuf",
        what: "Protocol Buffers by the crate prost",
        has_objects: false,
        has_bytes: true,
        packs: false,
        exchange: prost::exchange,
    },
    Library {
        name: "serde_json",
        what: "JSON by the crate serde_json",
        has_objects: false,
        has_bytes: true,
        packs: false,
        exchange: serde_json::exchange,
    },
];

/// The one of this name.
pub fn library(name: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|library| library.name == name)
}
