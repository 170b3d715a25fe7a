// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets whose data is a buffer of the program.

use super::Packet;
use crate::{
    Mempool, PrivateData, environment,
    sync::atomic::{Ordering, fence},
};
use core::{ffi::c_void, mem, ptr::NonNull};
use dpdk_sys as sys;
use std::process;

/// Why a buffer was not attached to a packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// The buffer is empty, or longer than the 16-bit length of an mbuf.
    #[error("a buffer of {len} bytes cannot be attached: give one of 1 to 65,535")]
    Length {
        /// The length of the buffer in bytes.
        len: usize,
    },
    /// The pool has no mbuf for the buffer.
    #[error("no mbuf for the buffer: the pool is exhausted")]
    NoMbuf,
    /// The pool's mbufs permanently have their buffers in memory of the program
    /// ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)).
    #[error("the pool's mbufs keep their buffers, and cannot refer to another: use a pool from MempoolBuilder::build")]
    Pinned,
    /// The buffer is not in DPDK's memory, and a device can only access DPDK's.
    #[error(
        "the buffer is not in DPDK's memory, and port {port} can access no other: allocate it with Heap::boxed_slice or Memzone, for \
         NICs register it with ExternalMemory, or copy the data into a packet"
    )]
    Unreachable {
        /// A port of this process that only reaches DPDK's memory, with its driver.
        port: String,
    },
    /// The buffer is in DPDK's memory, on pages that are not contiguous for devices.
    #[error("the buffer of {len} bytes is not contiguous for devices: reserve it with MemzoneBuilder::contiguous")]
    Scattered {
        /// The length of the buffer in bytes.
        len: usize,
    },
    /// A secondary process cannot attach buffers: the pool belongs to another process, which cannot read the buffer.
    #[error("cannot attach a buffer: this process is a secondary one, and others cannot read its memory")]
    Secondary,
    /// In a child process created by `fork`, the pool belongs to its parent.
    #[error("cannot attach a buffer: this process is a fork of the one that initialized the EAL")]
    Forked,
}

/// A buffer and DPDK's state for it. Mbufs refer to it until the last of them is freed.
struct Holder<B> {
    shared: sys::rte_mbuf_ext_shared_info,
    /// The process that owns the buffer.
    process: u32,
    buffer: B,
}

/// A holder to which no mbuf refers yet.
struct Unattached<B>(*mut Holder<B>);

impl<B: AsMut<[u8]>> Unattached<B> {
    fn new(buffer: B) -> Self {
        let shared = sys::rte_mbuf_ext_shared_info::default();
        Self(Box::into_raw(Box::new(Holder { shared, process: process::id(), buffer })))
    }

    /// The buffer's bytes. They stay in place as long as nobody uses the buffer itself.
    fn bytes(&mut self) -> NonNull<[u8]> {
        // SAFETY: the holder belongs to this object alone.
        let buffer = unsafe { &mut (*self.0).buffer };
        NonNull::from(buffer.as_mut())
    }

    /// Takes the buffer back.
    fn into_buffer(self) -> B {
        let holder = self.0;
        mem::forget(self);
        // SAFETY: the holder was created by `new` from a box, and this object, which is gone, was its only owner.
        unsafe { Box::from_raw(holder) }.buffer
    }

    /// Passes ownership of the holder to the caller.
    const fn into_raw(self) -> *mut Holder<B> {
        let holder = self.0;
        mem::forget(self);
        holder
    }
}

