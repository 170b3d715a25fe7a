// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Datagrams.

use super::error::{no_runtime, not_ours};
use super::shared::{Handle, try_current};
use crate::event::UdpId;
use core::fmt;
use core::future::poll_fn;
use core::net::SocketAddr;
use core::task::{Context, Poll};
use std::io::{self, ErrorKind};

/// Receives the datagrams for a port, and sends from it. Dropping it closes the port.
pub struct UdpSocket {
    runtime: Handle,
    id: UdpId,
    local: SocketAddr,
}

impl UdpSocket {
    /// Binds a port of this thread's runtime. The address is the stack's, or `0.0.0.0`.
    ///
    /// # Errors
    ///
    /// If no runtime runs on this thread, if the address is another one, or if the port is 0 or bound.
    #[allow(clippy::unused_async, reason = "as in tokio")]
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let runtime = try_current().ok_or_else(no_runtime)?;
        let mut stack = runtime.stack.borrow_mut();
        if !stack.has_address(address.ip()) {
            return Err(not_ours(address));
        }
        let id = stack.bind_udp(address.port())?;
        drop(stack);
        runtime.waits.udp(id);
        Ok(Self { runtime, id, local: address })
    }

    /// The address that was given to [`bind`](Self::bind).
    ///
    /// # Errors
    ///
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    /// Waits for a datagram, copies it into `bytes`, and returns how many bytes these are and who has sent them. What
    /// does not fit is lost.
    ///
    /// # Errors
    ///
    /// None while the runtime lives.
    pub async fn recv_from(&self, bytes: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|context| self.poll_recv_from(context, bytes)).await
    }

    fn poll_recv_from(&self, context: &Context<'_>, bytes: &mut [u8]) -> Poll<io::Result<(usize, SocketAddr)>> {
        match self.try_recv_from(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.runtime.waits.wait_for_datagrams(self.id, context.waker());
                Poll::Pending
            }
            result => Poll::Ready(result),
        }
    }

    /// As [`recv_from`](Self::recv_from), without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](ErrorKind::WouldBlock) if there is no datagram.
    pub fn try_recv_from(&self, bytes: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let received = self.runtime.stack.borrow_mut().recv_from(self.id, bytes)?;
        let (len, from) = received.ok_or(ErrorKind::WouldBlock)?;
        Ok((len.min(bytes.len()), from))
    }

    /// Sends a datagram, as soon as the TX queue has room, and returns its length.
    ///
    /// # Errors
    ///
    /// As of [`SendToError`](crate::SendToError): it is too long, or there is no way to the peer.
    pub async fn send_to(&self, bytes: &[u8], peer: SocketAddr) -> io::Result<usize> {
        poll_fn(|context| match self.try_send_to(bytes, peer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                // The next poll of the stack may make room.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            result => Poll::Ready(result),
        })
        .await
    }

    /// As [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// As of [`send_to`](Self::send_to), or [`WouldBlock`](ErrorKind::WouldBlock) if the TX queue has no room.
    pub fn try_send_to(&self, bytes: &[u8], peer: SocketAddr) -> io::Result<usize> {
        if self.runtime.stack.borrow_mut().send_to(self.id, bytes, peer)? {
            return Ok(bytes.len());
        }
        Err(ErrorKind::WouldBlock.into())
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        self.runtime.stack.borrow_mut().close_udp(self.id);
        self.runtime.waits.remove_udp(self.id);
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket").field("local", &self.local).finish_non_exhaustive()
    }
}
