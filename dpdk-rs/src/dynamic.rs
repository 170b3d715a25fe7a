// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fields and flags of mbufs that programs and drivers register at run time.

use crate::{Eal, Errno, Packet, PrivateData, name};
use core::{ffi::c_char, marker::PhantomData};
use dpdk_sys as sys;

/// Why a field or a flag was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicError {
    /// The name is empty, contains a NUL byte, or is too long.
    #[error("name {0:?} cannot be used: give 1 to {longest} bytes, and no NUL byte", longest = name::longest(LONGEST_NAME))]
    Name(String),
    /// A child process created by `fork` cannot register anything: mbufs belong to its parent.
    #[error("cannot register '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// DPDK refused: `EEXIST` for a name with another size or alignment, `ENOSPC` if mbufs have too little room left,
    /// `EINVAL` for an alignment above 64.
    #[error("cannot register '{name}', {len} bytes of every mbuf: {errno}")]
    Field {
        /// The name.
        name: String,
        /// The size of the type in bytes.
        len: usize,
        /// DPDK's error.
        errno: Errno,
    },
    /// DPDK refused: `ENOSPC` if mbufs have no flag left.
    #[error("cannot register '{name}', a flag of every mbuf: {errno}")]
    Flag {
        /// The name.
        name: String,
        /// DPDK's error.
        errno: Errno,
    },
}

/// Mbufs are aligned to cache lines.
const MBUF_ALIGN: usize = sys::RTE_CACHE_LINE_SIZE as usize;

/// A field of plain bytes in every mbuf, for as long as the process runs. A copy is the same field.
///
/// The field belongs to the mbuf, like the private area: it is neither copied with the data nor cleared when the mbuf
/// is reused, so an unwritten field has an arbitrary value. Use a [`DynFlag`] to mark written fields: flags are
/// cleared.
///
/// ```no_run
/// # fn example(eal: &dpdk_rs::Eal, packet: &mut dpdk_rs::Packet) -> Result<(), dpdk_rs::DynamicError> {
/// let received = dpdk_rs::DynField::<u64>::register(eal, "example_received_ns")?;
/// packet.set_field(received, 1_000);
/// assert_eq!(packet.field(received), 1_000);
/// # Ok(()) }
/// ```
#[doc(alias = "rte_mbuf_dynfield")]
#[derive(Debug)]
pub struct DynField<T: PrivateData> {
    offset: usize,
    value: PhantomData<fn() -> T>,
}

impl<T: PrivateData> Clone for DynField<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: PrivateData> Copy for DynField<T> {}

impl<T: PrivateData> DynField<T> {
    /// A field that a DPDK library has registered.
    ///
    /// # Safety
    /// Every mbuf has a field of the size and alignment of a `T` at this offset, in which the library accepts any
    /// value.
    pub(crate) const unsafe fn at(offset: usize) -> Self {
        Self { offset, value: PhantomData }
    }

    /// Registers a field under a name of at most 60 bytes. Registering the same name again, with a type of the same size and alignment,
    /// returns the same field.
    ///
    /// # Errors
    /// See [`DynamicError`]. About 36 of an mbuf's 128 bytes are free for such fields.
    #[doc(alias = "rte_mbuf_dynfield_register")]
    pub fn register(eal: &Eal, name: &str) -> Result<Self, DynamicError> {
        let c_name = checked(eal, name)?;
        let failed = |errno| DynamicError::Field { name: name.to_owned(), len: size_of::<T>(), errno };
        // A type of size 0 always fits at the start of an mbuf, so its alignment is checked here.
        if align_of::<T>() > MBUF_ALIGN {
            return Err(failed(Errno::new(sys::EINVAL.cast_signed())));
        }
        let field = sys::rte_mbuf_dynfield { name: c_name, size: size_of::<T>(), align: align_of::<T>(), flags: 0 };
        let _control = eal.environment().control();
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call copies the
        // struct.
        let offset = unsafe { sys::rte_mbuf_dynfield_register(&raw const field) };
        match usize::try_from(offset) {
            Ok(offset) => Ok(Self { offset, value: PhantomData }),
            Err(_) => Err(failed(Errno::last())),
        }
    }
}

/// A flag of every mbuf, for as long as the process runs. It is false in a packet from a pool or a device.
#[doc(alias = "rte_mbuf_dynflag")]
#[derive(Clone, Copy, Debug)]
pub struct DynFlag(u64);

