// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory of the program that NICs can access.

use super::Owned;
use crate::{
    Eal, Errno,
    environment::{Environment, iommu, ports},
    log,
};
use core::{ffi::c_void, fmt, mem::ManuallyDrop, ptr::NonNull};
use dpdk_sys as sys;
use std::{path::Path, sync::Arc};

/// Why memory was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The kernel does not support this page size.
    #[error("memory cannot be registered in pages of {page_len} bytes: give a power of two of {least} or more")]
    PageLength {
        /// The requested page size in bytes.
        page_len: usize,
        /// The kernel's smallest page size in bytes.
        least: usize,
    },
    /// The memory does not begin at a page boundary.
    #[error("memory at {addr:#x} cannot be registered: it must begin at a multiple of the page size, {page_len} bytes")]
    Address {
        /// Its address.
        addr: usize,
        /// The page size in bytes.
        page_len: usize,
    },
    /// The memory does not end at a page boundary, or is empty.
    #[error(
        "memory of {len} bytes cannot be registered: give a multiple of the page size, {page_len} bytes, and not 0"
    )]
    Length {
        /// Its length in bytes.
        len: usize,
        /// The page size in bytes.
        page_len: usize,
    },
    /// The memory has more pages than DPDK can describe.
    #[error("memory of {pages} pages cannot be registered: the maximum is {MOST_PAGES}; register it in larger pages")]
    Pages {
        /// The number of pages.
        pages: usize,
    },
    /// Some of the memory is DPDK's own, or already registered.
    #[error(
        "memory at {addr:#x}, {len} bytes, cannot be registered: DPDK already knows a part of it. DPDK's own memory (Heap, Memzone) needs no \
         registration, other memory only one"
    )]
    Known {
        /// Its address.
        addr: usize,
        /// Its length in bytes.
        len: usize,
    },
    /// Devices access memory at physical addresses, which the kernel may change for memory of a program.
    #[error(
        "memory cannot be registered where devices see physical addresses (IOVA as PA): bind the NICs to vfio-pci with the IOMMU on, \
         and give the EAL --iova-mode=va"
    )]
    PhysicalAddresses,
    /// The memory's address has more bits than the IOMMU supports.
    #[error(
        "memory that ends at {end:#x} cannot be registered: the IOMMU translates addresses of {bits} bits. Map it at a lower address, or take \
         it from Heap::boxed_slice or Memzone"
    )]
    TooHigh {
        /// The address after its last byte.
        end: usize,
        /// The number of address bits that the IOMMU supports.
        bits: u32,
    },
    /// A port neither accesses memory through the processor nor is a NIC on VFIO.
    #[error(
        "memory cannot be registered: port {port} cannot access it, being neither a NIC on vfio-pci nor a virtual device that reads \
         through the processor: leave it out, or take the memory from Heap::boxed_slice or Memzone"
    )]
    Unreachable {
        /// The port, with its driver.
        port: String,
    },
    /// A child process created by `fork` cannot register memory: the devices belong to its parent.
    #[error("memory cannot be registered: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// DPDK or the kernel refused. DPDK's log has details.
    #[error("cannot {action} memory of {len} bytes: {errno}{}", remedy(call, *errno))]
    Refused {
        /// `register` or `map for the NICs`.
        action: &'static str,
        /// The name of the DPDK function.
        call: &'static str,
        /// The length of the memory in bytes.
        len: usize,
        /// DPDK's error, or the kernel's.
        errno: Errno,
    },
}

/// DPDK describes each page in 48 bytes, whose sum it computes in 32 bits. For more pages it reserves too little memory, and
/// writes past its end.
const MOST_PAGES: usize = 1 << 26;
const _: () = assert!(MOST_PAGES as u64 * 48 <= u32::MAX as u64);

const REGISTER: &str = "rte_extmem_register";
const MAP: &str = "rte_vfio_container_dma_map";

/// Advice for an error, in words; empty if the error needs none.
fn remedy(call: &str, errno: Errno) -> &'static str {
    match (call, errno.get()) {
        (REGISTER, 28) => ": DPDK's list of memory areas is full: register fewer, larger areas",
        (MAP, 12) => {
            ": the kernel locks all of it: raise the limit (ulimit -l), give less memory, or register fewer, larger areas"
        }
        (MAP, 14) => ": NICs write to the memory, and the program may not: map it for writing",
        (MAP, 22) => ": the address may be too high for the IOMMU: map the memory at a lower one",
        _ => "",
    }
}

impl RegisterError {
    /// The error of DPDK or the kernel, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }
}

/// Memory of the program that devices can access: DPDK knows the addresses at which devices see it, and the IOMMU lets
/// all NICs on VFIO read and write it.
///
/// [`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in) creates a pool in this memory, into which NICs
/// receive. [`Packet::attach`](crate::Packet::attach) turns it into a packet, which NICs send. The pool or the packet
/// owns the memory. Its drop, after that of the last packet, first removes the memory from the NICs and then drops it.
/// If the IOMMU refuses the removal, the memory is kept for ever, and the log says so.
///
/// The kernel locks all of the memory as long as a NIC can access it. A NIC can access whole pages only, and nothing
/// else of the program may lie in them: so `memory` must consist of whole pages. Each registration takes an entry of a
/// DPDK list with about 100 entries: register large areas.
///
/// NICs must be bound to `vfio-pci`, with an IOMMU that has enough address bits for the program's addresses, at which
/// devices then see the memory (IOVA as VA). `igb_uio`, `uio_pci_generic` and VFIO without an IOMMU cannot work;
/// `mlx5_pci` and `net_virtio_user` are not supported yet. Virtual devices that access memory through the processor
/// need no registration, and work with registered memory too.
///
/// ```no_run
/// # fn pages() -> Vec<u8> { Vec::new() }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::{Mempool, memory::ExternalMemory};
///
/// // A mapped file, memory shared with a GPU, …
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
    /// Whether the IOMMU lets NICs access the memory.
    mapped: bool,
    environment: Arc<Environment>,
    /// Dropped explicitly, once no device can access it.
    memory: ManuallyDrop<Owned<M>>,
}

