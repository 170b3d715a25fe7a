// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets brought back into their order, such as those that several lcores have worked on.
//!
//! Whoever takes packets from one queue gives each a sequence number, and spreads them over lcores; the [`Reorder`] behind these takes
//! them as they come, and gives them out by their numbers. The number of a packet that goes through a [`Ring`](crate::ring::Ring)
//! can travel in a [`DynField`].

mod window;

use crate::{
    Burst, CreateError, DynField, Eal, Packet, PrivateData, SocketId,
    object::{Handle, Kind},
};
use core::{fmt, marker::PhantomData, mem, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::Arc;
use window::Window;

/// They have no names.
const REORDER: Kind = Kind { name: "reorder buffer", call: "rte_reorder_init", longest_name: usize::MAX };

/// DPDK works out bytes in 32 bits.
const MOST_PLACES: u32 = 1 << 24;

/// Why a packet was not taken, which is given back with the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReorderError {
    /// The number is before the least one, or too far behind it: the packet is late, or many others are lost (`ERANGE`).
    #[error("sequence number {seqn} is out of range: {size} numbers from {min} on are in it")]
    Range {
        /// The packet's number.
        seqn: u32,
        /// The least number that is not given up.
        min: u32,
        /// How many numbers from there on are in range.
        size: usize,
    },
    /// There is no room for the packets that would become ready to make room for this one: drain, then insert it again (`ENOSPC`).
    #[error("there is no room for more packets: drain the buffer, and insert the packet again")]
    Full,
    /// A packet of this number waits already.
    #[error("there is a packet with sequence number {0} already")]
    Duplicate(u32),
    /// Numbers begin anew only where no packet is left of the others.
    #[error("there are {0} packets in the buffer: drain them first")]
    NotEmpty(usize),
}

/// A buffer that gives out packets in the order of their sequence numbers.
///
/// The buffer has places for a number of sequence numbers, its size, from the least on that is still waited for. A packet goes to its
/// place, and comes out once all before it have. One whose number is behind the last place, by the size at most, makes room for
/// itself: as many of the least numbers are given up, and the packets among them are ready to come out, with gaps in their order.
/// A packet whose number was given up is late: it is given back with an error. Numbers follow each other modulo 2^32.
///
/// The first packet's number is the least one, or that of [`Self::start_at`].
///
/// The packets can be of any pools; `P` is the private data of their mbufs. They belong to the buffer, and are dropped with it.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
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
    /// The field that DPDK reads the number from.
    seqn: DynField<u32>,
    window: Window,
    start: Start,
    private: PhantomData<P>,
}

/// Which number is the least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// That of the first packet.
    First,
    /// This, which DPDK does not know yet.
    At(u32),
    /// It is known.
    Known,
}

impl<P: PrivateData> Reorder<P> {
    /// Starts to describe a buffer with places for so many sequence numbers: a power of two, at most 2^24.
    pub const fn builder(size: u32) -> ReorderBuilder<P> {
        ReorderBuilder { size, socket: SocketId::ANY, private: PhantomData }
    }

    /// Puts a packet in its place.
    ///
    /// # Errors
    /// [`ReorderError::Range`], [`ReorderError::Full`] or [`ReorderError::Duplicate`]; the packet is given back, and nothing is changed.
    #[doc(alias = "rte_reorder_insert")]
    #[doc(alias = "rte_reorder_seqn")]
    pub fn insert(&mut self, mut packet: Packet<P>, seqn: u32) -> Result<(), (ReorderError, Packet<P>)> {
        match self.start {
            Start::First => self.window.start(seqn),
            Start::At(min) => packet = self.tell_start(packet, min)?,
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

    /// Moves packets whose turn it is to the end of `burst`, as many as fit.
    ///
    /// Returns how many were moved.
    #[doc(alias = "rte_reorder_drain")]
    pub fn drain<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        let len = burst.len();
        let spare = burst.spare();
        // Any that is longer has room enough for what a buffer can hold.
        let most = u32::try_from(spare.len()).unwrap_or(u32::MAX);
        // SAFETY: the buffer is live as long as its handle, and borrowed exclusively; the array has room for so many.
        let count = unsafe { sys::rte_reorder_drain(self.buffer.as_ptr(), spare.as_mut_ptr().cast(), most) } as usize;
        // SAFETY: the call has written so many entries, and not more than there is room for. The buffer has given these mbufs up,
        // and all that are put into it have a private area for a `P`.
        unsafe { burst.set_len(len + count) };
        self.window.drained(count);
        count
    }

    /// Begins anew with this as the least number: packets with one before it are late.
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

    /// The least number that is not given up; `None` before the first packet if it was not set.
    #[must_use]
    pub fn min_seqn(&self) -> Option<u32> {
        (self.start != Start::First).then(|| self.window.min())
    }

    /// The number that a packet had when it was put in a buffer, any of those of this process; no particular one if it never was.
    #[doc(alias = "rte_reorder_seqn")]
    #[must_use]
    pub fn seqn(&self, packet: &Packet<P>) -> u32 {
        packet.field(self.seqn)
    }

    /// How many packets are in the buffer, also those that wait for others.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.window.len()
    }

    /// Whether there is no packet in the buffer.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For how many sequence numbers there are places.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.window.size()
    }

    /// Gives a packet to DPDK, which takes it if the window says so.
    fn give(&mut self, mut packet: Packet<P>, seqn: u32) -> Result<(), (ReorderError, Packet<P>)> {
        packet.set_field(self.seqn, seqn);
        // SAFETY: the buffer is live as long as its handle, and borrowed exclusively. The mbuf heads a chain of nobody else; no
        // other mbuf is lost by it, since the window has a place for it.
        let result = unsafe { sys::dpdk_sys_reorder_insert(self.buffer.as_ptr(), packet.head().mbuf().as_ptr()) };
        debug_assert!(result == 0, "the window is what DPDK has");
        if result != 0 {
            return Err((ReorderError::Full, packet));
        }
        // From here on the mbufs belong to the buffer.
        mem::forget(packet);
        Ok(())
    }

    /// Has DPDK begin with a number. All versions learn it from the first packet only: so this one goes in and out as that before.
    fn tell_start(&mut self, packet: Packet<P>, min: u32) -> Result<Packet<P>, (ReorderError, Packet<P>)> {
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

/// Describes a [`Reorder`]; made by [`Reorder::builder`].
#[derive(Clone, Debug)]
#[must_use = "a buffer is made by `build`"]
pub struct ReorderBuilder<P: PrivateData = ()> {
    size: u32,
    socket: SocketId,
    private: PhantomData<P>,
}

impl<P: PrivateData> ReorderBuilder<P> {
    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Makes the buffer, which takes 17 bytes for each number.
    ///
    /// # Errors
    /// [`CreateError::TooLarge`]; [`CreateError::Create`] with `EINVAL` for a size that is no power of two, and `ENOMEM` without
    /// enough memory, or if mbufs have no room left for the number; [`CreateError::Forked`].
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
