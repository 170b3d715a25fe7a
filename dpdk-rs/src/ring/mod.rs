// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rings: lock-free queues of fixed size between lcores and threads.
//!
//! There are two kinds. A ring between one producer and one consumer ([`RingBuilder::build_spsc`]) has a handle for
//! each, which cannot be cloned. A ring for any number of both ([`RingBuilder::build`]) has one handle, which can be
//! cloned. The elements in a ring are dropped with its last handle.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
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
pub(crate) mod process_shared;

pub use batch::Batch;

use crate::{CreateError, Eal, Full, SocketId, object::Handle};
use core::{fmt, marker::PhantomData};
use dpdk_sys as sys;
use elements::Elements;
use process_shared::ProcessShared;
use std::sync::Arc;

/// How threads wait for each other in a ring with several producers and consumers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingMode {
    /// Each thread waits for those that began before it. The fastest mode if every thread has a processor of its own.
    #[default]
    #[doc(alias = "RTE_RING_SYNC_MT")]
    Mpmc,
    /// Relaxed tail: the last of several overlapping operations completes them all, and the others do not wait. For
    /// threads that can be preempted.
    #[doc(alias = "RING_F_MP_RTS_ENQ")]
    #[doc(alias = "RTE_RING_SYNC_MT_RTS")]
    Rts,
    /// Head and tail in step: one thread enqueues at a time, and one dequeues. For threads that can be preempted.
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

/// A ring with any number of producers and consumers. Every operation takes `&self`; a clone is another handle of the
/// same ring.
///
/// An element is of any `Send` type whose size is a multiple of 4, up to 4,096 bytes, and whose alignment is 4 or more.
/// Both are checked when the ring's type is compiled. Put other types into a `Box`.
#[doc(alias = "rte_ring")]
pub struct Ring<T: Send> {
    elements: Arc<Elements<T>>,
}

/// The producing end of a ring. A ring has one, which cannot be cloned.
#[doc(alias = "RING_F_SP_ENQ")]
pub struct Producer<T: Send> {
    elements: Arc<Elements<T>>,
}

/// The consuming end of a ring. A ring has one, which cannot be cloned.
#[doc(alias = "RING_F_SC_DEQ")]
pub struct Consumer<T: Send> {
    elements: Arc<Elements<T>>,
}

impl<T: Send> Ring<T> {
    /// Starts the description of a ring. `name` has at most 25 bytes and is unique among the rings of the process.
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

    /// A ring for several producers and consumers that another process created.
    ///
    /// # Safety
    /// The ring lives as long as any handle, has elements of type `T` in every process, has room for `capacity` of
    /// them, and was created for several producers and consumers.
    pub(crate) unsafe fn of_other(ring: Handle<sys::rte_ring>, capacity: u32) -> Self {
        // SAFETY: the caller promises the same.
        Self { elements: Arc::new(unsafe { Elements::of_other(ring, capacity) }) }
    }
}

impl<T: Send> Producer<T> {
    /// The producing end of a ring that another process created.
    ///
    /// # Safety
    /// The ring lives as long as this object, has elements of type `T` in every process, and has room for `capacity` of
    /// them. Nobody else enqueues, in any process, unless the ring was created for several producers.
    pub(crate) unsafe fn of_other(ring: Handle<sys::rte_ring>, capacity: u32) -> Self {
        // SAFETY: the caller promises a live ring of such elements with this capacity.
        Self { elements: Arc::new(unsafe { Elements::of_other(ring, capacity) }) }
    }
}

impl<T: Send> Consumer<T> {
    /// The consuming end of a ring that another process created.
    ///
    /// # Safety
    /// The ring lives as long as this object, has elements of type `T` in every process, and has room for `capacity` of
    /// them. Nobody else dequeues, in any process, unless the ring was created for several consumers.
    pub(crate) unsafe fn of_other(ring: Handle<sys::rte_ring>, capacity: u32) -> Self {
        // SAFETY: the caller promises a live ring of such elements with this capacity.
        Self { elements: Arc::new(unsafe { Elements::of_other(ring, capacity) }) }
    }
}

impl<T: Send> Clone for Ring<T> {
    fn clone(&self) -> Self {
        Self { elements: Arc::clone(&self.elements) }
    }
}

