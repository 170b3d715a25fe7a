// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Processes that use the memory and the ports of another process.
//!
//! The **primary** process initialises DPDK with [`Eal::init`](crate::Eal::init), creates pools and rings, and owns the
//! ports. A **secondary** process attaches to it by its `--file-prefix`, with [`Secondary::attach`], and finds the
//! objects of the primary process by name: pools, rings, memory zones and ports. Packets then move between processes as
//! pointers, without a copy. The processes exchange [messages](crate::message).
//!
//! The primary process, without unsafe code:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use dpdk_rs::{Eal, EalOptions, Mempool, Packet, Ring};
//!
//! let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
//! let pool: Mempool = Mempool::builder("frames").build(&eal)?;
//! let ring = Ring::<Packet>::builder("to secondary").shared().build(&eal)?;
//! ring.enqueue(pool.alloc().ok_or("the pool is exhausted")?)?;
//! # Ok(())
//! # }
//! ```
//!
//! A secondary process, with the promises that it makes:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use dpdk_rs::{EalOptions, Packet, Ring, secondary::Secondary};
//!
//! // SAFETY: both programs are built and linked in the same way, and the primary process frees nothing before this one ends.
//! let (primary, _args) = unsafe { Secondary::attach(EalOptions::from_command_line())? };
//! // SAFETY: the primary process created the ring for packets of this type, and shares it.
//! let ring: Ring<Packet> = unsafe { primary.ring("to secondary")? };
//! while primary.is_primary_alive() {
//!     if let Some(packet) = ring.dequeue() {
//!         println!("{} bytes", packet.len()); // its drop returns it to the pool of the primary process
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Names in DPDK begin with `rs.`: a secondary process in C finds the pool above as `rs.frames`. If the primary process is
//! in C, its objects are found by the names that it gave.
//!
//! A secondary process never frees what it finds, neither configures nor closes ports, and leaves clean-up to the
//! primary process. No type can check what the processes must not do to each other: this is what the `unsafe` functions
//! here ask the caller to promise.
//!
//! The objects that a process holds are lost when it dies. Packets held by a killed secondary process are missing from
//! their pool until the primary process is restarted; [`Mempool::available`](crate::Mempool::available) shows how many.
//! A process that is killed inside a call on a ring can leave that ring locked for all others. When the primary process
//! ends, the memory stays mapped in its secondary processes, which should end too.
//!
//! Both processes need hugepages and DPDK's shared files: neither `--no-huge` nor `--no-shconf` nor `--in-memory`. Give
//! each process its own processors. A process cannot attach to a primary process with registered threads
//! ([`Registrar`](crate::lcore::Registrar)); DPDK reports that on stderr.

mod lookup;

pub use crate::{port::Foreign, ring::process_shared::ProcessShared};
pub use lookup::LookupError;

use crate::{
    Clock, EalError, EalOptions, Errno, Port, PortError, diagnosis,
    environment::{self, Environment, Role},
    name,
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
    /// The command line requests another kind of process.
    #[error("--proc-type={0}: this process attaches to a primary one: leave the option out")]
    ProcType(String),
    /// With this option processes share nothing.
    #[error("--{0}: processes share hugepages and files of DPDK: leave the option out, for the primary process too")]
    NotShared(&'static str),
    /// No process holds the lock that a primary process holds as long as it runs.
    #[error(
        "no primary process has the file prefix '{prefix}', nobody locks {config}: start it first, without --no-huge, \
         --no-shconf and --in-memory, or give its --file-prefix here",
        config = .config.display()
    )]
    NoPrimary {
        /// The file prefix of this process: `rte` by default.
        prefix: String,
        /// The file that a primary process would have locked.
        config: PathBuf,
    },
    /// `rte_eal_init` failed. DPDK's log has details.
    #[error(
        "cannot attach to the primary process with the file prefix '{prefix}': {reason}; it needs hugepages (no --no-huge), and \
         the same release of DPDK, linked in the same way (shared or static), and --huge-dir as this process",
        reason = environment::reason(*.errno)
    )]
    Attach {
        /// The file prefix of both processes.
        prefix: String,
        /// DPDK's error; 0 if DPDK sets none.
        errno: Errno,
    },
    /// The driver number of a pool of the primary process belongs to another driver in this process, as the pool's ring
    /// shows. Or the pool was created for one thread (`--mbuf-pool-ops-name`) on a ring that is for several.
    #[error(
        "pool '{0}' of the primary process has another driver in this one: link both in the same way (shared or static), give \
         both the same -d and the same folder of drivers, and the primary no --mbuf-pool-ops-name"
    )]
    Drivers(String),
    /// The EAL did not begin to start.
    #[error(transparent)]
    Start(EalError),
}

impl AttachError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Attach { errno, .. } => Some(*errno),
            Self::Start(error) => error.errno(),
            _ => None,
        }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Attach { .. } => Some("rte_eal_init"),
            Self::Start(error) => error.call(),
            _ => None,
        }
    }
}

/// The memory of a primary process, mapped into this process, which is thereby a secondary one. Any thread may use it.
///
/// A secondary process has no [`Eal`](crate::Eal), and cannot create anything that needs one: it uses what the primary
/// process has created. It never detaches, since it might still have packets.
///
/// No thread of a secondary process is an lcore, not even the one that attached. The caches of pools are in shared
/// memory, indexed by the lcore's number, and two processes with the same number would use the same cache. So packets
/// go directly to and from the pool, preferably in bursts.
#[doc(alias = "RTE_PROC_SECONDARY")]
#[doc(alias = "rte_eal_init")]
pub struct Secondary {
    environment: Arc<Environment>,
}

