// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of ports.

use super::PortId;
use crate::Errno;

/// A call on a port that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PortError {
    /// DPDK, or the device, refused.
    #[error("port {port} ({name}): cannot {action}: {errno}")]
    Refused {
        /// The port.
        port: PortId,
        /// The port's name, such as `net_null0` or a PCI address.
        name: String,
        /// The action that failed, such as `start the port`.
        action: String,
        /// The DPDK function, such as `rte_eth_dev_start`.
        call: &'static str,
        /// DPDK's error.
        errno: Errno,
    },
    /// A number is outside the range that the device supports.
    #[error("port {port} ({name}): {what}: {asked} requested, the device supports {limits}")]
    Unsupported {
        /// The port.
        port: PortId,
        /// The port's name.
        name: String,
        /// The requested setting, such as `RX queues`.
        what: &'static str,
        /// The requested number.
        asked: u32,
        /// The supported range, in words.
        limits: String,
    },
    /// The device lacks a feature.
    #[error("port {port} ({name}): the device has no {what}")]
    Lacks {
        /// The port.
        port: PortId,
        /// The port's name.
        name: String,
        /// The feature, such as `VLAN filter`.
        what: String,
    },
    /// A child process created by `fork` cannot use the port, which belongs to its parent.
    #[error("port {port} ({name}): this process is a fork of the one that initialized the EAL")]
    Forked {
        /// The port.
        port: PortId,
        /// The port's name.
        name: String,
    },
}

impl PortError {
    /// The port.
    #[must_use]
    pub const fn port(&self) -> PortId {
        match self {
            Self::Refused { port, .. }
            | Self::Unsupported { port, .. }
            | Self::Lacks { port, .. }
            | Self::Forked { port, .. } => *port,
        }
    }

    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(*call) } else { None }
    }
}
