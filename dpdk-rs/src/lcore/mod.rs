// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Logical cores, and closures that run on them.

mod managing;
mod registered;
mod scope;
mod stop;
mod unpin;

pub use crate::ids::LcoreId;
pub(crate) use managing::Managing;
pub(crate) use registered::end_late;
pub use registered::{RegisterError, Registered, Registrar};
pub use scope::{JoinHandle, LaunchError, Panicked, Scope, scope};
pub use stop::{StopGuard, StopToken};
pub use unpin::{UnpinError, unpin};

use crate::{Eal, SocketId};
use dpdk_sys as sys;

/// An enabled lcore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lcore {
    id: LcoreId,
    socket: SocketId,
    main: bool,
}

impl Lcore {
    /// Its number.
    #[must_use]
    pub const fn id(self) -> LcoreId {
        self.id
    }

    /// Its NUMA node.
    #[doc(alias = "rte_lcore_to_socket_id")]
    #[must_use]
    pub const fn socket(self) -> SocketId {
        self.socket
    }

    /// Whether it is the main lcore, on which the EAL was initialised.
    #[must_use]
    pub const fn is_main(self) -> bool {
        self.main
    }
}

pub(crate) fn enabled(eal: &Eal) -> Vec<Lcore> {
    let main = eal.main_lcore();
    // DPDK's table of lcores is changed with the control plane locked. In a fork, a thread that is not there may hold the lock.
    let _control = (!eal.environment().is_forked()).then(|| eal.environment().control());
    let mut lcores = Vec::new();
    // SAFETY: the EAL is initialised, since the caller holds an `Eal`; u32::MAX asks for the first lcore.
    let mut next = unsafe { sys::rte_get_next_lcore(u32::MAX, 0, 0) };
    while next < sys::RTE_MAX_LCORE {
        // SAFETY: `next` is below RTE_MAX_LCORE, as the loop has checked.
        let id = unsafe { LcoreId::new(next) };
        // SAFETY: `next` is below RTE_MAX_LCORE, as the loop has checked. The call looks it up in a table of that
        // length.
        let socket = unsafe { sys::rte_lcore_to_socket_id(next) };
        lcores.push(Lcore { id, socket: SocketId::new(socket.cast_signed()), main: id == main });
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`; `next` is an lcore that DPDK named.
        next = unsafe { sys::rte_get_next_lcore(next, 0, 0) };
    }
    lcores
}

/// The lcore of the calling thread; `None` if the thread is not an lcore: neither the EAL nor a [`Registrar`] made it one.
#[doc(alias = "rte_lcore_id")]
#[must_use]
pub fn current() -> Option<LcoreId> {
    // SAFETY: the call reads a variable of this thread, which exists even without an EAL.
    let id = unsafe { sys::rte_lcore_id() };
    // SAFETY: a number other than ANY is that of an lcore.
    (id != sys::LCORE_ID_ANY).then(|| unsafe { LcoreId::new(id) })
}
