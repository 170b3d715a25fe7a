// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Restoring the order of packets, for example after several lcores have processed them.
//!
//! The lcore that receives packets from one queue gives each a sequence number and distributes the packets to other
//! lcores. After these, a [`Reorder`] takes the packets in any order and returns them in the order of their numbers. A
//! packet that goes through a [`Ring`](crate::ring::Ring) can carry its number in a [`DynField`].

mod error;
mod window;

pub use error::ReorderError;

use crate::{
    Burst, CreateError, DynField, Eal, Packet, PrivateData, SocketId,
    object::{Handle, Kind},
};
use core::{fmt, marker::PhantomData, mem, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::Arc;
use window::Window;

/// Reorder buffers have no names.
const REORDER: Kind = Kind { name: "reorder buffer", call: "rte_reorder_init", longest_name: usize::MAX };

/// DPDK computes sizes in 32 bits.
const MOST_PLACES: u32 = 1 << 24;

/// A buffer that returns packets in the order of their sequence numbers.
///
/// The buffer has one slot for each of `size` consecutive sequence numbers, beginning with the minimum, which is the
/// next number to return. A packet waits in its slot until all packets before it have been returned.
///
/// A packet whose number is past the last slot, by at most `size`, makes room for itself: the buffer gives up the
/// lowest numbers, and the packets with these numbers become ready, with gaps in their order. A packet whose number was
/// given up is late: it is returned with an error. Sequence numbers wrap at 2^32.
///
/// The minimum is initially the number of the first packet, or that of [`Self::start_at`].
///
/// The packets can be from any pools; `P` is the private data of their mbufs. They belong to the buffer, and are
/// dropped with it.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// # let mut worked_on = dpdk_rs::Burst::<(), 32>::new();
/// # let number = |_packet: &dpdk_rs::Packet| 0;
/// use dpdk_rs::{Burst, reorder::{Reorder, ReorderError}};
///
/// let mut reorder = Reorder::builder(1024).build(&eal)?;
/// reorder.start_at(0)?;
/// let mut in_order = Burst::<(), 32>::new();
/// for packet in worked_on.drain() {
///     let seqn = number(&packet);
///     if let Err((error, late)) = reorder.insert(packet, seqn) {
///         println!("{error}");
///         drop(late);
///     }
/// }
/// reorder.drain(&mut in_order);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_reorder_buffer")]
pub struct Reorder<P: PrivateData = ()> {
    buffer: Handle<sys::rte_reorder_buffer>,
    /// The field from which DPDK reads the number.
    seqn: DynField<u32>,
    window: Window,
    start: Start,
    private: PhantomData<P>,
}

/// How the minimum is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// By the first packet.
    First,
    /// This number, which DPDK does not know yet.
    At(u32),
    /// DPDK knows the minimum.
    Known,
}

impl<P: PrivateData> Reorder<P> {
    /// Starts the description of a buffer with `size` slots for sequence numbers: a power of two, at most 2^24.
    pub const fn builder(size: u32) -> ReorderBuilder<P> {
        ReorderBuilder { size, socket: SocketId::ANY, private: PhantomData }
    }

    /// Inserts a packet with the sequence number `seqn`.
    ///
    /// # Errors
    /// [`ReorderError::Range`], [`ReorderError::Full`] or [`ReorderError::Duplicate`]. The packet is returned, and
    /// nothing is changed.
    #[doc(alias = "rte_reorder_insert")]
    #[doc(alias = "rte_reorder_seqn")]
    pub fn insert(&mut self, mut packet: Packet<P>, seqn: u32) -> Result<(), (ReorderError, Packet<P>)> {
        match self.start {
            Start::First => self.window.start(seqn),
            Start::At(min) => packet = self.set_start(packet, min)?,
            Start::Known => (),
        }
        self.start = Start::Known;
        let step = match self.window.step(seqn) {
            Ok(step) => step,
            Err(error) => return Err((error, packet)),
        };
        self.give(packet, seqn)?;
        self.window.done(step);
        Ok(())
    }