impl Secondary {
    /// Attaches to the primary process with the same `--file-prefix`. The options are those of
    /// [`Eal::init`](crate::Eal::init); `--proc-type=secondary` is added if it is missing.
    ///
    /// Also returns the process's own arguments, which are not options of the EAL.
    ///
    /// Memory is mapped at the same addresses as in the primary process. If one of them is in use here, attaching
    /// fails: choose other addresses with `--base-virtaddr` of the primary process.
    ///
    /// # Errors
    /// See [`AttachError`]. After [`AttachError::Attach`] and [`AttachError::Drivers`] the process cannot try again.
    ///
    /// # Safety
    /// All processes with this file prefix
    ///
    /// - have the same DPDK: the same release, built with the same settings and linked in the same way (shared or
    ///   static), with the same drivers loaded (`-d`) in the same order, which is that of the entries in their folder.
    ///   DPDK compares only the release. Shared memory contains numbers that each process looks up in its own tables.
    ///   This crate compares the number of a pool's driver, for the pools that exist when this process attaches, and
    ///   for those that [`pool`](Self::pool) finds;
    /// - write to the shared memory only as DPDK does, and are trusted with all of it;
    /// - free nothing that this process has found as long as it uses it. A primary process that uses this crate ensures
    ///   that for pools and for [`shared`](crate::ring::RingBuilder::shared) rings, also when it ends;
    /// - leave the prefix alone after the primary process has ended: no other one is started with it before this
    ///   process has ended too;
    /// - share no packets with external buffers: the function that frees these buffers exists in one process only.
    #[doc(alias = "rte_eal_init")]
    pub unsafe fn attach(options: EalOptions) -> Result<(Self, Vec<String>), AttachError> {
        let sharing = diagnosis::sharing(&options.words());
        let (mut eal_args, own_args) = options.into_args().map_err(AttachError::Start)?;
        match sharing.process_type.as_deref() {
            None => eal_args.insert(1, "--proc-type=secondary".into()),
            Some("secondary") => (),
            Some(other) => return Err(AttachError::ProcType(other.to_owned())),
        }
        if let Some(option) = sharing.hindrance {
            return Err(AttachError::NotShared(option));
        }
        let prefix = sharing.prefix;
        let config = CString::new(sharing.config.as_os_str().as_bytes());
        // A name with a NUL byte cannot be that of a file. `start_once` reports it.
        if let Ok(config) = config {
            // SAFETY: the path is a string. The call opens the file and checks its lock, and needs no EAL.
            if unsafe { sys::rte_eal_primary_proc_alive(config.as_ptr()) } == 0 {
                return Err(AttachError::NoPrimary { prefix, config: sharing.config });
            }
        }
        let mut rest = environment::start_once(eal_args).map_err(|error| match error {
            EalError::Init(errno) => AttachError::Attach { prefix, errno },
            other => AttachError::Start(other),
        })?;
        rest.extend(own_args);
        // SAFETY: the EAL has made this thread its main lcore, and nothing that is indexed by lcore was created yet.
        unsafe { sys::dpdk_sys_forget_lcore() };
        // SAFETY: the EAL is initialised. The call checks each pool under the lock of their list.
        let other = unsafe { sys::dpdk_sys_pool_of_other_driver() };
        if !other.is_null() {
            // SAFETY: the name is a string in the pool, which stays, as the caller promises.
            let name = unsafe { CStr::from_ptr(other) };
            return Err(AttachError::Drivers(name::from_dpdk(&name.to_string_lossy()).to_owned()));
        }
        // Packets come from another process, which may have shared their data.
        begin_sharing();
        // SAFETY: this thread has just initialised the EAL, which is possible once, in a secondary process.
        let environment = unsafe { Environment::new(Role::Secondary) };
        Ok((Self { environment: Arc::new(environment) }, rest))
    }

    /// Whether the primary process is running. This checks the lock that it holds, with three system calls: call it
    /// from time to time, not for every burst.
    #[doc(alias = "rte_eal_primary_proc_alive")]
    #[must_use]
    pub fn is_primary_alive(&self) -> bool {
        // SAFETY: the EAL is initialised, so the call knows the file. It opens the file and checks its lock.
        unsafe { sys::rte_eal_primary_proc_alive(ptr::null()) != 0 }
    }

    /// The ports of the primary process that nobody in this process has, in ascending order: for their statistics and
    /// their queues.
    ///
    /// # Errors
    /// [`PortError::Refused`] if a device does not provide its information.
    ///
    /// # Safety
    /// As long as one of the ports, or a queue of one, lives, the primary process closes and
    /// [detaches](crate::Eal::detach) none of them, except that its end closes them. No device appears or disappears
    /// during this call: DPDK announces such changes by a message, and applies them in this process on its own thread.
    ///
    /// Otherwise a detached port answers `ENODEV`, unless it is in use at that moment, and another device may get its
    /// number. The memory of a port that was only closed is freed.
    #[doc(alias = "RTE_ETH_FOREACH_DEV")]
    pub unsafe fn ports(&self) -> Result<Vec<Port<Foreign>>, PortError> {
        // SAFETY: the caller promises that the primary process closes none of them.
        unsafe { port::take_foreign(&self.environment) }
    }

    pub(crate) const fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    /// The time stamp counter, which is the same for all processes.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::of(&self.environment)
    }
}

impl fmt::Debug for Secondary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secondary").field("is_primary_alive", &self.is_primary_alive()).finish_non_exhaustive()
    }
}