impl DynFlag {
    /// Registers a flag under a name of at most 60 bytes. Registering the same name again returns the same flag.
    ///
    /// # Errors
    /// See [`DynamicError`]. 18 of an mbuf's 64 flags are free for this.
    #[doc(alias = "rte_mbuf_dynflag_register")]
    pub fn register(eal: &Eal, name: &str) -> Result<Self, DynamicError> {
        let flag = sys::rte_mbuf_dynflag { name: checked(eal, name)?, flags: 0 };
        let _control = eal.environment().control();
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call copies the
        // struct.
        let bit = unsafe { sys::rte_mbuf_dynflag_register(&raw const flag) };
        match u32::try_from(bit) {
            Ok(bit) => Ok(Self(1 << bit)),
            Err(_) => Err(DynamicError::Flag { name: name.to_owned(), errno: Errno::last() }),
        }
    }
}

/// The field and the flag in which devices report when a frame arrived.
#[doc(alias = "rte_mbuf_dyn_rx_timestamp_register")]
#[derive(Clone, Copy, Debug)]
pub struct RxTimestamp {
    field: DynField<u64>,
    flag: u64,
}

impl RxTimestamp {
    /// Registers the field and the flag, or finds them if a driver has registered them.
    ///
    /// # Errors
    /// [`DynamicError::Field`] if mbufs have no room left, or [`DynamicError::Forked`].
    pub fn register(eal: &Eal) -> Result<Self, DynamicError> {
        const NAME: &str = "rte_dynfield_timestamp";
        let environment = eal.environment();
        if environment.is_forked() {
            return Err(DynamicError::Forked(NAME.to_owned()));
        }
        let (mut offset, mut flag) = (0, 0);
        let _control = environment.control();
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call writes two
        // numbers of ours.
        let result = unsafe { sys::rte_mbuf_dyn_rx_timestamp_register(&raw mut offset, &raw mut flag) };
        match usize::try_from(offset) {
            Ok(offset) if result >= 0 => Ok(Self { field: DynField { offset, value: PhantomData }, flag }),
            _ => Err(DynamicError::Field { name: NAME.to_owned(), len: size_of::<u64>(), errno: Errno::last() }),
        }
    }

    #[inline]
    pub(crate) const fn field(&self) -> DynField<u64> {
        self.field
    }

    #[inline]
    pub(crate) const fn flag(&self) -> u64 {
        self.flag
    }
}

const LONGEST_NAME: usize = sys::RTE_MBUF_DYN_NAMESIZE as usize - 1;

/// The name in DPDK's form. DPDK's own fields hold pointers, table indexes and similar data, which drivers trust.
fn checked(eal: &Eal, name: &str) -> Result<[c_char; LONGEST_NAME + 1], DynamicError> {
    let Some(c_name) = name::to_dpdk(name, LONGEST_NAME).filter(|_| !name.is_empty()) else {
        return Err(DynamicError::Name(name.to_owned()));
    };
    if eal.environment().is_forked() {
        return Err(DynamicError::Forked(name.to_owned()));
    }
    let mut array = [0; _];
    for (to, from) in array.iter_mut().zip(c_name.as_bytes()) {
        *to = from.cast_signed();
    }
    Ok(array)
}

impl<P: PrivateData> Packet<P> {
    /// The value of a field.
    #[doc(alias = "RTE_MBUF_DYNFIELD")]
    #[inline]
    #[must_use]
    pub fn field<T: PrivateData>(&self, field: DynField<T>) -> T {
        // SAFETY: DPDK has returned the offset for a `T`, as whoever made the field ensures.
        unsafe { self.head().dynamic(field.offset) }
    }

    /// Writes to a field.
    #[doc(alias = "RTE_MBUF_DYNFIELD")]
    #[inline]
    pub fn set_field<T: PrivateData>(&mut self, field: DynField<T>, value: T) {
        // SAFETY: DPDK has returned the offset for a `T`, and the field is the program's, or one that allows every value:
        // whoever made the field ensures both.
        unsafe { self.head_mut().set_dynamic(field.offset, value) };
    }

    /// Whether a flag is set.
    #[inline]
    #[must_use]
    pub fn flag(&self, flag: DynFlag) -> bool {
        self.head().ol_flags() & flag.0 != 0
    }

    /// Sets or clears a flag.
    #[inline]
    pub fn set_flag(&mut self, flag: DynFlag, on: bool) {
        let head = self.head_mut();
        let others = head.ol_flags() & !flag.0;
        // SAFETY: only the program's flag changes, which DPDK has registered: it is none of DPDK's own.
        unsafe { head.set_ol_flags(if on { others | flag.0 } else { others }) };
    }
}