    /// Moves the next packets in order to the end of `burst`, as many as fit.
    ///
    /// Returns how many were moved.
    #[doc(alias = "rte_reorder_drain")]
    pub fn drain<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        let len = burst.len();
        let spare = burst.spare();
        // A longer burst has room for all packets of a buffer.
        let most = u32::try_from(spare.len()).unwrap_or(u32::MAX);
        // SAFETY: the buffer is live as long as its handle, and borrowed exclusively; the array has room for so many.
        let count = unsafe { sys::rte_reorder_drain(self.buffer.as_ptr(), spare.as_mut_ptr().cast(), most) } as usize;
        // SAFETY: the call has written so many entries, and not more than there is room for. The buffer has given these mbufs up,
        // and all that are put into it have a private area for a `P`.
        unsafe { burst.set_len(len + count) };
        self.window.drained(count);
        count
    }

    /// Restarts with `seqn` as the minimum: packets with lower numbers are late.
    ///
    /// # Errors
    /// [`ReorderError::NotEmpty`].
    #[doc(alias = "rte_reorder_min_seqn_set")]
    #[doc(alias = "rte_reorder_reset")]
    pub fn start_at(&mut self, seqn: u32) -> Result<(), ReorderError> {
        if !self.is_empty() {
            return Err(ReorderError::NotEmpty(self.len()));
        }
        if self.start == Start::Known {
            // SAFETY: the buffer is live as long as its handle, and borrowed exclusively.
            unsafe { sys::rte_reorder_reset(self.buffer.as_ptr()) };
        }
        self.window.start(seqn);
        self.start = Start::At(seqn);
        Ok(())
    }

    /// The minimum of the range; `None` before the first packet unless [`Self::start_at`] was called.
    #[must_use]
    pub fn min_seqn(&self) -> Option<u32> {
        (self.start != Start::First).then(|| self.window.min())
    }

    /// The sequence number with which a packet was last inserted into a reorder buffer of this process; arbitrary if it
    /// never was.
    #[doc(alias = "rte_reorder_seqn")]
    #[must_use]
    pub fn seqn(&self, packet: &Packet<P>) -> u32 {
        packet.field(self.seqn)
    }

    /// The number of packets in the buffer, including those that wait for others.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether the buffer has no packets.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of slots for sequence numbers.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.window.size()
    }

    /// Inserts a packet into DPDK's buffer, if the window allows it.
    fn give(&mut self, mut packet: Packet<P>, seqn: u32) -> Result<(), (ReorderError, Packet<P>)> {
        packet.set_field(self.seqn, seqn);
        // SAFETY: the buffer is live as long as its handle, and borrowed exclusively. The mbuf heads a chain of nobody else; no
        // other mbuf is lost by it, since the window has a place for it.
        let result = unsafe { sys::dpdk_sys_reorder_insert(self.buffer.as_ptr(), packet.head().mbuf().as_ptr()) };
        debug_assert!(result == 0, "the window is what DPDK has");
        if result != 0 {
            return Err((ReorderError::Full, packet));
        }
        // From now on the mbufs belong to the buffer.
        mem::forget(packet);
        Ok(())
    }

    /// Sets DPDK's minimum. All versions learn it only from the first packet, so this packet is inserted as the one
    /// before the minimum and drained again.
    fn set_start(&mut self, packet: Packet<P>, min: u32) -> Result<Packet<P>, (ReorderError, Packet<P>)> {
        self.give(packet, min.wrapping_sub(1))?;
        let mut mbuf = NonNull::dangling();
        // SAFETY: the buffer is live as long as its handle, and borrowed exclusively; there is room for one mbuf.
        unsafe { sys::rte_reorder_drain(self.buffer.as_ptr(), (&raw mut mbuf).cast(), 1) };
        // SAFETY: the call has written the only mbuf in the buffer, a packet that was just put in, for it is its number's turn.
        Ok(unsafe { Packet::from_mbuf(mbuf) })
    }
}

impl<P: PrivateData> fmt::Debug for Reorder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reorder").field("size", &self.size()).field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The description of a [`Reorder`], from [`Reorder::builder`].
#[derive(Clone, Debug)]
#[must_use = "a buffer is made by `build`"]
pub struct ReorderBuilder<P: PrivateData = ()> {
    size: u32,
    socket: SocketId,
    private: PhantomData<P>,
}

impl<P: PrivateData> ReorderBuilder<P> {
    /// The NUMA node for the buffer's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Creates the buffer, which takes 17 bytes for each slot.
    ///
    /// # Errors
    /// [`CreateError::TooLarge`]; [`CreateError::Create`] with `EINVAL` for a size that is not a power of two, and
    /// `ENOMEM` if memory is short or mbufs have no room for the sequence number; [`CreateError::Forked`] in a child
    /// process created by `fork`.
    #[doc(alias = "rte_reorder_create")]
    #[doc(alias = "rte_reorder_init")]
    pub fn build(self, eal: &Eal) -> Result<Reorder<P>, CreateError> {
        let name = format!("of {} numbers", self.size);
        if self.size > MOST_PLACES {
            return Err(REORDER.too_large(&name, self.size as usize, 2 * size_of::<*mut sys::rte_mbuf>()));
        }
        let environment = eal.environment();
        let buffer = REORDER.create(environment, &name, |_| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked.
            unsafe { sys::dpdk_sys_reorder_create(self.socket.get(), self.size) }
        })?;
        // SAFETY: the buffer is new, so nobody else frees it; `free` may be called on any thread, since the buffer is in no list.
        let buffer = unsafe { Handle::new(buffer, free, Arc::clone(environment)) };
        // SAFETY: the call reads a number, which DPDK has set when the buffer was made.
        let offset = unsafe { sys::dpdk_sys_reorder_seqn_offset() };
        // SAFETY: there DPDK has made room for a `uint32_t` in every mbuf, and puts packets in order by any number in it.
        let seqn = unsafe { DynField::at(offset) };
        let window = Window::new(self.size as usize);
        Ok(Reorder { buffer, seqn, window, start: Start::First, private: PhantomData })
    }
}

/// # Safety
/// The buffer is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(buffer: NonNull<sys::rte_reorder_buffer>) {
    // SAFETY: the caller promises a live buffer that nobody uses; the mbufs in it are its own.
    unsafe { sys::dpdk_sys_reorder_free(buffer.as_ptr()) };
}
