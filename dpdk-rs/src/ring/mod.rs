// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rings: queues of fixed size between lcores and threads, without locks.
//!
//! Two kinds: between one producer and one consumer ([`RingBuilder::build_spsc`]), each a handle of its own that cannot be
//! cloned, and between any number of both ([`RingBuilder::build`]), with one handle that can. What is in a ring when its last
//! handle goes is dropped.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
//! use dpdk_rs::{Packet, Ring, lcore};
//!
//! let (mut to_worker, mut from_main) = Ring::<Packet>::builder("work").capacity(1024).build_spsc(&eal)?;
//! # let pool = dpdk_rs::Mempool::builder("pool").build(&eal)?;
//! # let worker = eal.worker_lcores()[0].id();
//! lcore::scope(&eal, |scope| {
//!     let worker = scope.launch(worker, move || {
//!         loop {
//!             if let Some(packet) = from_main.dequeue() {
//!                 return packet.len();
//!             }
//!         }
//!     })?;
//!     let packet = pool.alloc().ok_or("the pool is exhausted")?;
//!     to_worker.enqueue(packet).map_err(|_| "the ring is full")?;
//!     worker.join()?;
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })??;
//! # Ok(())
//! # }
//! ```

mod batch;
mod elements;

pub use batch::Batch;

use crate::{
    CreateError, Eal, Full, SocketId,
    object::{Handle, Kind},
    secondary::ProcessShared,
};
use core::{fmt, marker::PhantomData};
use dpdk_sys as sys;
use elements::Elements;
use std::sync::Arc;

/// `RTE_RING_NAMESIZE` less the NUL byte.
const RING: Kind = Kind { name: "ring", call: "rte_ring_create_elem", longest_name: 28 };

/// How the threads of a ring with several producers and consumers wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingMode {
    /// Each waits for those that came before. The fastest where every thread has a processor of its own.
    #[default]
    #[doc(alias = "RTE_RING_SYNC_MT")]
    Mpmc,
    /// Relaxed tail: nobody waits until the last of those that overlap has finished. For threads that can be preempted.
    #[doc(alias = "RING_F_MP_RTS_ENQ")]
    #[doc(alias = "RTE_RING_SYNC_MT_RTS")]
    Rts,
    /// Head and tail in step: one at a time goes in, and one at a time comes out. For threads that can be preempted.
    #[doc(alias = "RING_F_MP_HTS_ENQ")]
    #[doc(alias = "RTE_RING_SYNC_MT_HTS")]
    Hts,
}

impl RingMode {
    const fn flags(self) -> u32 {
        match self {
            Self::Mpmc => 0,
            Self::Rts => sys::RING_F_MP_RTS_ENQ | sys::RING_F_MC_RTS_DEQ,
            Self::Hts => sys::RING_F_MP_HTS_ENQ | sys::RING_F_MC_HTS_DEQ,
        }
    }
}

/// A ring with any number of producers and consumers. A clone is another handle of the same ring, and a reference serves as
/// well: all operations take `&self`.
///
/// Elements are any `Send` type whose size is a multiple of 4, up to 4,096 bytes, and whose alignment is 4 or more: both are
/// checked when the ring's type is compiled. `Box` whatever does not comply.
#[doc(alias = "rte_ring")]
pub struct Ring<T: Send> {
    elements: Arc<Elements<T>>,
}

/// The end of a ring that puts in. There is one, and it cannot be cloned.
#[doc(alias = "RING_F_SP_ENQ")]
pub struct Producer<T: Send> {
    elements: Arc<Elements<T>>,
}

/// The end of a ring that takes out. There is one, and it cannot be cloned.
#[doc(alias = "RING_F_SC_DEQ")]
pub struct Consumer<T: Send> {
    elements: Arc<Elements<T>>,
}

impl<T: Send> Ring<T> {
    /// Starts to describe a ring. The name is the process's own, of at most 28 bytes: two rings cannot share one.
    pub fn builder(name: impl Into<String>) -> RingBuilder<T> {
        RingBuilder {
            name: name.into(),
            capacity: 1023,
            socket: SocketId::ANY,
            mode: RingMode::default(),
            shared: false,
            elements: PhantomData,
        }
    }