/// The operations of a producer, for a handle that is borrowed as `$borrow`. A macro has no `self` of its own.
macro_rules! enqueueing {
    ($handle:ident, $self:ident, $($borrow:tt)+) => {
        impl<T: Send> $handle<T> {
            /// Enqueues one element.
            ///
            /// # Errors
            /// [`Full`] with the element, if the ring is full.
            #[doc(alias = "rte_ring_enqueue")]
            #[inline]
            pub fn enqueue($($borrow)+, element: T) -> Result<(), Full<T>> {
                // SAFETY: this handle is the ring's only producer and is borrowed exclusively, or the ring was created
                // for several producers.
                unsafe { $self.elements.enqueue(element) }
            }

            /// Enqueues all of `elements`, and leaves the container empty.
            ///
            /// # Errors
            /// [`Full`] if the ring has too little room for all. `elements` is unchanged then.
            #[doc(alias = "rte_ring_enqueue_bulk")]
            #[inline]
            pub fn enqueue_bulk($($borrow)+, elements: &mut impl Batch<T>) -> Result<(), Full> {
                // SAFETY: this handle is the ring's only producer and is borrowed exclusively, or the ring was created
                // for several producers.
                unsafe { $self.elements.enqueue_bulk(elements) }
            }

            /// Enqueues as many elements from the front of `elements` as the ring has room for. The others stay in the
            /// container.
            ///
            /// Returns how many were enqueued.
            #[doc(alias = "rte_ring_enqueue_burst")]
            #[inline]
            pub fn enqueue_burst($($borrow)+, elements: &mut impl Batch<T>) -> usize {
                // SAFETY: this handle is the ring's only producer and is borrowed exclusively, or the ring was created
                // for several producers.
                unsafe { $self.elements.enqueue_burst(elements) }
            }
        }
    };
}

/// The operations of a consumer, for a handle that is borrowed as `$borrow`.
macro_rules! dequeueing {
    ($handle:ident, $self:ident, $($borrow:tt)+) => {
        impl<T: Send> $handle<T> {
            /// Dequeues the oldest element; `None` if the ring is empty.
            #[doc(alias = "rte_ring_dequeue")]
            #[inline]
            pub fn dequeue($($borrow)+) -> Option<T> {
                // SAFETY: this handle is the ring's only consumer and is borrowed exclusively, or the ring was created
                // for several consumers.
                unsafe { $self.elements.dequeue() }
            }

            /// Dequeues `count` elements and appends them to `elements`, or none if the ring has fewer or `elements`
            /// has too little room.
            ///
            /// Returns how many were dequeued.
            #[doc(alias = "rte_ring_dequeue_bulk")]
            #[inline]
            pub fn dequeue_bulk($($borrow)+, elements: &mut impl Batch<T>, count: usize) -> usize {
                // SAFETY: this handle is the ring's only consumer and is borrowed exclusively, or the ring was created
                // for several consumers.
                unsafe { $self.elements.dequeue_bulk(elements, count) }
            }

            /// Dequeues up to `most` elements and appends them to `elements`, as long as it has room.
            ///
            /// Returns how many were dequeued.
            #[doc(alias = "rte_ring_dequeue_burst")]
            #[inline]
            pub fn dequeue_burst($($borrow)+, elements: &mut impl Batch<T>, most: usize) -> usize {
                // SAFETY: this handle is the ring's only consumer and is borrowed exclusively, or the ring was created
                // for several consumers.
                unsafe { $self.elements.dequeue_burst(elements, most) }
            }
        }
    };
}

/// The queries of every handle.
macro_rules! counting {
    ($handle:ident) => {
        impl<T: Send> $handle<T> {
            /// The maximum number of elements in the ring.
            #[must_use]
            pub fn capacity(&self) -> usize {
                self.elements.capacity()
            }

            /// The number of elements in the ring; other threads may change it at any time.
            #[doc(alias = "rte_ring_count")]
            #[must_use]
            pub fn len(&self) -> usize {
                self.elements.len()
            }

            /// Whether the ring has no elements; other threads may change this at any time.
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

/// The description of a ring, from [`Ring::builder`].
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
    /// The maximum number of elements, less than 2^30. Default: 1,023. DPDK allocates memory for the next larger power of
    /// two, which is 8 GiB at most.
    pub const fn capacity(mut self, elements: u32) -> Self {
        self.capacity = elements;
        self
    }

    /// The NUMA node for the ring's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// How several producers and consumers wait for each other. Default: [`RingMode::Mpmc`].
    pub const fn mode(mut self, mode: RingMode) -> Self {
        self.mode = mode;
        self
    }

    /// Shares the ring with [secondary processes](crate::secondary), which find it by its name. The ring and its
    /// elements remain after the last handle in this process is dropped, since another process may still use them. So
    /// the name stays in use.
    pub const fn shared(mut self) -> Self
    where
        T: ProcessShared,
    {
        self.shared = true;
        self
    }

    /// Creates a ring for any number of producers and consumers.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, a capacity that is too large, or a child process created by
    /// `fork`.
    #[doc(alias = "rte_ring_create")]
    #[doc(alias = "rte_ring_create_elem")]
    pub fn build(self, eal: &Eal) -> Result<Ring<T>, CreateError> {
        let flags = self.mode.flags();
        Ok(Ring { elements: self.create(eal, flags)? })
    }

    /// Creates a ring for one producer and one consumer, which never wait for each other. The mode is ignored.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, a capacity that is too large, or a child process created by
    /// `fork`.
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