// SAFETY: the bytes are those of the memory, which belongs to this object alone and may be sent to another thread. DPDK
// lets any thread unregister them.
unsafe impl<M: Send> Send for ExternalMemory<M> {}
// SAFETY: a shared `ExternalMemory` only returns where the bytes are, and gives no access to them.
unsafe impl<M> Sync for ExternalMemory<M> {}

impl<M: AsMut<[u8]> + Send + 'static> ExternalMemory<M> {
    /// Registers `memory` in pages of `page_len` bytes: the kernel's page size (4,096), or the size of the hugepages
    /// that contain the memory, for which DPDK's tables are shorter. The memory must begin and end at page boundaries, and
    /// has at most 2^26 pages.
    /// From now on NICs on VFIO can access all of it.
    ///
    /// # Errors
    /// The memory, and why it was not registered; see [`RegisterError`].
    ///
    /// # Panics
    /// If `as_mut` of the memory panics. The memory is dropped then.
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
    /// Whether the memory is mapped for a NIC on VFIO, which accesses it through the IOMMU.
    #[must_use]
    pub const fn is_mapped(&self) -> bool {
        self.mapped
    }
}

impl<M> AsMut<[u8]> for ExternalMemory<M> {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: the bytes are the memory's, which is live and belongs to this object alone, and nobody has used it
        // since its bytes were determined. This object is borrowed exclusively, and no mbuf lies there, since a pool
        // would own the memory.
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
        // The devices and their mappings belong to the parent.
        if self.environment.is_forked() {
            return;
        }
        let ended = end(&self.environment, self.bytes, self.mapped);
        if let Err((action, errno)) = ended {
            let (addr, len) = (self.bytes.cast::<u8>(), self.bytes.len());
            log::warn(&format!(
                "memory of the program at {addr:?}, {len} bytes, is kept for ever: cannot {action}: {errno}"
            ));
            return;
        }
        // SAFETY: neither DPDK nor a device refers to the memory any more. This object, which is being dropped, is its
        // only owner.
        unsafe { ManuallyDrop::drop(&mut self.memory) };
    }
}

/// Registers the bytes. Returns whether a NIC can access them now.
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
    if len / page_len > MOST_PAGES {
        return Err(RegisterError::Pages { pages: len / page_len });
    }
    if !start.addr().is_multiple_of(page_len) {
        return Err(RegisterError::Address { addr: start.addr(), page_len });
    }
    // SAFETY: the EAL is initialised, since there is an `Environment`. The call reads a number that no longer changes.
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
    let nic = ports::reaches_program_memory(&control).map_err(|port| RegisterError::Unreachable { port })?;
    // SAFETY: the EAL is initialised, since there is an `Environment`. The call compares addresses, under a DPDK lock.
    if unsafe { sys::dpdk_sys_mem_known(start, len) } != 0 {
        return Err(RegisterError::Known { addr: start.addr(), len });
    }
    let mut iovas: Vec<u64> = (0..len / page_len).map(|page| (start.addr() + page * page_len) as u64).collect();
    let refused = |action, call, errno| RegisterError::Refused { action, call, len, errno };
    // DPDK checks that there is one address for each page.
    let pages = u32::try_from(iovas.len()).unwrap_or(0);
    // SAFETY: the EAL is initialised, the control plane is locked, and the bytes are whole pages that DPDK does not
    // know. The call copies `pages` addresses.
    let result = unsafe { sys::dpdk_sys_extmem_register(start, len, iovas.as_mut_ptr(), pages, page_len) };
    Errno::check(result).map_err(|errno| refused("register", REGISTER, errno))?;
    if !nic {
        return Ok(false);
    }
    // SAFETY: the control plane is locked, and the bytes are whole pages of the program, which keeps them until they
    // are unmapped: a NIC that writes there overwrites nothing else.
    let result = unsafe { sys::dpdk_sys_vfio_map(start, len) };
    let mapped = Errno::check(result).map(|_| true).map_err(|errno| refused("map for the NICs", MAP, errno));
    if mapped.is_err() {
        // SAFETY: the bytes were registered a few lines above, and nothing refers to them.
        unsafe { sys::dpdk_sys_extmem_unregister(start, len) };
    }
    mapped
}

/// Removes the bytes from the NICs and from DPDK. On failure returns the action that failed, and why.
fn end(environment: &Environment, bytes: NonNull<[u8]>, mapped: bool) -> Result<(), (&'static str, Errno)> {
    let (start, len) = (bytes.cast::<c_void>().as_ptr(), bytes.len());
    let _control = environment.control();
    if mapped {
        // SAFETY: the control plane is locked, and `register` has mapped these bytes. No pool and no packet lies there any more, so no
        // running device still knows their addresses.
        let result = unsafe { sys::dpdk_sys_vfio_unmap(start, len) };
        Errno::check(result).map_err(|errno| ("remove it from the NICs", errno))?;
    }
    // SAFETY: the control plane is locked, `register` has registered these bytes, and nothing of DPDK's refers to them.
    let result = unsafe { sys::dpdk_sys_extmem_unregister(start, len) };
    Errno::check(result).map(|_| ()).map_err(|errno| ("unregister it", errno))
}
