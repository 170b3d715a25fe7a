// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Processes that use the memory and the ports of another one.
//!
//! The **primary** process initialises DPDK with [`Eal::init`](crate::Eal::init), makes pools and rings, and owns the ports. A
//! **secondary** process attaches to it by its `--file-prefix`, with [`Secondary::attach`], and finds by name what the other has
//! made: pools, rings, memory zones, ports. Packets then go from process to process as pointers, without a copy. They tell and ask
//! each other by [messages](crate::message).
//!
//! The primary process, all of it safe:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use dpdk_rs::{Eal, Mempool, Packet, Ring};
//!
//! let (eal, _args) = Eal::init(std::env::args())?;
//! let pool: Mempool = Mempool::builder("frames").build(&eal)?;
//! let ring = Ring::<Packet>::builder("to secondary").shared().build(&eal)?;
//! ring.enqueue(pool.alloc().ok_or("the pool is exhausted")?)?;
//! # Ok(())
//! # }
//! ```
//!
//! A secondary process, with what it has to promise:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use dpdk_rs::{Packet, Ring, secondary::Secondary};
//!
//! // SAFETY: both programs are built and linked in the same way, and the primary process frees nothing before this one ends.
//! let (primary, _args) = unsafe { Secondary::attach(std::env::args())? };
//! // SAFETY: the primary process has made the ring for packets of this type, and shares it.
//! let ring: Ring<Packet> = unsafe { primary.ring("to secondary")? };
//! while primary.is_primary_alive() {
//!     if let Some(packet) = ring.dequeue() {
//!         println!("{} bytes", packet.len()); // dropped, it returns to the pool of the primary process
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What a secondary process finds is never freed by it, its ports are neither configured nor closed, and clean-up is left to the
//! primary process. What either must not do to the other, no type can know: that is what the `unsafe` functions here ask for.
//!
//! A process that dies takes with it what it holds. Packets of a secondary process that was killed are lost to their pool
//! ([`Mempool::available`](crate::Mempool::available) shows how many) until the primary process is started again; one that was
//! killed inside a call on a ring can leave that ring locked for all others. If the primary process ends, the memory that
//! secondary ones have mapped stays where it is; they should end too.
//!
//! Both need hugepages and files of DPDK's: neither `--no-huge` nor `--no-shconf` nor `--in-memory`. Give each process
//! processors of its own. A primary process with threads that it has registered itself
//! ([`Registrar`](crate::lcore::Registrar)) cannot be attached to, which DPDK says on stderr.

mod lookup;

pub use crate::port::Foreign;
pub use lookup::{LookupError, ProcessShared};

use crate::{
    Clock, EalError, Errno, Port, PortError, diagnosis,
    eal::{self, Environment, Role},
    packet::begin_sharing,
    port,
};
use core::{ffi::CStr, fmt, ptr};
use dpdk_sys as sys;
use std::{ffi::CString, os::unix::ffi::OsStrExt, path::PathBuf, sync::Arc};

/// Why a process did not attach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The command line says that this is another kind of process.
    #[error("--proc-type={0}: this process attaches to a primary one: leave the option out")]
    ProcType(String),
    /// With this option processes share nothing.
    #[error("--{0}: processes share hugepages and files of DPDK: leave the option out, for the primary process too")]
    NotShared(&'static str),
    /// Nobody has the lock that a primary process holds as long as it runs.
    #[error(
        "no primary process has the file prefix '{prefix}', nobody locks {config}: start it first, without --no-huge, \
         --no-shconf and --in-memory, or give its --file-prefix here",
        config = .config.display()
    )]
    NoPrimary {
        /// The file prefix of this process: `rte` unless given.
        prefix: String,
        /// The file that a primary process would have locked.
        config: PathBuf,
    },
    /// `rte_eal_init` failed; its log says more.
    #[error(
        "cannot attach to the primary process with the file prefix '{prefix}': {reason}; it needs hugepages (no --no-huge), and \
         the same release of DPDK, linked in the same way (shared or static), and --huge-dir as this process",
        reason = eal::reason(*.errno)
    )]
    Attach {
        /// The file prefix of both.
        prefix: String,
        /// DPDK's error; 0 where it sets none.
        errno: Errno,
    },
    /// A pool of the primary process is not of the driver that this process has under its number, as the ring in it shows; or it was
    /// made for one thread (`--mbuf-pool-ops-name`) on a ring that is for several.
    #[error(
        "pool '{0}' of the primary process has another driver in this one: link both in the same way (shared or static), give \
         both the same -d and the same folder of drivers, and the primary no --mbuf-pool-ops-name"
    )]
    Drivers(String),
    /// The EAL did not even begin to start.
    #[error(transparent)]
    Start(EalError),
}

impl AttachError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Attach { errno, .. } => Some(*errno),
            Self::Start(error) => error.errno(),
            _ => None,
        }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Attach { .. } => Some("rte_eal_init"),
            Self::Start(error) => error.call(),
            _ => None,
        }
    }
}

/// The memory of a primary process, which this process has mapped: it is a secondary one. Any thread may use it.
///
/// There is no [`Eal`](crate::Eal) in a secondary process, and nothing can be made that needs one: what there is was made by the
/// primary process. It is never detached from: a packet could be left.
///
/// No thread of a secondary process is an lcore, not even the one that has attached. The caches of pools are in the memory that
/// processes share, by the number of the lcore, and two processes with the same number would take the same cache for theirs.
/// So packets go straight to the pool and back, best in bursts.
#[doc(alias = "RTE_PROC_SECONDARY")]
#[doc(alias = "rte_eal_init")]
pub struct Secondary {
    environment: Arc<Environment>,
}

