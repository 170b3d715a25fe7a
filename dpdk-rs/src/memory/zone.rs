// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory under a name.

use crate::{
    CreateError, Eal, SocketId,
    object::{Handle, Kind, refuse},
};
use core::{
    fmt,
    ptr::{self, NonNull},
    slice,
};
use dpdk_sys as sys;
use std::{ffi::CString, sync::Arc};

/// `RTE_MEMZONE_NAMESIZE` less the NUL byte.
const MEMZONE: Kind = Kind { name: "memory zone", call: "rte_memzone_reserve_aligned", longest_name: 31 };

/// Where a memory zone is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemzoneInfo {
    /// Its address. What is there may be in use by DPDK, a device or another process: reading it needs `unsafe`.
    pub addr: *const u8,
    /// Its bytes.
    pub len: usize,
    /// Its address as devices see it.
    pub iova: u64,
    /// The bytes of a page of its memory.
    pub page_len: u64,
    /// The NUMA node that it is on.
    pub socket: SocketId,
}

/// A memory zone that this program has reserved: zeros at first. Others can find it by its name.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
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

// SAFETY: the zone's bytes are this object's alone, and DPDK lets any thread free it.
unsafe impl Send for Memzone {}
// SAFETY: through a shared reference the zone is only read.
unsafe impl Sync for Memzone {}

impl Memzone {
    /// Starts to describe a zone of `len` bytes. The name is the process's own, of at most 31 bytes: two zones cannot share
    /// one, and DPDK has some of its own.
    pub fn builder(name: impl Into<String>, len: usize) -> MemzoneBuilder {
        MemzoneBuilder { name: name.into(), len, align: 0, contiguous: false, socket: SocketId::ANY }
    }

    /// Where the zone of this name is, whoever has reserved it; `None` if there is none.
    #[doc(alias = "rte_memzone_lookup")]
    #[must_use]
    pub fn lookup(_eal: &Eal, name: &str) -> Option<MemzoneInfo> {
        find(name)
    }

    /// The bytes of the zone.
    #[must_use]
    pub const fn bytes(&self) -> &[u8] {
        // SAFETY: the zone has so many bytes, which `build` has written. They are this object's, and whoever writes borrows
        // it exclusively.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The bytes of the zone, to be changed.
    #[must_use]
    pub const fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the zone has so many bytes, which `build` has written. They are this object's, which is borrowed
        // exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Where it is.
    #[must_use]
    pub fn info(&self) -> MemzoneInfo {
        // SAFETY: the zone is live as long as its handle.
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

/// Where the zone of a name is; for callers that have initialised the EAL.
pub(crate) fn find(name: &str) -> Option<MemzoneInfo> {
    let name = CString::new(name).ok()?;
    // SAFETY: the EAL is initialised, since all callers hold an `Eal` or a `Secondary`; the call compares the name with others,
    // under a lock of its own.
    let zone = unsafe { sys::rte_memzone_lookup(name.as_ptr()) };
    // SAFETY: a zone's description stays where it is, in a table that lives as long as the EAL.
    NonNull::new(zone.cast_mut()).map(|zone| unsafe { info(zone) })
}

/// What DPDK says of a zone.
///
/// # Safety
/// `zone` is the description of a zone, in DPDK's table of them.
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

/// Describes a [`Memzone`]; made by [`Memzone::builder`].
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
    /// The alignment of its first byte: a power of two; that of a cache line unless set, or set to less.
    pub const fn align(mut self, bytes: u32) -> Self {
        self.align = bytes;
        self
    }

    /// Has devices see the zone in one piece.
    #[doc(alias = "RTE_MEMZONE_IOVA_CONTIG")]
    pub const fn contiguous(mut self) -> Self {
        self.contiguous = true;
        self
    }

    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Reserves the zone, and writes zeros to it.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, no length, an alignment that is no power of two, a child made by `fork`.
    #[doc(alias = "rte_memzone_reserve")]
    #[doc(alias = "rte_memzone_reserve_aligned")]
    pub fn build(self, eal: &Eal) -> Result<Memzone, CreateError> {
        let environment = eal.environment();
        let flags = if self.contiguous { sys::RTE_MEMZONE_IOVA_CONTIG } else { 0 };
        let zone = MEMZONE.create(environment, &self.name, |name| {
            if self.len == 0 {
                // DPDK would take all there is.
                return refuse(sys::EINVAL);
            }
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies the name.
            let zone =
                unsafe { sys::rte_memzone_reserve_aligned(name, self.len, self.socket.get(), flags, self.align) };
            zone.cast_mut()
        })?;
        // SAFETY: the zone is new, so nobody else frees it; `free` may be called on any thread, since DPDK locks its table.
        let zone = unsafe { Handle::new(zone, free, Arc::clone(environment)) };
        // SAFETY: the zone is live, which is the handle's.
        let info = unsafe { info(zone.object()) };
        let start = info.addr.cast_mut();
        // SAFETY: the zone has as many bytes, and nobody else knows of it but by name.
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