    /// A ring that another process has made, for several producers and consumers.
    ///
    /// # Safety
    /// The ring is live as long as any handle, has elements of type `T` wherever it is used, room for `capacity` of them, and
    /// was made for several producers and consumers.
    pub(crate) unsafe fn of_other(ring: Handle<sys::rte_ring>, capacity: u32) -> Self {
        // SAFETY: the caller promises the same.
        Self { elements: Arc::new(unsafe { Elements::of_other(ring, capacity) }) }
    }
}

impl<T: Send> Producer<T> {
    /// The putting end of a ring that another process has made.
    ///
    /// # Safety
    /// The ring is live as long as this, has elements of type `T` wherever it is used, and room for `capacity` of them. Nobody
    /// else puts in, in any process, unless it was made for several producers.
    pub(crate) unsafe fn of_other(ring: Handle<sys::rte_ring>, capacity: u32) -> Self {
        // SAFETY: the caller promises a live ring of such elements with so much room.
        Self { elements: Arc::new(unsafe { Elements::of_other(ring, capacity) }) }
    }
}

impl<T: Send> Consumer<T> {
    /// The taking end of a ring that another process has made.
    ///
    /// # Safety
    /// The ring is live as long as this, has elements of type `T` wherever it is used, and room for `capacity` of them. Nobody
    /// else takes out, in any process, unless it was made for several consumers.
    pub(crate) unsafe fn of_other(ring: Handle<sys::rte_ring>, capacity: u32) -> Self {
        // SAFETY: the caller promises a live ring of such elements with so much room.
        Self { elements: Arc::new(unsafe { Elements::of_other(ring, capacity) }) }
    }
}

impl<T: Send> Clone for Ring<T> {
    fn clone(&self) -> Self {
        Self { elements: Arc::clone(&self.elements) }
    }
}

/// Operations that put in, for a handle that is borrowed as `$borrow`. A macro has no `self` of its own.
macro_rules! enqueueing {
    ($handle:ident, $self:ident, $($borrow:tt)+) => {
        impl<T: Send> $handle<T> {
            /// Puts one element in.
            ///
            /// # Errors
            /// The element itself, if the ring is full.
            #[doc(alias = "rte_ring_enqueue")]
            #[inline]
            pub fn enqueue($($borrow)+, element: T) -> Result<(), Full<T>> {
                // SAFETY: the ring has one producer, which this handle is and which is borrowed exclusively, or it was
                // made for several.
                unsafe { $self.elements.enqueue(element) }
            }

            /// Puts all of `elements` in, and leaves them empty.
            ///
            /// # Errors
            /// [`Full`] if the ring has not enough room for all: then `elements` holds what it held.
            #[doc(alias = "rte_ring_enqueue_bulk")]
            #[inline]
            pub fn enqueue_bulk($($borrow)+, elements: &mut impl Batch<T>) -> Result<(), Full> {
                // SAFETY: the ring has one producer, which this handle is and which is borrowed exclusively, or it was
                // made for several.
                unsafe { $self.elements.enqueue_bulk(elements) }
            }

            /// Puts in as many elements from the front of `elements` as there is room for; the rest stays, for the caller
            /// to decide.
            ///
            /// Returns how many were put in.
            #[doc(alias = "rte_ring_enqueue_burst")]
            #[inline]
            pub fn enqueue_burst($($borrow)+, elements: &mut impl Batch<T>) -> usize {
                // SAFETY: the ring has one producer, which this handle is and which is borrowed exclusively, or it was
                // made for several.
                unsafe { $self.elements.enqueue_burst(elements) }
            }
        }
    };
}