impl<B> Drop for Unattached<B> {
    fn drop(&mut self) {
        // SAFETY: the holder was created by `new` from a box, and this object, which is being dropped, is its only
        // owner.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl<P: PrivateData> Packet<P> {
    /// Creates a packet whose data is all of `buffer`, without copying: an mbuf from `pool` refers to the buffer. Use
    /// [`Self::adj`] and [`Self::trim`] to reserve headroom and tailroom. The pool's mbufs need no data room of their
    /// own.
    ///
    /// The packet owns the buffer, together with the packets made from it by [`Self::share`] and [`Self::split_off`]:
    /// as long as there are several, none of them can change the data. The buffer is dropped when the last mbuf that
    /// refers to it is freed, on any thread: with the packet, or by a device after it has sent the packet. A buffer
    /// whose drop returns its memory, for instance through a [`Ring`](crate::Ring), can be used repeatedly. A panic in
    /// the buffer's drop is caught.
    ///
    /// Memory of DPDK ([`Heap::boxed_slice`](crate::memory::Heap::boxed_slice), [`Memzone`](crate::memory::Memzone))
    /// can always be attached. Other memory, such as a `Vec<u8>`, can be attached if every port of the process reads
    /// what it sends through the processor, as virtual devices do. NICs reach such memory once it is registered
    /// ([`ExternalMemory`](crate::memory::ExternalMemory)); `net_virtio_user` never does.
    ///
    /// The packet must not reach another process ([`secondary`](crate::secondary)), which would find neither the buffer
    /// nor the code of its drop. Whoever attaches that process promises this.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
    /// use dpdk_rs::{Mempool, Packet};
    ///
    /// let headers: Mempool = Mempool::builder("headers").data_room(0).build(&eal)?;
    /// let buffer = eal.heap().boxed_slice(2048, |place| place as u8)?;
    /// let mut packet = Packet::attach(&headers, buffer).map_err(|(error, _buffer)| error)?;
    /// packet.adj(128)?; // headroom
    /// packet.trim(2048 - 128 - 60)?; // a frame of 60 bytes
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The buffer, and why it was not attached; see [`BufferError`].
    ///
    /// # Panics
    /// If `as_mut` of the buffer panics. The buffer is dropped then.
    #[doc(alias = "rte_pktmbuf_attach_extbuf")]
    #[doc(alias = "rte_mbuf_ext_shared_info")]
    pub fn attach<B>(pool: &Mempool<P>, buffer: B) -> Result<Self, (BufferError, B)>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        let mut holder = Unattached::new(buffer);
        let bytes = holder.bytes();
        let ready = address_for_devices(pool, bytes).and_then(|found| {
            let packet = pool.alloc().ok_or(BufferError::NoMbuf)?;
            Ok((found, packet))
        });
        let ((iova, len), mut packet) = match ready {
            Ok(ready) => ready,
            Err(error) => return Err((error, holder.into_buffer())),
        };
        let (head, holder) = (packet.head_mut(), holder.into_raw());
        // SAFETY: the holder is live, and nobody else has it.
        let shared = unsafe { &raw mut (*holder).shared };
        // SAFETY: the mbuf is new, so nobody else refers to it. The buffer has `len` bytes, and the buffer and the
        // counter in the holder stay until DPDK calls `free`, with the holder that was created for this `B`.
        unsafe {
            sys::dpdk_sys_pktmbuf_attach_extbuf(
                head.mbuf().as_ptr(),
                bytes.as_ptr().cast(),
                iova,
                len,
                shared,
                Some(free::<B>),
                holder.cast(),
            );
        }
        // SAFETY: the mbuf has just been attached to a buffer of `len` bytes.
        unsafe { head.set_data(0, len) };
        // SAFETY: the only segment has `len` bytes.
        unsafe { head.set_pkt_len(u32::from(len)) };
        Ok(packet)
    }
}

/// The buffer's address for devices, and its length.
fn address_for_devices<P: PrivateData>(pool: &Mempool<P>, bytes: NonNull<[u8]>) -> Result<(u64, u16), BufferError> {
    let len = u16::try_from(bytes.len()).ok().filter(|len| *len != 0);
    let len = len.ok_or(BufferError::Length { len: bytes.len() })?;
    let environment = pool.environment();
    if environment.is_forked() {
        return Err(BufferError::Forked);
    }
    if environment.is_secondary() {
        return Err(BufferError::Secondary);
    }
    if pool.is_pinned() {
        return Err(BufferError::Pinned);
    }
    let start = bytes.as_ptr().cast::<c_void>();
    // SAFETY: the EAL is initialised, since there is a pool. The call looks up addresses in a table and does not
    // dereference them.
    let iova = unsafe { sys::dpdk_sys_mem_iova(start, usize::from(len)) };
    if iova == sys::DPDK_SYS_NOT_IN_A_ROW {
        return Err(BufferError::Scattered { len: usize::from(len) });
    }
    if iova != sys::DPDK_SYS_BAD_IOVA {
        return Ok((iova, len));
    }
    // A device that reads through the processor ignores the IOVA; 0 would mean that there is none.
    match environment.reads_only_dpdk_memory() {
        None => Ok((start.addr() as u64, len)),
        Some(port) => Err(BufferError::Unreachable { port }),
    }
}

/// The function that DPDK calls when the last mbuf that refers to the buffer is freed.
///
/// # Safety
/// `holder` belongs to an attached buffer of this type, and this is the only call for it.
unsafe extern "C" fn free<B: Send + 'static>(_start: *mut c_void, holder: *mut c_void) {
    // SAFETY: the caller promises a holder, which `attach` created from a box and gave away.
    let holder = unsafe { Box::from_raw(holder.cast::<Holder<B>>()) };
    // At a count of 1, DPDK reads the counter without ordering. Other threads read the data before they gave up their
    // reference.
    fence(Ordering::Acquire);
    if holder.process == process::id() {
        let Holder { buffer, .. } = *holder;
        environment::drop_unlocked(Box::new(buffer));
    } else {
        // A copy of an object that belongs to the parent process.
        mem::forget(holder);
    }
}
