// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The atomics, locks and threads of the modules that the models in `models/` run: those of the standard library, or in
//! a model loom's, which tries every interleaving. Both have the same names, so that the models run the real modules.

#[cfg(loom)]
pub(crate) mod atomic;
#[cfg(loom)]
mod numbers;

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{Arc, Mutex, MutexGuard, atomic},
    thread, thread_local,
};

#[cfg(loom)]
pub(crate) use {
    loom::{
        sync::{Arc, Mutex, MutexGuard},
        thread,
    },
    numbers::{atomic_u16, begin_number},
};

/// The atomic number at an address, like [`AtomicU16::from_ptr`](core::sync::atomic::AtomicU16::from_ptr).
///
/// # Safety
/// `at` points to an aligned number that lives for `'a`, and all access that may be concurrent is atomic.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const unsafe fn atomic_u16<'a>(at: *mut u16) -> &'a atomic::AtomicU16 {
    // SAFETY: the caller promises the same.
    unsafe { atomic::AtomicU16::from_ptr(at) }
}

/// A static of the modelled modules. In a model each execution begins with a new one.
macro_rules! global {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis static $name: $type = $value;
        #[cfg(loom)]
        loom::lazy_static! { static ref $name: $type = $value; }
    };
}
pub(crate) use global;

/// A `const` function, except in a model: loom creates its locks and atomics at run time.
macro_rules! constant {
    ($(#[$meta:meta])* $vis:vis const $($function:tt)*) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis const $($function)*
        #[cfg(loom)]
        $(#[$meta])*
        $vis $($function)*
    };
}
pub(crate) use constant;

/// A variable of each thread. In a model the threads are coroutines of one thread.
#[cfg(loom)]
macro_rules! local {
    ($(#[$meta:meta])* static $name:ident: $type:ty = const $value:block;) => {
        loom::thread_local! { $(#[$meta])* static $name: $type = $value; }
    };
}
#[cfg(loom)]
pub(crate) use local as thread_local;
