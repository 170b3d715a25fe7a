// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets whose data is a buffer of the program.

use super::Packet;
use crate::{Mempool, PrivateData, control};
use core::{
    ffi::c_void,
    mem,
    ptr::NonNull,
    sync::atomic::{Ordering, fence},
};
use dpdk_sys as sys;
use std::process;

/// Why a buffer did not become a packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// An mbuf cannot say how long the buffer is, or there is nothing in it.
    #[error("a buffer of {len} bytes cannot be attached: give one of 1 to 65,535")]
    Length {
        /// The bytes of the buffer.
        len: usize,
    },
    /// The pool has no mbuf for it.
    #[error("no mbuf for the buffer: the pool is exhausted")]
    NoMbuf,
    /// The mbufs of the pool have their buffers in memory of the program ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)),
    /// for ever.
    #[error(
        "the pool's mbufs keep their buffers, and cannot refer to another: give a pool that was made by MempoolBuilder::build"
    )]
    Pinned,
    /// The buffer is not in DPDK's memory, and a device does not reach others.
    #[error(
        "the buffer is not in DPDK's memory, which is all that port {port} reaches: take it from Heap::boxed_slice or Memzone, for \
         NICs register it with ExternalMemory, or copy the data into a packet"
    )]
    Unreachable {
        /// A port of this process that reaches DPDK's memory only, with its driver.
        port: String,
    },
    /// The buffer is in DPDK's memory, on pages that are not in a row for devices.
    #[error("devices see the buffer of {len} bytes in pieces: reserve it with MemzoneBuilder::contiguous")]
    Scattered {
        /// The bytes of the buffer.
        len: usize,
    },
    /// In a secondary process the pool is another's, which would find nothing at the buffer's address.
    #[error("cannot attach a buffer: this process is a secondary one, and others cannot read its memory")]
    Secondary,
    /// In a child made by `fork` the pool is its parent's.
    #[error("cannot attach a buffer: this process is a fork of the one that initialized the EAL")]
    Forked,
}

/// A buffer, and what DPDK keeps of it. Mbufs refer to it until the last of them is freed.
struct Holder<B> {
    shared: sys::rte_mbuf_ext_shared_info,
    /// The process whose buffer it is.
    process: u32,
    buffer: B,
}

/// A holder that no mbuf refers to yet.
struct Unattached<B>(*mut Holder<B>);

impl<B: AsMut<[u8]>> Unattached<B> {
    fn new(buffer: B) -> Self {
        let shared = sys::rte_mbuf_ext_shared_info::default();
        Self(Box::into_raw(Box::new(Holder { shared, process: process::id(), buffer })))
    }

    /// The buffer's bytes. They stay where they are as long as nobody uses the buffer itself.
    fn bytes(&mut self) -> NonNull<[u8]> {
        // SAFETY: the holder is this object's alone.
        let buffer = unsafe { &mut (*self.0).buffer };
        NonNull::from(buffer.as_mut())
    }

    /// The buffer again.
    fn into_buffer(self) -> B {
        let holder = self.0;
        mem::forget(self);
        // SAFETY: the holder was made by `new` from a box, and this object, which is gone, was its only owner.
        unsafe { Box::from_raw(holder) }.buffer
    }

    /// The holder, which from here on is up to the caller.
    const fn into_raw(self) -> *mut Holder<B> {
        let holder = self.0;
        mem::forget(self);
        holder
    }
}

impl<B> Drop for Unattached<B> {
    fn drop(&mut self) {
        // SAFETY: the holder was made by `new` from a box, and this object, which is at its end, is its only owner.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl<P: PrivateData> Packet<P> {
    /// A packet whose data is `buffer`, all of it, without copying: an mbuf from `pool` refers to it. Headroom and tailroom are
    /// what [`Self::adj`] and [`Self::trim`] make of it. The pool's mbufs need no room for data of their own.
    ///
    /// The packet owns the buffer, and so do others that are made from it by [`Self::share`] and [`Self::split_off`]: as long as
    /// there are several, none can change the data. The buffer is dropped when the last mbuf that refers to it is freed, on
    /// whatever thread that happens: with the packet, or by a device once it has sent it. So a buffer whose drop passes its
    /// memory on, for instance through a [`Ring`](crate::Ring), can be used again and again. A panic of its drop is caught.
    ///
    /// Memory of DPDK ([`Heap::boxed_slice`](crate::memory::Heap::boxed_slice), [`Memzone`](crate::memory::Memzone)) can be
    /// attached always. Other memory, such as a `Vec<u8>`, can be if every port of the process reads what it sends through the
    /// processor, as virtual devices do. NICs reach it once it is registered ([`ExternalMemory`](crate::memory::ExternalMemory)),
    /// `net_virtio_user` does not.
    ///
    /// It must not get into another process ([`secondary`](crate::secondary)), which would neither find the buffer nor the code of
    /// its drop: whoever attaches that one promises so.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
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
    /// The buffer, and why it was not attached. See [`BufferError`].
    ///
    /// # Panics
    /// If `as_mut` of the buffer does; the buffer is dropped then.
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
        let ((iova, len), packet) = match ready {
            Ok(ready) => ready,
            Err(error) => return Err((error, holder.into_buffer())),
        };
        let (head, holder) = (packet.head(), holder.into_raw());
        // SAFETY: the holder is live, and nobody else has it.
        let shared = unsafe { &raw mut (*holder).shared };
        // SAFETY: the mbuf is fresh, so that nobody else refers to it. The buffer has so many bytes, and stays as the counter in
        // the holder does until `free` is called, with the holder that was made for this `B`.
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
        head.set_data(0, len);
        head.set_pkt_len(u32::from(len));
        Ok(packet)
    }
}

/// Where devices find the buffer, and its length.
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
    // SAFETY: the EAL is initialised, since there is a pool; the call looks addresses up in a table, and does not follow them.
    let iova = unsafe { sys::dpdk_sys_mem_iova(start, usize::from(len)) };
    if iova == sys::DPDK_SYS_NOT_IN_A_ROW {
        return Err(BufferError::Scattered { len: usize::from(len) });
    }
    if iova != sys::DPDK_SYS_BAD_IOVA {
        return Ok((iova, len));
    }
    // Nobody looks at the other address of what the processor reads; 0 would be taken for none.
    match environment.reads_only_dpdk_memory() {
        None => Ok((start.addr() as u64, len)),
        Some(port) => Err(BufferError::Unreachable { port }),
    }
}

/// What DPDK calls when the last mbuf that refers to the buffer is freed.
///
/// # Safety
/// `holder` is that of an attached buffer of this type, and this is the only call for it.
unsafe extern "C" fn free<B: Send + 'static>(_start: *mut c_void, holder: *mut c_void) {
    // SAFETY: the caller promises a holder, which `attach` made from a box and gave away.
    let holder = unsafe { Box::from_raw(holder.cast::<Holder<B>>()) };
    // DPDK counts without ordering where the count is 1; others have read the data before they gave up their reference.
    fence(Ordering::Acquire);
    if holder.process == process::id() {
        let Holder { buffer, .. } = *holder;
        control::drop_unlocked(Box::new(buffer));
    } else {
        // A copy of what belongs to the process that this one was forked from.
        mem::forget(holder);
    }
}
