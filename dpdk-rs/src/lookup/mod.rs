// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Look-up tables: by whole keys, by the longest prefix of an address, and by rules over header fields.
//!
//! | | finds | who changes it |
//! |---|---|---|
//! | [`HashTable`] | a value by its key | `&mut self` |
//! | [`HashReader`] | a copy of a small value, while [`HashWriter`] changes the table | the one writer |
//! | [`RcuReader`] | a value by its key, without locks, while [`RcuWriter`] changes the table | the one writer |
//! | [`Lpm`], [`Lpm6`] | the next hop of an IPv4 or IPv6 address | `&mut self` |
//! | [`Fib`], [`Fib6`] | the same, with a default route and next hops of up to 63 bits | `&mut self` |
//! | [`Acl`] | the matching rule of highest priority for a header | nobody: create another list |
//!
//! Threads can share every table for look-ups. A table lives in DPDK's memory, keeps the EAL alive, and is freed when
//! it is dropped.

mod acl;
mod fib;
mod hash;
mod lpm;
mod lpm6;
mod rcu_hash;
mod shared_hash;

pub use acl::{Acl, AclBuilder, AclError, AclRule, FieldDef, FieldKind, FieldMatch};
pub use fib::{Fib, Fib6, FibBuilder, FibError};
pub use hash::{HashBuilder, HashIter, HashKey, HashTable};
pub use lpm::{Lpm, LpmBuilder, LpmError};
pub use lpm6::Lpm6;
pub use rcu_hash::{RcuReader, RcuWriter};
pub use shared_hash::{HashReader, HashWriter, SmallValue};