impl Secondary {
    /// Attaches to the primary process with the same `--file-prefix`. The arguments are those of [`Eal::init`](crate::Eal::init);
    /// `--proc-type=secondary` is added where it is missing.
    ///
    /// Returns the process's own arguments too: those that are not options of the EAL.
    ///
    /// Memory is mapped at the addresses that it has in the primary process. Where something else is there, attaching fails:
    /// let the primary process choose others, with `--base-virtaddr`.
    ///
    /// # Errors
    /// See [`AttachError`]. After [`AttachError::Attach`] and [`AttachError::Drivers`] the process cannot try again.
    ///
    /// # Safety
    /// All processes with this file prefix
    ///
    /// - have the same DPDK: the same release, built with the same settings and linked in the same way (shared or static), with
    ///   the same drivers loaded (`-d`), in the same order, which is that of the entries in their folder. DPDK compares the release
    ///   only. In the shared memory there are numbers that each process looks up in tables of its own: that of a pool's driver is
    ///   compared for the pools that are there when this process attaches, and for those that [`pool`](Self::pool) finds;
    /// - write to the shared memory only as DPDK does, and are trusted with all of it;
    /// - free nothing that this one has found as long as it uses it. A primary process on this crate keeps to that with pools and
    ///   with rings that are [`shared`](crate::ring::RingBuilder::shared), also when it ends;
    /// - leave the prefix alone when the primary process has ended: no other is started under it before this one has ended too;
    /// - share no packets with external buffers: the function that frees those is in one process only.
    #[doc(alias = "rte_eal_init")]
    pub unsafe fn attach<I>(args: I) -> Result<(Self, Vec<String>), AttachError>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let (mut eal_args, own_args) = eal::split(args);
        let sharing = diagnosis::sharing(&eal_args);
        match sharing.process_type.as_deref() {
            None if eal_args.is_empty() => return Err(AttachError::Start(EalError::NoArguments)),
            None => eal_args.insert(1, "--proc-type=secondary".to_owned()),
            Some("secondary") => (),
            Some(other) => return Err(AttachError::ProcType(other.to_owned())),
        }
        if let Some(option) = sharing.hindrance {
            return Err(AttachError::NotShared(option));
        }
        let prefix = sharing.prefix;
        let config = CString::new(sharing.config.as_os_str().as_bytes());
        // A name with a NUL byte cannot be that of a file; `start_once` says so.
        if let Ok(config) = config {
            // SAFETY: the path is a string; the call opens the file, looks at its lock, and needs no EAL.
            if unsafe { sys::rte_eal_primary_proc_alive(config.as_ptr()) } == 0 {
                return Err(AttachError::NoPrimary { prefix, config: sharing.config });
            }
        }
        let mut rest = eal::start_once(eal_args).map_err(|error| match error {
            EalError::Init(errno) => AttachError::Attach { prefix, errno },
            other => AttachError::Start(other),
        })?;
        rest.extend(own_args);
        // SAFETY: the EAL has made this thread its main lcore, and nothing was made yet that an lcore has its part of.
        unsafe { sys::dpdk_sys_forget_lcore() };
        // SAFETY: the EAL is initialised; the call looks at each pool under the lock of their list.
        let other = unsafe { sys::dpdk_sys_pool_of_other_driver() };
        if !other.is_null() {
            // SAFETY: the name is a string in the pool, which the caller promises to stay.
            let name = unsafe { CStr::from_ptr(other) };
            return Err(AttachError::Drivers(name.to_string_lossy().into_owned()));
        }
        // Packets come from another process, which may have shared their data.
        begin_sharing();
        Ok((Self { environment: Arc::new(Environment::new(Role::Secondary)) }, rest))
    }

    /// Whether the primary process runs: a look at the lock that it holds, with three calls of the kernel. Ask it now and then,
    /// not for every burst.
    #[doc(alias = "rte_eal_primary_proc_alive")]
    #[must_use]
    pub fn is_primary_alive(&self) -> bool {
        // SAFETY: the EAL is initialised, so the call knows the file; it opens it and looks at its lock.
        unsafe { sys::rte_eal_primary_proc_alive(ptr::null()) != 0 }
    }

    /// The ports of the primary process that nobody here has, in ascending order: what they count, and their queues.
    ///
    /// # Errors
    /// [`PortError::Refused`] if a device does not say what it is.
    ///
    /// # Safety
    /// As long as one of them, or a queue of one, lives, the primary process closes and [detaches](crate::Eal::detach) none of them. Its
    /// end closes them. No device comes or goes while this is called: DPDK tells by a message when one does, and has it come and go
    /// here on a thread of its own.
    ///
    /// Where that is not kept: a port that was detached answers `ENODEV`, unless it is being used at that moment, and another device
    /// may get its number; one that was only closed leads into memory that is freed.
    #[doc(alias = "RTE_ETH_FOREACH_DEV")]
    pub unsafe fn ports(&self) -> Result<Vec<Port<Foreign>>, PortError> {
        port::take_foreign(&self.environment)
    }

    pub(crate) const fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    /// The time stamp counter, which is the same for all processes.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::of_running()
    }
}

impl fmt::Debug for Secondary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secondary").field("is_primary_alive", &self.is_primary_alive()).finish_non_exhaustive()
    }
}
