// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How to use this crate, in seven chapters. The same texts are the files in the crate's folder `docs/`.

/// Declares a chapter. In the files neighbours are named by file; here they are modules, and of two definitions of a link
/// the first counts.
macro_rules! chapter {
    ($name:ident, $file:literal) => {
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
