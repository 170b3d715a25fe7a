// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory with a name.

use super::MOST_BYTES;
use crate::{
    CreateError, Eal, SocketId,
    environment::Environment,
    name,
    object::{Handle, Kind, refuse},
};
use core::{
    fmt,
    ptr::{self, NonNull},
    slice,
};
use dpdk_sys as sys;
use std::sync::Arc;

/// `RTE_MEMZONE_NAMESIZE` less the NUL byte.
const MEMZONE: Kind = Kind { name: "memory zone", call: "rte_memzone_reserve_aligned", longest_name: 31 };

/// The location of a memory zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemzoneInfo {
    /// Its address. DPDK, a device or another process may use the bytes: reading them needs `unsafe`.
    pub addr: *const u8,
    /// Its length in bytes.
    pub len: usize,
    /// Its address for devices.
    pub iova: u64,
    /// The page size of its memory in bytes.
    pub page_len: u64,
    /// Its NUMA node.
    pub socket: SocketId,
}

/// A memory zone that this program has reserved, initially filled with zeros. Others can find it by its name.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::memory::Memzone;
///
/// let mut zone = Memzone::builder("shared table", 4096).build(&eal)?;
/// zone.bytes_mut()[0] = 1;
/// assert_eq!(Memzone::lookup(&eal, "shared table").map(|zone| zone.len), Some(4096));
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_memzone")]
pub struct Memzone {
    zone: Handle<sys::rte_memzone>,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the zone's bytes belong to this object alone, and DPDK lets any thread free it.
unsafe impl Send for Memzone {}
// SAFETY: through a shared reference the zone is only read.
unsafe impl Sync for Memzone {}

impl Memzone {
    /// Starts the description of a zone of `len` bytes, at most 2^47. `name` has at most 28 bytes and is unique among the zones of
    /// the process.
    pub fn builder(name: impl Into<String>, len: usize) -> MemzoneBuilder {
        MemzoneBuilder { name: name.into(), len, align: 0, contiguous: false, socket: SocketId::ANY }
    }

    /// The location of the zone with this name; `None` if there is none. If no program that uses this crate has reserved
    /// one, it is that of DPDK itself or of a program in another language.
    #[doc(alias = "rte_memzone_lookup")]
    #[must_use]
    pub fn lookup(eal: &Eal, name: &str) -> Option<MemzoneInfo> {
        find(eal.environment(), name)
    }

    /// The bytes of the zone.
    #[must_use]
    pub const fn bytes(&self) -> &[u8] {
        // SAFETY: the zone has `len` bytes, which `build` has written. They belong to this object, and whoever writes
        // borrows it exclusively.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The bytes of the zone, mutably.
    #[must_use]
    pub const fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the zone has `len` bytes, which `build` has written. They belong to this object, which is borrowed
        // exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// The location of the zone.
    #[must_use]
    pub fn info(&self) -> MemzoneInfo {
        // SAFETY: the zone lives as long as its handle.
        unsafe { info(self.zone.object()) }
    }
}

impl AsRef<[u8]> for Memzone {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl AsMut<[u8]> for Memzone {
    fn as_mut(&mut self) -> &mut [u8] {
        self.bytes_mut()
    }
}

impl fmt::Debug for Memzone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memzone").field("info", &self.info()).finish()
    }
}

/// The location of the zone with a name.
pub(crate) fn find(_environment: &Environment, name: &str) -> Option<MemzoneInfo> {
    name::candidates(name)?.iter().find_map(|name| {
        // SAFETY: the EAL is initialised, since there is an `Environment`; the call compares the name with others, under a
        // lock of its own.
        let zone = unsafe { sys::rte_memzone_lookup(name.as_ptr()) };
        // SAFETY: a zone's description stays where it is, in a table that lives as long as the EAL.
        NonNull::new(zone.cast_mut()).map(|zone| unsafe { info(zone) })
    })
}

/// DPDK's description of a zone.
///
/// # Safety
/// `zone` points to the description of a zone in DPDK's table.
unsafe fn info(zone: NonNull<sys::rte_memzone>) -> MemzoneInfo {
    let mut info = sys::dpdk_sys_memzone::default();
    // SAFETY: the caller promises a description, which is copied.
    unsafe { sys::dpdk_sys_memzone_get(zone.as_ptr(), &raw mut info) };
    MemzoneInfo {
        addr: info.addr.cast(),
        len: info.len,
        iova: info.iova,
        page_len: info.page_len,
        socket: SocketId::new(info.socket_id),
    }
}

/// The description of a [`Memzone`], from [`Memzone::builder`].
#[derive(Clone, Debug)]
#[must_use = "a zone is reserved by `build`"]
pub struct MemzoneBuilder {
    name: String,
    len: usize,
    align: u32,
    contiguous: bool,
    socket: SocketId,
}

impl MemzoneBuilder {
    /// The alignment of the first byte: a power of two. Default and minimum: a cache line.
    pub const fn align(mut self, bytes: u32) -> Self {
        self.align = bytes;
        self
    }

    /// Makes the zone contiguous for devices.
    #[doc(alias = "RTE_MEMZONE_IOVA_CONTIG")]
    pub const fn contiguous(mut self) -> Self {
        self.contiguous = true;
        self
    }

    /// The NUMA node for the zone's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Reserves the zone and fills it with zeros.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, a length of 0, an alignment that is not a power of two,
    /// or a child process created by `fork`.
    #[doc(alias = "rte_memzone_reserve")]
    #[doc(alias = "rte_memzone_reserve_aligned")]
    pub fn build(self, eal: &Eal) -> Result<Memzone, CreateError> {
        if self.len > MOST_BYTES {
            return Err(MEMZONE.too_large(&self.name, self.len, 1));
        }
        let environment = eal.environment();
        let flags = if self.contiguous { sys::RTE_MEMZONE_IOVA_CONTIG } else { 0 };
        let zone = MEMZONE.create(environment, &self.name, |name| {
            if self.len == 0 {
                // DPDK would reserve all free memory.
                return refuse(sys::EINVAL);
            }
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies the name.
            let zone =
                unsafe { sys::rte_memzone_reserve_aligned(name, self.len, self.socket.get(), flags, self.align) };
            zone.cast_mut()
        })?;
        // SAFETY: the zone is new, so nobody else frees it. Any thread may call `free`, since DPDK locks its table.
        let zone = unsafe { Handle::new(zone, free, Arc::clone(environment)) };
        // SAFETY: the zone is live, since the handle owns it.
        let info = unsafe { info(zone.object()) };
        let start = info.addr.cast_mut();
        // SAFETY: the zone has `info.len` bytes, and others know it only by its name.
        unsafe { ptr::write_bytes(start, 0, info.len) };
        // SAFETY: a zone that was reserved has an address.
        Ok(Memzone { zone, start: unsafe { NonNull::new_unchecked(start) }, len: info.len })
    }
}

/// # Safety
/// The zone is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(zone: NonNull<sys::rte_memzone>) {
    // SAFETY: the caller promises a live zone that nobody uses.
    unsafe { sys::rte_memzone_free(zone.as_ptr()) };
}
