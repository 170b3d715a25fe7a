// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port is reset, and configured anew.

use super::{Configured, Port, PortError, Unconfigured};
use crate::PrivateData;
use core::fmt;

/// Why a port was not reset.
#[derive(thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct ResetRefused<P: PrivateData = ()> {
    /// The port as it was, if its driver has no reset; `None` if the reset has failed, after which the device is neither used nor
    /// closed any more.
    pub port: Option<Port<Configured<P>>>,
    /// Why.
    #[source]
    pub error: Box<PortError>,
}

impl<P: PrivateData> fmt::Debug for ResetRefused<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResetRefused({:?})", self.error)
    }
}

impl<P: PrivateData> Port<Configured<P>> {
    /// Resets the device, and gives its port back as one that was not configured yet: for another number of queues, other pools and
    /// so on, or since the device needs it ([`PortEvent::NeedsReset`](super::PortEvent::NeedsReset)). It is closed when it is
    /// dropped, and then cannot be had again. The pools of before are kept until that.
    ///
    /// Drivers of NICs have it, those of virtual devices do not.
    ///
    /// # Errors
    /// [`ResetRefused`], with the port as it was, for [`PortError::Lacks`] if its driver has no reset; or for
    /// [`PortError::Refused`] if the reset has failed: then the device is left as it is, and the EAL is not cleaned up.
    #[doc(alias = "rte_eth_dev_reset")]
    pub fn reset(self) -> Result<Port<Unconfigured>, ResetRefused<P>> {
        match self.device.reset() {
            Ok(()) => Ok(Port::of(self.device)),
            Err(error @ PortError::Refused { .. }) => Err(ResetRefused { port: None, error: Box::new(error) }),
            Err(error) => Err(ResetRefused { port: Some(self), error: Box::new(error) }),
        }
    }
}
