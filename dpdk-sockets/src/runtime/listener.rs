// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Accepting connections.

use super::error::{ending, no_runtime, not_ours};
use super::shared::{Handle, try_current};
use super::stream::TcpStream;
use crate::event::ListenerId;
use core::fmt;
use core::future::poll_fn;
use core::net::SocketAddr;
use core::task::{Context, Poll};
use std::io;
use std::rc::Rc;

/// Accepts connections to a port. Dropping it closes the port, and resets connections that nobody has accepted.
pub struct TcpListener {
    runtime: Handle,
    id: ListenerId,
    local: SocketAddr,
}

impl TcpListener {
    /// Listens on a port of this thread's runtime. The address is the stack's, or `0.0.0.0`.
    ///
    /// # Errors
    ///
    /// If no runtime runs on this thread, if the address is another one, or if the port is 0 or has a listener.
    #[allow(clippy::unused_async, reason = "as in tokio")]
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let runtime = try_current().ok_or_else(no_runtime)?;
        if runtime.is_ending.get() {
            return Err(ending());
        }
        let mut stack = runtime.stack.borrow_mut();
        if !stack.has_address(address.ip()) {
            return Err(not_ours(address));
        }
        let id = stack.listen(address.port())?;
        drop(stack);
        runtime.waits.listener(id);
        Ok(Self { runtime, id, local: address })
    }

    /// Waits for a connection. Several tasks may wait; connections that nobody waits for are kept.
    ///
    /// # Errors
    ///
    /// If [`Runtime::close_listeners`](super::Runtime::close_listeners) has closed it, and all connections were
    /// accepted. Whatever happens to a connection is reported by its stream, so a server's loop can end with the first
    /// error.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        poll_fn(|context| self.poll_accept(context)).await
    }

    /// As [`accept`](Self::accept), for futures made by hand.
    ///
    /// # Errors
    ///
    /// As of [`accept`](Self::accept).
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        while let Some(id) = self.runtime.waits.accept(self.id) {
            let stream = TcpStream::new(Rc::clone(&self.runtime), id);
            if let Ok(peer) = stream.peer_addr() {
                return Poll::Ready(Ok((stream, peer)));
            }
        }
        if self.runtime.is_ending.get() {
            return Poll::Ready(Err(ending()));
        }
        self.runtime.waits.wait_for_connections(self.id, context.waker());
        Poll::Pending
    }

    /// The address that was given to [`bind`](Self::bind).
    ///
    /// # Errors
    ///
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        let waiting = self.runtime.waits.remove_listener(self.id);
        let mut stack = self.runtime.stack.borrow_mut();
        stack.close_listener(self.id);
        for id in waiting {
            let _ = stack.abort(id); // it exists: only its stream, which nobody has, closes it
            self.runtime.waits.remove_connection(id);
        }
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpListener").field("local", &self.local).finish_non_exhaustive()
    }
}
