// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory of the program that NICs reach.

use super::Owned;
use crate::{
    Eal, Errno,
    eal::{Environment, log},
    port::{self, iommu},
};
use core::{ffi::c_void, fmt, mem::ManuallyDrop, ptr::NonNull};
use dpdk_sys as sys;
use std::{path::Path, sync::Arc};

/// Why memory was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The kernel has no such pages.
    #[error("memory cannot be registered in pages of {page_len} bytes: give a power of two of {least} or more")]
    PageLength {
        /// The bytes of a page asked for.
        page_len: usize,
        /// The bytes of the kernel's smallest page.
        least: usize,
    },
    /// The memory does not begin where a page does.
    #[error("memory at {addr:#x} cannot be registered: let it begin at a multiple of {page_len}, the bytes of a page")]
    Address {
        /// Its address.
        addr: usize,
        /// The bytes of a page.
        page_len: usize,
    },
    /// The memory does not end where a page does, or there is none.
    #[error(
        "memory of {len} bytes cannot be registered: give a multiple of {page_len}, the bytes of a page, and not 0"
    )]
    Length {
        /// Its bytes.
        len: usize,
        /// The bytes of a page.
        page_len: usize,
    },
    /// A part of the memory is DPDK's own, or registered already.
    #[error(
        "memory at {addr:#x}, {len} bytes, cannot be registered: DPDK knows a part of it. Its own memory (Heap, Memzone) needs no \
         registration, other memory one only"
    )]
    Known {
        /// Its address.
        addr: usize,
        /// Its bytes.
        len: usize,
    },
    /// Devices see memory at its physical addresses, which the kernel may change for memory of a program.
    #[error(
        "memory cannot be registered where devices see physical addresses (IOVA as PA): bind the NICs to vfio-pci with the IOMMU on, \
         and give the EAL --iova-mode=va"
    )]
    PhysicalAddresses,
    /// The IOMMU has too few bits for the memory's address.
    #[error(
        "memory that ends at {end:#x} cannot be registered: the IOMMU translates addresses of {bits} bits. Map it at a lower address, or take \
         it from Heap::boxed_slice or Memzone"
    )]
    TooHigh {
        /// The address behind its last byte.
        end: usize,
        /// The bits of an address.
        bits: u32,
    },
    /// A device neither reads memory through the processor nor is a NIC on VFIO.
    #[error(
        "memory cannot be registered: port {port} would not reach it, being neither a NIC on vfio-pci nor a virtual device that reads \
         through the processor: leave it out, or take the memory from Heap::boxed_slice or Memzone"
    )]
    Unreachable {
        /// A port of this process, with its driver.
        port: String,
    },
    /// A child made by `fork` cannot register memory: the devices are its parent's.
    #[error("memory cannot be registered: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// DPDK or the kernel refused; DPDK's log says more.
    #[error("cannot {action} memory of {len} bytes: {errno}{}", remedy(call, *errno))]
    Refused {
        /// `register` or `map for the NICs`.
        action: &'static str,
        /// The call of DPDK.
        call: &'static str,
        /// The bytes of the memory.
        len: usize,
        /// DPDK's error, or the kernel's.
        errno: Errno,
    },
}

const REGISTER: &str = "rte_extmem_register";
const MAP: &str = "rte_vfio_container_dma_map";

/// What to do about it, in words; nothing where the error says it.
fn remedy(call: &str, errno: Errno) -> &'static str {
    match (call, errno.get()) {
        (REGISTER, 28) => ": DPDK counts all its pieces of memory in a short list: register fewer, larger ones",
        (MAP, 12) => ": all of it is locked: raise the limit (ulimit -l), give less, or register fewer, larger pieces",
        (MAP, 14) => ": NICs write to it, and the kernel does not let the program: map it for writing",
        (MAP, 22) => ": the IOMMU may not translate so high an address: map the memory at a lower one",
        _ => "",
    }
}

impl RegisterError {
    /// DPDK's error, or the kernel's, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }
}

