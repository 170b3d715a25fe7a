// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Objects that DPDK creates under a name and frees: rings, tables, zones and pools.

use crate::{Errno, environment::Environment, name};
use core::{
    ffi::c_char,
    fmt,
    ptr::{self, NonNull},
};
use std::sync::Arc;

/// Why a ring, a table, a memory zone or an object pool was not created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The name contains a NUL byte, is too long (DPDK would truncate it, and two names could become one), or contains
    /// a character that is not ASCII, which DPDK's telemetry cannot show.
    #[error("{kind} name {name:?} cannot be used: give at most {longest} ASCII characters, and no NUL byte")]
    Name {
        /// The kind of object, such as `ring`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The maximum length of such a name in bytes.
        longest: usize,
    },
    /// The size does not fit in DPDK's 32 bits.
    #[error("{kind} '{name}' is too large: {elements} elements of {len} bytes")]
    TooLarge {
        /// The kind of object.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The requested number of elements.
        elements: usize,
        /// The size of each element in bytes.
        len: usize,
    },
    /// A child process created by `fork` cannot create objects: DPDK's memory belongs to its parent.
    #[error("cannot create {kind} '{name}': this process is a fork of the one that initialized the EAL")]
    Forked {
        /// The kind of object.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A DPDK call failed.
    #[error("cannot create {kind} '{name}': {call}: {errno}{}", remedy(call, *errno))]
    Create {
        /// The kind of object.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The name of the DPDK function.
        call: &'static str,
        /// `EEXIST` for a name in use, `ENOMEM` if memory is short, `EINVAL` for a size that is not allowed, …
        errno: Errno,
    },
}

impl CreateError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Create { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Create { call, .. } = self { Some(call) } else { None }
    }
}

/// Advice for an error, in words.
fn remedy(call: &str, errno: Errno) -> &'static str {
    match (call, errno.get()) {
        ("rte_hash_create", 22) => ": give 8 entries or more",
        _ => errno.remedy(),
    }
}

/// Something did not fit. The error returns it.
pub struct Full<T = ()>(pub T);

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Full").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no room: take something out first, or make it larger")
    }
}

impl<T> core::error::Error for Full<T> {}

/// A kind of object.
pub(crate) struct Kind {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// The DPDK function that creates one.
    pub(crate) call: &'static str,
    /// The longest name in DPDK that it does not truncate, in bytes.
    pub(crate) longest_name: usize,
}

impl Kind {
    /// The error for an object that would be too large.
    pub(crate) fn too_large(&self, name: &str, elements: usize, len: usize) -> CreateError {
        CreateError::TooLarge { kind: self.name, name: name.to_owned(), elements, len }
    }

    /// Calls `make` to create an object, with the control plane locked. Null means failure, with the reason in
    /// `rte_errno`.
    pub(crate) fn create<T>(
        &self,
        environment: &Environment,
        name: &str,
        make: impl FnOnce(*const c_char) -> *mut T,
    ) -> Result<NonNull<T>, CreateError> {
        let name = name.to_owned();
        let Some(c_name) = name::to_dpdk(&name, self.longest_name).filter(|_| name.is_ascii()) else {
            return Err(CreateError::Name { kind: self.name, name, longest: name::longest(self.longest_name) });
        };
        if environment.is_forked() {
            return Err(CreateError::Forked { kind: self.name, name });
        }
        // The objects of retired pools may have returned since, which frees memory.
        let _control = environment.control_with_room();
        // Some of these calls set no error number if memory is short.
        Errno::NO_MEMORY.set();
        let object = NonNull::new(make(c_name.as_ptr()));
        object.ok_or_else(|| CreateError::Create { kind: self.name, name, call: self.call, errno: Errno::last() })
    }
}

/// The only owner of a DPDK object. It frees the object, unless other processes use it, and keeps the EAL alive.
pub(crate) struct Handle<T> {
    object: NonNull<T>,
    /// `None` for an object that this process must not free.
    free: Option<unsafe fn(NonNull<T>)>,
    eal: Arc<Environment>,
}

// SAFETY: the object may be freed from any thread, as the caller of `new` promised. A handle gives no other access than
// its address.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: a shared handle gives only an address.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// Takes ownership of an object.
    ///
    /// # Safety
    /// `object` is live and nobody else frees it. `free` frees it, and may be called from any thread once nobody uses the
    /// object any more.
    pub(crate) const unsafe fn new(object: NonNull<T>, free: unsafe fn(NonNull<T>), eal: Arc<Environment>) -> Self {
        Self { object, free: Some(free), eal }
    }

    /// Refers to an object that other processes use too, and that this process never frees.
    ///
    /// # Safety
    /// `object` is live as long as the handle.
    pub(crate) const unsafe fn shared(object: NonNull<T>, eal: Arc<Environment>) -> Self {
        Self { object, free: None, eal }
    }

    #[inline]
    pub(crate) const fn as_ptr(&self) -> *mut T {
        self.object.as_ptr()
    }

    #[inline]
    pub(crate) const fn object(&self) -> NonNull<T> {
        self.object
    }

    /// Whether this process is a child created by `fork`, which owns nothing in DPDK's memory.
    pub(crate) fn is_forked(&self) -> bool {
        self.eal.is_forked()
    }

    /// Whether other processes use the object, so that nobody frees it.
    pub(crate) const fn is_shared(&self) -> bool {
        self.free.is_none()
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let Some(free) = self.free.filter(|_| !self.is_forked()) else {
            return;
        };
        let _control = self.eal.control();
        // SAFETY: this is the only owner of the object, as the caller of `new` promised, and it is being dropped.
        // Whoever used the object borrowed what holds this handle.
        unsafe { free(self.object) };
    }
}

/// Rejects an object for a reason that DPDK does not check, and sets `rte_errno` to it.
pub(crate) fn refuse<T>(errno: u32) -> *mut T {
    Errno::new(errno.cast_signed()).set();
    ptr::null_mut()
}
