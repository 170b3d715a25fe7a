// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How to use this crate, in eight chapters. The same texts are the files in the crate's folder `docs/`.

// What the chapters name: rustdoc makes a link of [`Port`], while a Markdown viewer shows it as code.
use crate::{
    device::{Null, Pcap, Tap},
    flow::*,
    fragment::*,
    latency::*,
    lcore::*,
    lookup::*,
    memory::*,
    message::*,
    meter::*,
    offload::*,
    port::*,
    reorder::*,
    ring::*,
    secondary::*,
    service::*,
    timer::*,
    *,
};
use std::sync::Arc;

/// Declares a chapter. In the files a chapter links to another one by its file name; here chapters are modules, and of
/// two definitions of a link the first one applies.
macro_rules! chapter {
    ($name:ident, $file:literal) => {
        #[doc = "[contracts]: crate::guide::contracts"]
        #[doc = "[features]: crate::guide::features"]
        #[doc = "[forwarder]: crate::guide::forwarder"]
        #[doc = "[from_c]: crate::guide::from_c"]
        #[doc = "[from_rust]: crate::guide::from_rust"]
        #[doc = "[guarantees]: crate::guide::guarantees"]
        #[doc = "[performance]: crate::guide::performance"]
        #[doc = "[structure]: crate::guide::structure"]
        #[doc = ""]
        #[doc = include_str!($file)]
        pub mod $name {}
    };
}

chapter!(contracts, "../docs/contracts.md");
chapter!(features, "../docs/features.md");
chapter!(forwarder, "../docs/forwarder.md");
chapter!(from_c, "../docs/from-c.md");
chapter!(from_rust, "../docs/from-rust.md");
chapter!(guarantees, "../docs/guarantees.md");
chapter!(performance, "../docs/performance.md");
chapter!(structure, "../docs/structure.md");

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
