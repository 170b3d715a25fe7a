// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Objects that DPDK makes under a name, and frees: rings, tables, zones and pools.

use crate::{Errno, eal::Environment};
use core::{
    ffi::c_char,
    fmt,
    ptr::{self, NonNull},
};
use std::{ffi::CString, sync::Arc};

/// Why a ring, a table, a memory zone or an object pool was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The name has a NUL byte, or is too long: DPDK would cut it, and two names could become one. Or it has a character that is
    /// not ASCII, which DPDK's telemetry reads wrong.
    #[error("{kind} name {name:?} cannot be used: give at most {longest} ASCII characters, and no NUL byte")]
    Name {
        /// What was to be made, such as `ring`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The most bytes of a name of this kind.
        longest: usize,
    },
    /// DPDK counts the size in 32 bits, which are not enough for this one.
    #[error("{kind} '{name}' is too large: {elements} elements of {len} bytes")]
    TooLarge {
        /// What was to be made.
        kind: &'static str,
        /// Its name.
        name: String,
        /// How many elements it was to have.
        elements: usize,
        /// The bytes of each.
        len: usize,
    },
    /// A child made by `fork` cannot make anything: DPDK's memory is its parent's.
    #[error("cannot create {kind} '{name}': this process is a fork of the one that initialized the EAL")]
    Forked {
        /// What was to be made.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A call of DPDK failed.
    #[error("cannot create {kind} '{name}': {call}: {errno}{}", remedy(call, *errno))]
    Create {
        /// What was to be made.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The call.
        call: &'static str,
        /// `EEXIST` for a name in use, `ENOMEM` without enough memory, `EINVAL` for a size that is not allowed, …
        errno: Errno,
    },
}

impl CreateError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Create { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Create { call, .. } = self { Some(call) } else { None }
    }
}

/// What to do about an error, in words.
fn remedy(call: &str, errno: Errno) -> &'static str {
    match (call, errno.get()) {
        ("rte_hash_create", 22) => ": give 8 entries or more",
        _ => errno.remedy(),
    }
}

/// What was to be put in did not fit; here it is again.
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

/// A kind of objects.
pub(crate) struct Kind {
    /// What users call it.
    pub(crate) name: &'static str,
    /// DPDK's call that makes one.
    pub(crate) call: &'static str,
    /// The longest name that DPDK does not cut, in bytes.
    pub(crate) longest_name: usize,
}

impl Kind {
    /// An error for an object that would be too large.
    pub(crate) fn too_large(&self, name: &str, elements: usize, len: usize) -> CreateError {
        CreateError::TooLarge { kind: self.name, name: name.to_owned(), elements, len }
    }

    /// Has `make` make an object, with the control plane locked. Null is a failure, for which `rte_errno` is the reason.
    pub(crate) fn create<T>(
        &self,
        environment: &Environment,
        name: &str,
        make: impl FnOnce(*const c_char) -> *mut T,
    ) -> Result<NonNull<T>, CreateError> {
        let name = name.to_owned();
        let usable = |_: &CString| name.is_ascii() && name.len() <= self.longest_name;
        let Some(c_name) = CString::new(name.as_str()).ok().filter(usable) else {
            return Err(CreateError::Name { kind: self.name, name, longest: self.longest_name });
        };
        if environment.is_forked() {
            return Err(CreateError::Forked { kind: self.name, name });
        }
        // What pools held may have come back since, and memory with it.
        let _control = environment.control_with_room();
        // Some of these calls set none if they have no memory.
        Errno::NO_MEMORY.set();
        let object = NonNull::new(make(c_name.as_ptr()));
        object.ok_or_else(|| CreateError::Create { kind: self.name, name, call: self.call, errno: Errno::last() })
    }
}

/// The only owner of an object of DPDK: frees it, unless other processes use it, and keeps the EAL alive.
pub(crate) struct Handle<T> {
    object: NonNull<T>,
    /// `None` for what is not this process's to free.
    free: Option<unsafe fn(NonNull<T>)>,
    eal: Arc<Environment>,
}

// SAFETY: the object may be freed from any thread, which the caller of `new` promised; a handle gives no other access
// than its address.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: a shared handle gives no more than an address.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// Takes over an object.
    ///
    /// # Safety
    /// `object` is live and nobody else frees it. `free` frees it, and may be called from any thread once nobody uses the
    /// object any more.
    pub(crate) const unsafe fn new(object: NonNull<T>, free: unsafe fn(NonNull<T>), eal: Arc<Environment>) -> Self {
        Self { object, free: Some(free), eal }
    }

    /// Refers to an object that other processes use too, and that is never freed.
    pub(crate) const fn shared(object: NonNull<T>, eal: Arc<Environment>) -> Self {
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

    /// Whether this is a child made by `fork`, to which nothing in DPDK's memory belongs.
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
        // SAFETY: this is the only owner of the object, which the caller of `new` promised, and its end; whoever used the
        // object borrowed what holds this handle.
        unsafe { free(self.object) };
    }
}

/// Refuses to make an object, for a reason that DPDK itself would not see: `rte_errno` is that.
pub(crate) fn refuse<T>(errno: u32) -> *mut T {
    Errno::new(errno.cast_signed()).set();
    ptr::null_mut()
}
