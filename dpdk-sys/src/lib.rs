// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Raw bindings to [DPDK](https://doc.dpdk.org), made by bindgen from the installed headers (22.11 or newer).
//!
//! Nothing here is safe; programs want the crate `dpdk-rs`. Names are those of C. Static inline functions are called
//! through compiled wrappers; what differs between DPDK versions is settled in `src/wrapper.h` under names that begin
//! with `dpdk_sys_`. The layout of every struct is asserted against the C compiler's at compile time.
//!
//! Features: `static` links DPDK's archives and a list of drivers (`build/link.rs`) instead of the shared libraries.
//! `DPDK_SYS_BINDINGS=bundled` takes the checked-in bindings, for documentation on a machine without DPDK.
#![no_std]

mod mbuf;

pub use bindings::*;
pub use mbuf::*;

#[allow(missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals, rustdoc::all)]
#[allow(clippy::all, clippy::pedantic, unsafe_op_in_unsafe_fn, dead_code, unnecessary_transmutes)]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
