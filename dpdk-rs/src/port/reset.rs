// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Resetting a port, so that it can be configured again.

use super::{Configured, Port, PortError, Unconfigured};
use crate::PrivateData;
use core::fmt;

/// Why a port was not reset.
#[derive(thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct ResetRefused<P: PrivateData = ()> {
    /// The unchanged port, if its driver has no reset; `None` if the reset has failed. The device is then neither used
    /// nor closed any more.
    pub port: Option<Port<Configured<P>>>,
    /// The reason.
    #[source]
    pub error: Box<PortError>,
}

impl<P: PrivateData> fmt::Debug for ResetRefused<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResetRefused({:?})", self.error)
    }
}

impl<P: PrivateData> Port<Configured<P>> {
    /// Resets the device, and returns its port unconfigured: to choose another number of queues or other pools, for
    /// example, or because the device needs a reset ([`PortEvent::NeedsReset`](super::PortEvent::NeedsReset)). When the
    /// port is dropped, it is closed and cannot be taken again. It keeps its previous pools until then.
    ///
    /// Drivers of NICs can reset their devices; those of virtual devices cannot.
    ///
    /// # Errors
    /// [`ResetRefused`], with the unchanged port and [`PortError::Lacks`] if its driver has no reset; or with
    /// [`PortError::Refused`] if the reset has failed. In that case the device is left as it is, and the EAL is not
    /// cleaned up.
    #[doc(alias = "rte_eth_dev_reset")]
    pub fn reset(self) -> Result<Port<Unconfigured>, ResetRefused<P>> {
        // SAFETY: a `Port<Configured>` is configured and not started, and nobody has a queue of it.
        match unsafe { self.device.reset() } {
            // SAFETY: a device that was reset has to be configured again.
            Ok(()) => Ok(unsafe { Port::of(self.device) }),
            Err(error @ PortError::Refused { .. }) => Err(ResetRefused { port: None, error: Box::new(error) }),
            Err(error) => Err(ResetRefused { port: Some(self), error: Box::new(error) }),
        }
    }
}
