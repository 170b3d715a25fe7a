// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What can be wrong with a call, as numbers and as text.

use core::ffi::{CStr, c_char, c_int};
use dpdk_sockets::{ConfigError, ConnectError, ConnectionError, Ended, ListenError, SendToError};

/// Why a call does nothing. dpdk_sockets_strerror() has the text.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is nothing to read now, or no room to send: wait for an event, or poll.
    Again = -1,
    /// A pointer is NULL.
    NullPointer = -2,
    /// There is no room for a single event.
    NoEvents = -3,
    /// This thread has not made such a stack, or has freed it.
    NoSuchStack = -4,
    /// DPDK has no such port, or the EAL is not initialised.
    NoSuchDevice = -5,
    /// The port does not have an RX queue and a TX queue with this number.
    NoSuchQueue = -6,
    /// The mbufs of the pool have no room for a packet of the MTU.
    SmallPool = -7,
    /// No host can have this address.
    Address = -8,
    /// A prefix length is at most 32 bits, in IPv6 128.
    PrefixLength = -9,
    /// A gateway is outside the stack's networks, or is the stack itself.
    Gateway = -10,
    /// The MTU is less than 576 or more than 9000 bytes, or with IPv6 less than 1280.
    Mtu = -11,
    /// A buffer has more than 65535 bytes.
    Buffer = -12,
    /// A socket cannot have port 0.
    PortZero = -13,
    /// Another socket has the port.
    InUse = -14,
    /// No host has this address, or port 0.
    NoPeer = -15,
    /// The address is outside the stack's network, and there is no gateway.
    NoRoute = -16,
    /// All local ports are in use for connections to this peer.
    NoPort = -17,
    /// The stack has as many connections as it may have.
    Full = -18,
    /// There is no such connection, or it was closed.
    NoSuchConnection = -19,
    /// The handshake is not complete.
    NotEstablished = -20,
    /// This program has closed the sending direction.
    ShutDown = -21,
    /// Both sides have closed the connection.
    Closed = -22,
    /// The peer has reset the connection.
    Reset = -23,
    /// Nobody listens on the peer's port.
    Refused = -24,
    /// The peer does not answer.
    TimedOut = -25,
    /// Neither the host nor the gateway answers to ARP, or a router knows no way to the host.
    Unreachable = -26,
    /// There is no such UDP socket, or it was closed.
    NoSuchSocket = -27,
    /// The datagram does not fit into one packet.
    TooLong = -28,
    /// No VLAN has this number.
    Vlan = -29,
    /// No data came or went for too long.
    Idle = -30,
    /// The library has a bug. The stack can only be freed.
    Internal = -31,
    /// There is no counter with this name.
    NoSuchCounter = -32,
    /// There is no such group, or its stack with this number was taken.
    NoSuchGroup = -33,
    /// A stack of a group cannot ask the network for addresses.
    AutomaticGroup = -34,
}

impl Error {
    const ALL: [Self; 34] = [
        Self::Again,
        Self::NullPointer,
        Self::NoEvents,
        Self::NoSuchStack,
        Self::NoSuchDevice,
        Self::NoSuchQueue,
        Self::SmallPool,
        Self::Address,
        Self::PrefixLength,
        Self::Gateway,
        Self::Mtu,
        Self::Buffer,
        Self::PortZero,
        Self::InUse,
        Self::NoPeer,
        Self::NoRoute,
        Self::NoPort,
        Self::Full,
        Self::NoSuchConnection,
        Self::NotEstablished,
        Self::ShutDown,
        Self::Closed,
        Self::Reset,
        Self::Refused,
        Self::TimedOut,
        Self::Unreachable,
        Self::NoSuchSocket,
        Self::TooLong,
        Self::Vlan,
        Self::Idle,
        Self::Internal,
        Self::NoSuchCounter,
        Self::NoSuchGroup,
        Self::AutomaticGroup,
    ];

