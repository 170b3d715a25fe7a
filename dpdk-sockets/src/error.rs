// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What can be wrong with a call.

use crate::event::Ended;
use core::net::{IpAddr, SocketAddr};
use thiserror::Error;

/// What is wrong with a [`Config`](crate::Config).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No host has this address.
    #[error("{0} is no address for a host: give a unicast address")]
    Address(IpAddr),
    /// No VLAN has this number.
    #[error("VLAN {0} does not exist: give 1 to 4094, or None for frames without a tag")]
    Vlan(u16),
    /// There is no address.
    #[error("the stack has no address: put one into Config::addresses, or set Config::dhcp or Config::slaac")]
    NoAddress,
    /// The stacks of a group would each be given an address of their own.
    #[error("the stacks of a group cannot ask the network for addresses: give Config::addresses")]
    AutomaticGroup,
    /// The gateway of a route cannot be reached, is the stack itself, or is of the other version of IP than the route.
    #[error(
        "the gateway {0} is not another host of a network of the stack: correct Config::routes or the prefix length"
    )]
    Gateway(IpAddr),
    /// The maximum length of a packet is none.
    #[error("an MTU of {0} bytes is not supported: give {1} to 9000")]
    Mtu(usize, usize),
    /// A time is 0.
    #[error("Config::{0} is a time of 0: give a longer one, or None")]
    Time(&'static str),
    /// A buffer is too large or empty.
    #[error("a buffer of {0} bytes is not supported: give 1 to 65535")]
    Buffer(usize),
    /// There are more or fewer wires than stacks that get connections by the [`Steering`](crate::group::Steering).
    #[error("the steering is for {0} stacks, but there are {1} wires: give one for each RX queue of the port")]
    Steering(usize, usize),
}

/// Why a stack does not listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListenError {
    /// TCP has no port 0.
    #[error("port 0 cannot be listened on: give a port from 1 to 65535")]
    PortZero,
    /// The port has a listener.
    #[error("port {0} has a listener: close it first, or choose another port")]
    InUse(u16),
}

/// Why a stack does not connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No host answers there.
    #[error("{0} is no address of a host and a port: give a unicast address, and a port from 1 to 65535")]
    NoPeer(SocketAddr),
    /// The address is outside the stack's networks, and no route leads there.
    #[error("there is no route to {0}: add one to Config::routes, or choose an address in a network of the stack")]
    NoRoute(SocketAddr),
    /// All ports for connections to this peer are in use.
    #[error("all local ports are in use for connections to {0}: close some of them first")]
    NoPort(SocketAddr),
    /// The stack has as many connections as it may have.
    #[error("the stack has {0} connections, which is its limit: raise Config::connections, or close some")]
    Full(usize),
}

/// Why nothing can be sent or received on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// There is no such connection, or it was closed by [`Stack::close`](crate::Stack::close).
    #[error("the connection does not exist, or was closed by this program: its handle cannot be used any more")]
    NoSuchConnection,
    /// The handshake is not complete.
    #[error("the connection is not established yet: wait for Event::Connected")]
    NotEstablished,
    /// The program has closed the sending direction.
    #[error("the sending direction was closed by Stack::shutdown")]
    ShutDown,
    /// The connection has ended.
    #[error("the connection has ended: {0}")]
    Ended(Ended),
}

/// Why a datagram is not sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendToError {
    /// The socket was closed.
    #[error("the UDP socket was closed by this program: its handle cannot be used any more")]
    NoSuchSocket,
    /// It does not fit into one packet.
    #[error("a datagram of {0} bytes is too long: send at most {1}, or raise Config::mtu")]
    TooLong(usize, usize),
    /// No host receives there.
    #[error("{0} is no address of a host and a port: give a unicast address, and a port from 1 to 65535")]
    NoPeer(SocketAddr),
    /// The address is outside the stack's networks, and no route leads there.
    #[error("there is no route to {0}: add one to Config::routes, or choose an address in a network of the stack")]
    NoRoute(SocketAddr),
}
