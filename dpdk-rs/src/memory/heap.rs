// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Values in DPDK's heap.

use super::MOST_BYTES;
use crate::{Eal, SocketId, environment::Environment};
use core::{
    alloc::Layout,
    fmt,
    marker::PhantomData,
    mem,
    ops::{Deref, DerefMut},
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::sync::Arc;

/// Why no memory was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// A child process created by `fork` cannot allocate: DPDK's memory belongs to its parent.
    #[error("cannot allocate: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// The value or the slice is longer than the address space, which has 2^47 bytes.
    #[error("cannot allocate {len} elements of {size} bytes: that is more than the address space")]
    TooLong {
        /// The requested number of elements.
        len: usize,
        /// The size of each element in bytes.
        size: usize,
    },
    /// `rte_malloc_socket` failed: too little memory is free, or the alignment is not a power of two.
    #[error(
        "cannot allocate {size} bytes, aligned to {align}, on socket {socket}: give the EAL more memory (-m, --socket-mem)"
    )]
    Malloc {
        /// The requested size in bytes.
        size: usize,
        /// The requested alignment in bytes.
        align: usize,
        /// The requested NUMA node.
        socket: SocketId,
    },
}

impl AllocError {
    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Malloc { .. } = self { Some("rte_malloc_socket") } else { None }
    }
}

/// DPDK's heap, with the NUMA node and the alignment for allocations. Any thread may use a copy.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// let heap = eal.heap();
/// let mut table = heap.boxed_slice(1 << 16, |number| number as u32)?;
/// table[7] = 0;
/// let counters = heap.align(128).boxed([0_u64; 16])?;
/// # drop((table, counters));
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_malloc")]
#[derive(Clone)]
pub struct Heap {
    eal: Arc<Environment>,
    socket: SocketId,
    align: usize,
}

impl Heap {
    pub(crate) fn new(eal: &Eal) -> Self {
        Self { eal: Arc::clone(eal.environment()), socket: SocketId::ANY, align: 1 }
    }

    /// The same heap, restricted to memory of one NUMA node.
    #[must_use]
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// The same heap, with values aligned to at least `bytes` bytes, which is a power of two.
    #[must_use]
    pub const fn align(mut self, bytes: usize) -> Self {
        self.align = bytes;
        self
    }

    /// Allocates a value in this heap.
    ///
    /// # Errors
    /// See [`AllocError`]. The value is dropped then.
    #[doc(alias = "rte_malloc_socket")]
    #[doc(alias = "rte_zmalloc_socket")]
    pub fn boxed<T>(&self, value: T) -> Result<DpdkBox<T>, AllocError> {
        let memory = self.allocate(Layout::new::<T>())?.keep().cast::<T>();
        // SAFETY: the memory is new, and has the size and the alignment of a `T`.
        unsafe { memory.write(value) };
        Ok(DpdkBox { value: memory, eal: Arc::clone(&self.eal), owned: PhantomData })
    }

    /// Allocates a slice of `len` values in this heap. Calls `value` with the index of each, from 0.
    ///
    /// # Errors
    /// See [`AllocError`].
    ///
    /// # Panics
    /// If `value` panics. The values before are dropped, and the memory is freed.
    #[doc(alias = "rte_calloc_socket")]
    pub fn boxed_slice<T>(&self, len: usize, mut value: impl FnMut(usize) -> T) -> Result<DpdkBox<[T]>, AllocError> {
        let layout = Layout::array::<T>(len).map_err(|_| AllocError::TooLong { len, size: size_of::<T>() })?;
        let memory = self.allocate(layout)?;
        let mut filled = Filled { start: memory.0.cast::<T>(), len: 0 };
        while filled.len < len {
            let value = value(filled.len);
            // SAFETY: there is room for `len` values, and `filled.len` is below that.
            let place = unsafe { filled.start.add(filled.len) };
            // SAFETY: the place is inside the memory, which is aligned for a `T`, and nothing was written there.
            unsafe { place.write(value) };
            filled.len += 1;
        }
        mem::forget(filled);
        let values = NonNull::slice_from_raw_parts(memory.keep().cast::<T>(), len);
        Ok(DpdkBox { value: values, eal: Arc::clone(&self.eal), owned: PhantomData })
    }