    const fn text(self) -> &'static CStr {
        match self {
            Self::Again => c"nothing to read now, or no room to send: wait for an event, or poll",
            Self::NullPointer => c"a pointer is NULL",
            Self::NoEvents => c"an array of no events: give room for at least one",
            Self::NoSuchStack => {
                c"no such stack on this thread: a stack is used by the thread that makes it, until it is freed"
            }
            Self::NoSuchDevice => c"no such port: initialise the EAL, and give a port that exists",
            Self::NoSuchQueue => c"no such queue: configure the port with more RX and TX queues",
            Self::SmallPool => {
                c"the mbufs are too small for the MTU: create the pool with a larger data room, or lower the MTU"
            }
            Self::Address => c"no address, or not one for a host: give a unicast address",
            Self::PrefixLength => c"no network has this prefix length: give 0 to 32, in IPv6 0 to 128",
            Self::Gateway => {
                c"a gateway is not another host of a network of the stack: correct it, or the prefix length"
            }
            Self::Mtu => c"the MTU is not supported: give 576 to 9000 bytes, with IPv6 1280 to 9000",
            Self::Buffer => c"the buffer is not supported: give 1 to 65535 bytes",
            Self::PortZero => c"port 0 cannot be used: give a port from 1 to 65535",
            Self::InUse => c"another socket has the port: close it first, or choose another port",
            Self::NoPeer => c"not an address of a host and a port: give a unicast address, and a port from 1 to 65535",
            Self::NoRoute => c"no route to the address: set a gateway, or choose an address in the stack's network",
            Self::NoPort => c"all local ports are in use for connections to this peer: close some of them first",
            Self::Full => c"the stack has as many connections as it may have: raise the limit, or close some",
            Self::NoSuchConnection => c"no such connection, or it was closed by this program",
            Self::NotEstablished => c"the connection is not established yet: wait for the event",
            Self::ShutDown => c"the sending direction was closed by this program",
            Self::Closed => c"both sides have closed the connection",
            Self::Reset => c"the peer has reset the connection",
            Self::Refused => c"the peer has refused the connection: nobody listens on that port",
            Self::TimedOut => c"the peer did not answer in time",
            Self::Unreachable => c"the host cannot be reached: it, or the gateway, does not answer to ARP, or a router knows no way to it",
            Self::NoSuchSocket => c"no such UDP socket, or it was closed by this program",
            Self::TooLong => c"the datagram does not fit into one packet: send less, or raise the MTU",
            Self::Vlan => c"no VLAN has this number: give 1 to 4094, or 0 for frames without a tag",
            Self::Idle => c"no data came or went on the connection for too long",
            Self::NoSuchCounter => c"no such counter: docs/watch.md has the names",
            Self::NoSuchGroup => c"no such group, or its stack of this queue was taken: take each of them once",
            Self::AutomaticGroup => c"a group cannot ask the network for addresses: give them, without dhcp and slaac",
            Self::Internal => c"a bug in dpdk-sockets, reported on stderr: the stack can only be freed",
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::NoAddress | ConfigError::Address(_) => Self::Address,
            ConfigError::Vlan(_) => Self::Vlan,
            ConfigError::Gateway(_) => Self::Gateway,
            ConfigError::Mtu(..) => Self::Mtu,
            ConfigError::Buffer(_) => Self::Buffer,
            ConfigError::AutomaticGroup => Self::AutomaticGroup,
            _ => Self::Internal,
        }
    }
}

impl From<ListenError> for Error {
    fn from(error: ListenError) -> Self {
        match error {
            ListenError::PortZero => Self::PortZero,
            ListenError::InUse(_) => Self::InUse,
            _ => Self::Internal,
        }
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::NoPeer(_) => Self::NoPeer,
            ConnectError::NoRoute(_) => Self::NoRoute,
            ConnectError::NoPort(_) => Self::NoPort,
            ConnectError::Full(_) => Self::Full,
            _ => Self::Internal,
        }
    }
}

impl From<ConnectionError> for Error {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::NoSuchConnection => Self::NoSuchConnection,
            ConnectionError::NotEstablished => Self::NotEstablished,
            ConnectionError::ShutDown => Self::ShutDown,
            ConnectionError::Ended(how) => how.into(),
            _ => Self::Internal,
        }
    }
}

impl From<Ended> for Error {
    fn from(how: Ended) -> Self {
        match how {
            Ended::Closed => Self::Closed,
            Ended::Reset => Self::Reset,
            Ended::Refused => Self::Refused,
            Ended::TimedOut => Self::TimedOut,
            Ended::Idle => Self::Idle,
            Ended::Unreachable => Self::Unreachable,
            _ => Self::Internal,
        }
    }
}

impl From<SendToError> for Error {
    fn from(error: SendToError) -> Self {
        match error {
            SendToError::NoSuchSocket => Self::NoSuchSocket,
            SendToError::TooLong(..) => Self::TooLong,
            SendToError::NoPeer(_) => Self::NoPeer,
            SendToError::NoRoute(_) => Self::NoRoute,
            _ => Self::Internal,
        }
    }
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// What an error means, and what to do: one line of English. It is never NULL and need not be freed; for a number that is not an
/// error of this library it says so.
pub extern "C" fn dpdk_sockets_strerror(error: c_int) -> *const c_char {
    let known = Error::ALL.into_iter().find(|known| *known as c_int == error);
    known.map_or(c"not an error of dpdk-sockets", Error::text).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::Error;
    use std::collections::HashSet;

    #[test]
    fn each_error_has_a_number_and_a_text() {
        let numbers: Vec<_> = Error::ALL.iter().map(|error| -(*error as i32)).collect();
        assert_eq!(numbers, (1..=34).collect::<Vec<_>>());
        assert_eq!(Error::ALL.iter().map(|error| error.text()).collect::<HashSet<_>>().len(), Error::ALL.len());
    }
}
