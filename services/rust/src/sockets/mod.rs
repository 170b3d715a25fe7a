// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TCP as a service sees it: events, and calls that never wait.

mod dpdk;
mod kernel;

pub use dpdk::Dpdk;
pub use kernel::Kernel;

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

/// So much is read at a time.
pub(crate) const ROOM: usize = 16_384;

/// What has happened. Each is reported once: read until there is nothing, and write until there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<I> {
    /// A peer has connected to the port.
    Accepted(I),
    /// A connection that [`Sockets::connect`] began is there, and may have something to read.
    Connected(I),
    /// There is something to read, the end, or an error, or there is room again after [`Sockets::send`] did not take all.
    Ready(I),
}

/// What there is to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// So many bytes.
    Bytes(usize),
    /// Nothing now.
    Nothing,
    /// The peer has closed its direction.
    End,
    /// The connection is broken.
    Broken,
}

/// The connections to one port, and from it to others.
pub trait Sockets {
    /// A connection, until it is closed.
    type Id: Copy + Eq;

    /// A small number that no two open connections have at a time.
    fn place(id: Self::Id) -> usize;

    /// Appends what has happened. If nothing has, and the sockets can wait, waits for so long at most.
    ///
    /// # Errors
    ///
    /// What makes it useless to go on.
    fn poll(&mut self, events: &mut Vec<Event<Self::Id>>, wait: Duration) -> io::Result<()>;

    /// Begins to connect. [`Event::Connected`] follows, or [`Event::Ready`] if that fails, and then the connection is broken.
    /// `None` if it cannot even begin.
    fn connect(&mut self, to: SocketAddr) -> Option<Self::Id>;

    /// Copies received bytes.
    fn receive(&mut self, id: Self::Id, bytes: &mut [u8]) -> Received;

    /// Takes bytes to send, and returns how many; `None` if the connection is broken.
    fn send(&mut self, id: Self::Id, bytes: &[u8]) -> Option<usize>;

    /// Closes the direction to the peer, after all that was sent.
    fn shutdown(&mut self, id: Self::Id);

    /// Gives a connection back. What was received and not read is lost, and the peer then gets a reset.
    fn close(&mut self, id: Self::Id);

    /// Gives a connection back, whose peer gets a reset.
    fn abort(&mut self, id: Self::Id);

    /// Accepts no more connections.
    fn stop_listening(&mut self);
}