    /// How much of this heap is in use, on its NUMA node, or on all nodes if it has none.
    #[doc(alias = "rte_malloc_get_socket_stats")]
    #[must_use]
    pub fn stats(&self) -> HeapStats {
        let mut stats = sys::rte_malloc_socket_stats::default();
        // SAFETY: the EAL is initialised, since its `Environment` is created only after that. The call fills a struct
        // of ours, and locks what it counts.
        unsafe { sys::dpdk_sys_malloc_stats(self.socket.get(), &raw mut stats) };
        HeapStats {
            total: stats.heap_totalsz_bytes,
            free: stats.heap_freesz_bytes,
            allocated: stats.heap_allocsz_bytes,
            largest_free: stats.greatest_free_size,
            allocations: stats.alloc_count as usize,
            free_pieces: stats.free_count as usize,
        }
    }

    fn allocate(&self, layout: Layout) -> Result<Memory, AllocError> {
        if self.eal.is_forked() {
            return Err(AllocError::Forked);
        }
        // DPDK does not allocate 0 bytes.
        let (size, align) = (layout.size().max(1), layout.align().max(self.align));
        if size > MOST_BYTES {
            return Err(AllocError::TooLong { len: size, size: 1 });
        }
        let failed = AllocError::Malloc { size, align, socket: self.socket };
        let bytes = u32::try_from(align).map_err(|_| failed)?;
        // SAFETY: the EAL is initialised, since its `Environment` is made only after that; the heap has a lock. Without a
        // name nothing is kept.
        let memory = unsafe { sys::rte_malloc_socket(ptr::null(), size, bytes, self.socket.get()) };
        NonNull::new(memory.cast()).map(Memory).ok_or(failed)
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heap").field("socket", &self.socket).field("align", &self.align).finish()
    }
}

/// Statistics of DPDK's heap, in bytes. The heap grows as needed while pages are available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapStats {
    /// The current size of the heap.
    pub total: usize,
    /// The free bytes.
    pub free: usize,
    /// The allocated bytes, including DPDK's header for each allocation.
    pub allocated: usize,
    /// The largest free piece.
    pub largest_free: usize,
    /// The number of allocations.
    pub allocations: usize,
    /// The number of free pieces.
    pub free_pieces: usize,
}

/// Memory from the heap, which is freed on drop.
struct Memory(NonNull<u8>);

impl Memory {
    /// Gives up ownership of the memory without freeing it.
    const fn keep(self) -> NonNull<u8> {
        let start = self.0;
        mem::forget(self);
        start
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory is from `rte_malloc_socket`, and nobody else frees it.
        unsafe { sys::rte_free(self.0.as_ptr().cast()) };
    }
}

/// The first values of a slice. They are dropped if the next value cannot be created.
struct Filled<T> {
    start: NonNull<T>,
    len: usize,
}

impl<T> Drop for Filled<T> {
    fn drop(&mut self) {
        let values = NonNull::slice_from_raw_parts(self.start, self.len);
        // SAFETY: `len` values were written from the start on, and nobody else drops them.
        unsafe { values.drop_in_place() };
    }
}

/// A value in DPDK's heap, as a [`Box`] is one in the heap of the process; from [`Heap::boxed`] or
/// [`Heap::boxed_slice`].
#[doc(alias = "rte_free")]
pub struct DpdkBox<T: ?Sized> {
    value: NonNull<T>,
    eal: Arc<Environment>,
    owned: PhantomData<T>,
}

// SAFETY: a box is the only owner of its value, and any thread may use DPDK's heap.
unsafe impl<T: ?Sized + Send> Send for DpdkBox<T> {}
// SAFETY: a shared box gives no more than a shared value.
unsafe impl<T: ?Sized + Sync> Sync for DpdkBox<T> {}

impl<T: ?Sized> Deref for DpdkBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value lives as long as its box, and whoever changes it borrows the box exclusively.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for DpdkBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the value lives as long as its box, which is borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> AsRef<T> for DpdkBox<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> AsMut<T> for DpdkBox<T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized> Drop for DpdkBox<T> {
    fn drop(&mut self) {
        if self.eal.is_forked() {
            return;
        }
        // Frees the memory even if the value's own drop panics.
        let _memory = Memory(self.value.cast());
        // SAFETY: the box is the only owner of the value, and is being dropped.
        unsafe { self.value.drop_in_place() };
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for DpdkBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for DpdkBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
