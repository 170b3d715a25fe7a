// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The errors of the stack, as those of `std::io`.

use crate::error::{ConnectError, ConnectionError, ListenError, SendToError};
use crate::event::Ended;
use std::io::{Error, ErrorKind};

impl From<ListenError> for Error {
    fn from(error: ListenError) -> Self {
        let kind = match error {
            ListenError::PortZero => ErrorKind::InvalidInput,
            ListenError::InUse(_) => ErrorKind::AddrInUse,
        };
        Self::new(kind, error)
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Self {
        let kind = match error {
            ConnectError::NoPeer(_) => ErrorKind::InvalidInput,
            ConnectError::NoRoute(_) => ErrorKind::NetworkUnreachable,
            ConnectError::NoPort(_) => ErrorKind::AddrNotAvailable,
            ConnectError::Full(_) => ErrorKind::QuotaExceeded,
        };
        Self::new(kind, error)
    }
}

impl From<ConnectionError> for Error {
    fn from(error: ConnectionError) -> Self {
        let kind = match error {
            ConnectionError::NoSuchConnection | ConnectionError::NotEstablished => ErrorKind::NotConnected,
            ConnectionError::ShutDown | ConnectionError::Ended(Ended::Closed) => ErrorKind::BrokenPipe,
            ConnectionError::Ended(Ended::Reset) => ErrorKind::ConnectionReset,
            ConnectionError::Ended(Ended::Refused) => ErrorKind::ConnectionRefused,
            ConnectionError::Ended(Ended::TimedOut | Ended::Idle) => ErrorKind::TimedOut,
            ConnectionError::Ended(Ended::Unreachable) => ErrorKind::HostUnreachable,
        };
        Self::new(kind, error)
    }
}

impl From<SendToError> for Error {
    fn from(error: SendToError) -> Self {
        let kind = match error {
            SendToError::NoSuchSocket => ErrorKind::NotConnected,
            SendToError::TooLong(..) | SendToError::NoPeer(_) => ErrorKind::InvalidInput,
            SendToError::NoRoute(_) => ErrorKind::NetworkUnreachable,
        };
        Self::new(kind, error)
    }
}

/// A socket is made outside a runtime.
pub(super) fn no_runtime() -> Error {
    Error::other("no runtime runs on this thread: call this in a task, or in Runtime::block_on")
}

/// Another host's address is bound.
pub(super) fn not_ours(address: core::net::SocketAddr) -> Error {
    let text = format!("{address} is not an address of this stack: give its own, or 0.0.0.0");
    Error::new(ErrorKind::AddrNotAvailable, text)
}

/// A listener was closed by the end of the runtime.
pub(super) fn ending() -> Error {
    Error::new(ErrorKind::ConnectionAborted, "the listener was closed, since the runtime ends")
}