/// Memory of the program that devices reach: DPDK knows where they see it, and the IOMMU lets all NICs on VFIO read and write it.
///
/// It goes where other memory does: [`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in) makes a pool in it, into which NICs
/// receive, and [`Packet::attach`](crate::Packet::attach) makes a packet of it, which they send. Pool and packet own it. Its drop, which
/// comes after the last packet, takes it from the NICs first, and then drops the memory. Where the IOMMU cannot be told so, the memory is
/// kept for ever, and the log says so.
///
/// The kernel locks all of the memory as long as a NIC reaches it. A NIC reaches whole pages and no more, so that nothing else of the
/// program lies in them: this is why they must be given whole. What is registered takes a place in a list of DPDK's that has about 100:
/// register large pieces.
///
/// NICs must be on `vfio-pci`, with an IOMMU that has bits enough for the program's addresses: devices see the memory at those (IOVA as
/// VA). With `igb_uio`, `uio_pci_generic` and VFIO without an IOMMU there is no way, nor is there yet for `mlx5_pci` and `net_virtio_user`.
/// Virtual devices that read through the processor need no registration, and do not mind one.
///
/// ```no_run
/// # fn pages() -> Vec<u8> { Vec::new() }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
/// use dpdk_rs::{Mempool, memory::ExternalMemory};
///
/// // A file that is mapped, memory that the program shares with a GPU, …
/// let memory = ExternalMemory::register(&eal, pages(), 4096).map_err(|(error, _memory)| error)?;
/// let pool = Mempool::<()>::builder("pool").size(1023).build_in(&eal, memory).map_err(|(error, _memory)| error)?;
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_extmem_register")]
#[doc(alias = "rte_extmem_unregister")]
#[doc(alias = "rte_dev_dma_map")]
#[doc(alias = "rte_vfio_container_dma_map")]
pub struct ExternalMemory<M> {
    bytes: NonNull<[u8]>,
    /// The IOMMU lets NICs reach it.
    mapped: bool,
    environment: Arc<Environment>,
    /// Dropped by hand, once no device reaches it.
    memory: ManuallyDrop<Owned<M>>,
}

// SAFETY: the bytes are those of the memory, which is this object's alone and may be sent to another thread; DPDK lets any thread
// unregister them.
unsafe impl<M: Send> Send for ExternalMemory<M> {}
// SAFETY: a shared `ExternalMemory` tells where the bytes are, and gives no access to them.
unsafe impl<M> Sync for ExternalMemory<M> {}

impl<M: AsMut<[u8]> + Send + 'static> ExternalMemory<M> {
    /// Registers `memory` in pages of `page_len` bytes: those of the kernel (4,096), or of the hugepages that it lies in, for which DPDK
    /// keeps shorter tables. It begins and ends where pages do. If there are NICs on VFIO, they reach all of it from here on.
    ///
    /// # Errors
    /// The memory, and why it was not registered: see [`RegisterError`].
    ///
    /// # Panics
    /// If `as_mut` of the memory does; the memory is dropped then.
    pub fn register(eal: &Eal, memory: M, page_len: usize) -> Result<Self, (RegisterError, M)> {
        let mut memory = Owned::new(memory);
        let bytes = memory.bytes();
        let environment = Arc::clone(eal.environment());
        match register(&environment, bytes, page_len) {
            Ok(mapped) => Ok(Self { bytes, mapped, environment, memory: ManuallyDrop::new(memory) }),
            Err(error) => Err((error, memory.into_inner())),
        }
    }
}

impl<M> ExternalMemory<M> {
    /// Whether there is a NIC on VFIO, for which the memory was mapped: it reads and writes the memory through the IOMMU.
    #[must_use]
    pub const fn is_mapped(&self) -> bool {
        self.mapped
    }
}

impl<M> AsMut<[u8]> for ExternalMemory<M> {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: the bytes are the memory's, which is live and this object's alone, and nobody has used it since they were asked for;
        // this object is borrowed exclusively, and no mbuf lies there, whose pool would own it.
        unsafe { self.bytes.as_mut() }
    }
}

impl<M> fmt::Debug for ExternalMemory<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, mapped, .. } = self;
        let (addr, len) = (bytes.cast::<u8>(), bytes.len());
        f.debug_struct("ExternalMemory").field("addr", &addr).field("len", &len).field("mapped", mapped).finish()
    }
}

