// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The public methods of [`Eal`]: they initialise the EAL, and give access to its ports, lcores, clock and heap.

use crate::{
    Clock, Eal, EalError, EalOptions, Port,
    environment::{Environment, Role, is_primary, refused_device, start_once},
    lcore::{Lcore, LcoreId, Registrar},
    memory::Heap,
    port::{self, Unconfigured},
};
use core::fmt;
use dpdk_sys as sys;
use std::sync::Arc;

impl Eal {
    /// Initialises the EAL with options of the command line, of the program, or of both.
    ///
    /// Returns the EAL and the program's own arguments from the command line: those before the first `--` that are not
    /// options of the EAL, and all arguments after it. Log messages go to stderr.
    ///
    /// ```no_run
    /// use dpdk_rs::{Eal, EalOptions};
    ///
    /// let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    /// # Ok::<(), dpdk_rs::EalError>(())
    /// ```
    ///
    /// With the option `--help`, DPDK prints its options and ends the process. From 25.11 on, DPDK also ends the
    /// process if an option is unknown or lacks its value, and reports the reason on stderr.
    ///
    /// # Errors
    /// See [`EalError`]. After [`EalError::Init`] and [`EalError::Device`] the process cannot try again.
    pub fn init(options: EalOptions) -> Result<(Self, Vec<String>), EalError> {
        let (eal_args, own_args) = options.into_args()?;
        let mut rest = start_once(eal_args)?;
        rest.extend(own_args);
        if !is_primary() {
            // SAFETY: the EAL has just been initialised on this thread, and nothing was made from it.
            unsafe { sys::rte_eal_cleanup() };
            return Err(EalError::Secondary);
        }
        // SAFETY: this thread has just initialised the EAL, which is possible once, in the primary process.
        let eal = Self::of(unsafe { Environment::new(Role::Primary) });
        // SAFETY: the EAL is initialised, and nobody else has it yet.
        let refused = unsafe { refused_device() };
        refused.map_or(Ok((eal, rest)), |device| Err(EalError::Device(device)))
    }

    /// The ports that the program has not taken yet, in ascending order. Each port is handed out once. A port that is
    /// dropped before it was configured is available again. A child process created by `fork` gets none, since they
    /// belong to its parent.
    #[doc(alias = "RTE_ETH_FOREACH_DEV")]
    #[must_use]
    pub fn ports(&self) -> Vec<Port<Unconfigured>> {
        port::take_all(self.environment())
    }

    /// The time stamp counter.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::new(self)
    }

    /// Every enabled lcore, in ascending order.
    #[doc(alias = "RTE_LCORE_FOREACH")]
    #[must_use]
    pub fn lcores(&self) -> Vec<Lcore> {
        crate::lcore::enabled(self)
    }

    /// The enabled lcores other than the main one, in ascending order.
    #[doc(alias = "RTE_LCORE_FOREACH_WORKER")]
    #[must_use]
    pub fn worker_lcores(&self) -> Vec<Lcore> {
        let main = self.main_lcore();
        self.lcores().into_iter().filter(|lcore| lcore.id() != main).collect()
    }

    /// The main lcore: the one of this thread.
    #[doc(alias = "rte_get_main_lcore")]
    #[must_use]
    pub fn main_lcore(&self) -> LcoreId {
        // SAFETY: the EAL is initialised, since an `Eal` is made only after that; the call reads a number.
        let id = unsafe { sys::rte_get_main_lcore() };
        // SAFETY: an initialised EAL has a main lcore.
        unsafe { LcoreId::new(id) }
    }

    /// Registers threads that the EAL did not create as lcores.
    #[doc(alias = "rte_thread_register")]
    #[must_use]
    pub fn registrar(&self) -> Registrar {
        Registrar::new(Arc::clone(self.environment()))
    }

    /// DPDK's heap, for the program's own data.
    #[doc(alias = "rte_malloc")]
    #[must_use]
    pub fn heap(&self) -> Heap {
        Heap::new(self)
    }

    /// Whether the EAL uses hugepages.
    #[doc(alias = "rte_eal_has_hugepages")]
    #[must_use]
    pub fn has_hugepages(&self) -> bool {
        // SAFETY: the EAL is initialised, since an `Eal` is made only after that; the call reads a flag.
        unsafe { sys::rte_eal_has_hugepages() != 0 }
    }
}

impl fmt::Debug for Eal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eal").field("main_lcore", &self.main_lcore()).finish_non_exhaustive()
    }
}
