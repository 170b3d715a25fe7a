// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Threads of the program that are no lcores, and stay off the CPUs of lcores.

use super::{LcoreId, current};
use crate::{Errno, environment::restore_affinity};

/// Why a thread keeps its CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnpinError {
    /// It is an lcore.
    #[error("this thread is lcore {0}, which keeps its CPU: unpin threads that are no lcores")]
    IsLcore(LcoreId),
    /// The kernel refused.
    #[error("cannot give this thread the CPUs that the process was started with: {0}")]
    Refused(Errno),
}

/// Lets the calling thread run on the CPUs that the process was started with, without those of lcores; on all of them if lcores
/// have them all.
///
/// [`Eal::init`](crate::Eal::init) pins the thread that calls it to the CPU of the main lcore. A thread that is spawned after that
/// inherits this CPU, and runs only while the main lcore does not. Call this first in such a thread. It does nothing before
/// [`Eal::init`](crate::Eal::init).
///
/// ```no_run
/// let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// let sampler = std::thread::spawn(|| {
///     dpdk_rs::lcore::unpin()?;
///     // … write samples to a file
///     Ok::<(), dpdk_rs::lcore::UnpinError>(())
/// });
/// # Ok::<(), dpdk_rs::EalError>(())
/// ```
///
/// # Errors
/// See [`UnpinError`].
#[doc(alias = "rte_ctrl_thread_create")]
#[doc(alias = "rte_thread_create_control")]
#[doc(alias = "rte_thread_set_affinity")]
pub fn unpin() -> Result<(), UnpinError> {
    if let Some(lcore) = current() {
        return Err(UnpinError::IsLcore(lcore));
    }
    restore_affinity().map_err(UnpinError::Refused)
}