impl<M> Drop for ExternalMemory<M> {
    fn drop(&mut self) {
        // The devices are those of the parent, and so is what they are told.
        if self.environment.is_forked() {
            return;
        }
        let ended = end(&self.environment, self.bytes, self.mapped);
        if let Err((action, errno)) = ended {
            let (addr, len) = (self.bytes.cast::<u8>(), self.bytes.len());
            log(&format!("memory of the program at {addr:?}, {len} bytes, is kept for ever: cannot {action}: {errno}"));
            return;
        }
        // SAFETY: neither DPDK nor a device knows of the memory any more; this object, which is at its end, is its only owner.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

/// Whether there is a NIC that reaches the bytes from here on.
fn register(environment: &Environment, bytes: NonNull<[u8]>, page_len: usize) -> Result<bool, RegisterError> {
    let (start, len) = (bytes.cast::<c_void>().as_ptr(), bytes.len());
    if environment.is_forked() {
        return Err(RegisterError::Forked);
    }
    // SAFETY: the call asks the kernel for a number.
    let least = unsafe { sys::dpdk_sys_page_len() };
    if !page_len.is_power_of_two() || page_len < least {
        return Err(RegisterError::PageLength { page_len, least });
    }
    if len == 0 || !len.is_multiple_of(page_len) {
        return Err(RegisterError::Length { len, page_len });
    }
    if !start.addr().is_multiple_of(page_len) {
        return Err(RegisterError::Address { addr: start.addr(), page_len });
    }
    // SAFETY: the EAL is initialised, since there is an `Environment`; the call reads a number, which does not change any more.
    if unsafe { sys::dpdk_sys_iova_is_va() } == 0 {
        return Err(RegisterError::PhysicalAddresses);
    }
    let end = start.addr().saturating_add(len);
    if let Some(bits) =
        iommu::width(Path::new(iommu::SYS)).filter(|bits| (end - 1).checked_shr(*bits).unwrap_or(0) != 0)
    {
        return Err(RegisterError::TooHigh { end, bits });
    }
    let control = environment.control();
    let nic = port::reaches_program_memory(&control).map_err(|port| RegisterError::Unreachable { port })?;
    // SAFETY: the EAL is initialised, since there is an `Environment`; the call compares addresses, under a lock of DPDK's.
    if unsafe { sys::dpdk_sys_mem_known(start, len) } != 0 {
        return Err(RegisterError::Known { addr: start.addr(), len });
    }
    let mut iovas: Vec<u64> = (0..len / page_len).map(|page| (start.addr() + page * page_len) as u64).collect();
    let refused = |action, call, errno| RegisterError::Refused { action, call, len, errno };
    // DPDK looks whether there are as many addresses as pages, of which it counts 2^31 at most.
    let pages = u32::try_from(iovas.len()).unwrap_or(0);
    // SAFETY: the EAL is initialised, the control plane is locked, and the bytes are whole pages that DPDK does not know; the call copies
    // `pages` addresses.
    let result = unsafe { sys::dpdk_sys_extmem_register(start, len, iovas.as_mut_ptr(), pages, page_len) };
    Errno::check(result).map_err(|errno| refused("register", REGISTER, errno))?;
    if !nic {
        return Ok(false);
    }
    // SAFETY: the control plane is locked, and the bytes are whole pages of the program's, which keeps them until they are unmapped: a
    // NIC that writes there writes to nothing else.
    let result = unsafe { sys::dpdk_sys_vfio_map(start, len) };
    let mapped = Errno::check(result).map(|_| true).map_err(|errno| refused("map for the NICs", MAP, errno));
    if mapped.is_err() {
        // SAFETY: the bytes were registered a few lines before, and nothing refers to them.
        unsafe { sys::dpdk_sys_extmem_unregister(start, len) };
    }
    mapped
}

/// Takes the bytes from the NICs and from DPDK; otherwise what could not be done, and why.
fn end(environment: &Environment, bytes: NonNull<[u8]>, mapped: bool) -> Result<(), (&'static str, Errno)> {
    let (start, len) = (bytes.cast::<c_void>().as_ptr(), bytes.len());
    let _control = environment.control();
    if mapped {
        // SAFETY: the control plane is locked, and `register` has mapped these bytes. No pool and no packet lies there any more, so no
        // device was told of them that still runs.
        let result = unsafe { sys::dpdk_sys_vfio_unmap(start, len) };
        Errno::check(result).map_err(|errno| ("take it from the NICs", errno))?;
    }
    // SAFETY: the control plane is locked, `register` has registered these bytes, and nothing of DPDK's refers to them.
    let result = unsafe { sys::dpdk_sys_extmem_unregister(start, len) };
    Errno::check(result).map(|_| ()).map_err(|errno| ("unregister it", errno))
}