/// Operations that take out, for a handle that is borrowed as `$borrow`.
macro_rules! dequeueing {
    ($handle:ident, $self:ident, $($borrow:tt)+) => {
        impl<T: Send> $handle<T> {
            /// Takes the oldest element out; `None` if the ring is empty.
            #[doc(alias = "rte_ring_dequeue")]
            #[inline]
            pub fn dequeue($($borrow)+) -> Option<T> {
                // SAFETY: the ring has one consumer, which this handle is and which is borrowed exclusively, or it was
                // made for several.
                unsafe { $self.elements.dequeue() }
            }

            /// Takes `count` elements out and adds them to `elements`: all, or none if the ring does not hold as many or
            /// `elements` has not enough room.
            ///
            /// Returns how many were taken out.
            #[doc(alias = "rte_ring_dequeue_bulk")]
            #[inline]
            pub fn dequeue_bulk($($borrow)+, elements: &mut impl Batch<T>, count: usize) -> usize {
                // SAFETY: the ring has one consumer, which this handle is and which is borrowed exclusively, or it was
                // made for several.
                unsafe { $self.elements.dequeue_bulk(elements, count) }
            }

            /// Takes out up to `most` elements and adds them to `elements`, as far as that has room.
            ///
            /// Returns how many were taken out.
            #[doc(alias = "rte_ring_dequeue_burst")]
            #[inline]
            pub fn dequeue_burst($($borrow)+, elements: &mut impl Batch<T>, most: usize) -> usize {
                // SAFETY: the ring has one consumer, which this handle is and which is borrowed exclusively, or it was
                // made for several.
                unsafe { $self.elements.dequeue_burst(elements, most) }
            }
        }
    };
}

/// What every handle can tell.
macro_rules! counting {
    ($handle:ident) => {
        impl<T: Send> $handle<T> {
            /// How many elements fit in all.
            #[must_use]
            pub fn capacity(&self) -> usize {
                self.elements.capacity()
            }

            /// How many elements are in the ring, as far as other threads leave that as it is.
            #[doc(alias = "rte_ring_count")]
            #[must_use]
            pub fn len(&self) -> usize {
                self.elements.len()
            }

            /// Whether the ring has no elements, as far as other threads leave that as it is.
            #[doc(alias = "rte_ring_empty")]
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<T: Send> fmt::Debug for $handle<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($handle))
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .finish()
            }
        }
    };
}

enqueueing!(Ring, self, &self);
enqueueing!(Producer, self, &mut self);
dequeueing!(Ring, self, &self);
dequeueing!(Consumer, self, &mut self);
counting!(Ring);
counting!(Producer);
counting!(Consumer);

/// Describes a ring; made by [`Ring::builder`].
#[must_use = "a ring is made by `build` or `build_spsc`"]
pub struct RingBuilder<T: Send> {
    name: String,
    capacity: u32,
    socket: SocketId,
    mode: RingMode,
    shared: bool,
    elements: PhantomData<fn() -> T>,
}

impl<T: Send> RingBuilder<T> {
    /// How many elements fit in; 1023 unless set. DPDK takes memory for the next power of two above.
    pub const fn capacity(mut self, elements: u32) -> Self {
        self.capacity = elements;
        self
    }

    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// How several producers and consumers wait for each other; [`RingMode::Mpmc`] unless set.
    pub const fn mode(mut self, mode: RingMode) -> Self {
        self.mode = mode;
        self
    }

    /// Shares the ring with [secondary processes](crate::secondary), which find it by its name. It stays, with what is in it,
    /// when the last handle here goes: another process may still use it, so its name is not free again.
    pub const fn shared(mut self) -> Self
    where
        T: ProcessShared,
    {
        self.shared = true;
        self
    }

    /// Makes a ring for any number of producers and consumers.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, a capacity of 2^31 elements or more, a child made by `fork`.
    #[doc(alias = "rte_ring_create")]
    #[doc(alias = "rte_ring_create_elem")]
    pub fn build(self, eal: &Eal) -> Result<Ring<T>, CreateError> {
        let flags = self.mode.flags();
        Ok(Ring { elements: self.create(eal, flags)? })
    }

    /// Makes a ring for one producer and one consumer, which need not wait for anybody; the mode is not looked at.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, a capacity of 2^31 elements or more, a child made by `fork`.
    #[doc(alias = "rte_ring_create")]
    #[doc(alias = "rte_ring_create_elem")]
    pub fn build_spsc(self, eal: &Eal) -> Result<(Producer<T>, Consumer<T>), CreateError> {
        let elements = self.create(eal, sys::RING_F_SP_ENQ | sys::RING_F_SC_DEQ)?;
        Ok((Producer { elements: Arc::clone(&elements) }, Consumer { elements }))
    }

    fn create(self, eal: &Eal, flags: u32) -> Result<Arc<Elements<T>>, CreateError> {
        Elements::create(eal, &self.name, self.capacity, self.socket, flags, self.shared).map(Arc::new)
    }
}

impl<T: Send> fmt::Debug for RingBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingBuilder")
            .field("name", &self.name)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}
