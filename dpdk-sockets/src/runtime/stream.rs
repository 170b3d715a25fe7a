// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Connections.

use super::error::no_runtime;
use super::shared::{Direction, Handle, try_current};
use crate::error::ConnectionError;
use crate::event::{ConnectionId, Ended};
use core::fmt;
use core::future::poll_fn;
use core::net::SocketAddr;
use core::task::{Context, Poll, ready};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::rc::Rc;

/// A connection. The traits of tokio and of futures-io read and write it.
///
/// Dropping it closes both directions: what was written still reaches the peer; what was received and not read is lost,
/// and the peer gets a reset. One task at a time waits to read, and one to write: the last that was polled is
/// woken.
pub struct TcpStream {
    runtime: Handle,
    id: ConnectionId,
}

impl TcpStream {
    pub(super) const fn new(runtime: Handle, id: ConnectionId) -> Self {
        Self { runtime, id }
    }

    /// Connects to a host, by this thread's runtime.
    ///
    /// # Errors
    ///
    /// If no runtime runs on this thread, or as of [`ConnectError`](crate::ConnectError) and [`Ended`]: the peer
    /// refuses, does not answer, or there is no such host.
    pub async fn connect(peer: SocketAddr) -> io::Result<Self> {
        let runtime = try_current().ok_or_else(no_runtime)?;
        let id = runtime.stack.borrow_mut().connect(peer)?;
        runtime.waits.connection(id);
        let stream = Self::new(runtime, id);
        poll_fn(|context| stream.poll_space(context)).await?;
        Ok(stream)
    }

    /// The peer's address.
    ///
    /// # Errors
    ///
    /// None while the runtime lives.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.runtime.stack.borrow().addresses(self.id)?.1)
    }

    /// The stack's address and the connection's port.
    ///
    /// # Errors
    ///
    /// None while the runtime lives.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.runtime.stack.borrow().addresses(self.id)?.0)
    }

    /// Does nothing for `true`: whatever was written leaves with the next poll of the stack.
    ///
    /// # Errors
    ///
    /// If it is `false`: there is no Nagle algorithm to switch on.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        if nodelay {
            Ok(())
        } else {
            Err(io::Error::new(ErrorKind::Unsupported, "what is written is always sent at once"))
        }
    }

    /// Always `true`.
    ///
    /// # Errors
    ///
    /// None.
    pub const fn nodelay(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Waits until [`try_read`](Self::try_read) returns something.
    ///
    /// # Errors
    ///
    /// None while the runtime lives.
    pub async fn readable(&self) -> io::Result<()> {
        poll_fn(|context| {
            if self.runtime.stack.borrow_mut().is_readable(self.id)? {
                return Poll::Ready(Ok(()));
            }
            self.wait(Direction::Read, context)
        })
        .await
    }

    /// Waits until [`try_write`](Self::try_write) takes something.
    ///
    /// # Errors
    ///
    /// If the connection has ended, or its sending direction.
    pub async fn writable(&self) -> io::Result<()> {
        poll_fn(|context| self.poll_space(context)).await
    }

    /// Copies received bytes, and returns how many; 0 if the peer has closed its direction, or if `bytes` is empty.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](ErrorKind::WouldBlock) if nothing has arrived, or the connection's end.
    pub fn try_read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        self.runtime.stack.borrow_mut().recv(self.id, bytes)?.ok_or_else(|| ErrorKind::WouldBlock.into())
    }

    /// Copies bytes to send, and returns how many.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](ErrorKind::WouldBlock) if there is no space, or the connection's end.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.runtime.stack.borrow_mut().send(self.id, bytes)? {
            0 if !bytes.is_empty() => Err(ErrorKind::WouldBlock.into()),
            sent => Ok(sent),
        }
    }

    /// Whether there is space to write, or the handshake's end.
    fn poll_space(&self, context: &Context<'_>) -> Poll<io::Result<()>> {
        let space = self.runtime.stack.borrow_mut().space(self.id);
        match space {
            Ok(0) | Err(ConnectionError::NotEstablished) => self.wait(Direction::Write, context),
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    fn wait<T>(&self, direction: Direction, context: &Context<'_>) -> Poll<T> {
        self.runtime.waits.wait(self.id, direction, context.waker());
        Poll::Pending
    }

    pub(super) fn poll_read(&self, context: &Context<'_>, bytes: &mut [u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let read = self.runtime.stack.borrow_mut().recv(self.id, bytes)?;
        read.map_or_else(|| self.wait(Direction::Read, context), |len| Poll::Ready(Ok(len)))
    }

    /// Shows received bytes to `take`, which says how many it took.
    pub(super) fn poll_read_with(
        &self,
        context: &Context<'_>,
        take: &mut dyn FnMut(&[u8]) -> usize,
    ) -> Poll<io::Result<usize>> {
        let read = self.runtime.stack.borrow_mut().recv_with(self.id, take)?;
        read.map_or_else(|| self.wait(Direction::Read, context), |len| Poll::Ready(Ok(len)))
    }

    pub(super) fn poll_read_vectored(
        &self,
        context: &Context<'_>,
        pieces: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut read = 0;
        for piece in pieces.iter_mut().filter(|piece| !piece.is_empty()) {
            let len = if read == 0 {
                ready!(self.poll_read(context, piece))?
            } else {
                // What is wrong now is told by the next call.
                self.try_read(piece).unwrap_or(0)
            };
            read += len;
            if len < piece.len() {
                break;
            }
        }
        Poll::Ready(Ok(read))
    }

    pub(super) fn poll_write(&self, context: &Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = self.runtime.stack.borrow_mut().send(self.id, bytes)?;
        if sent == 0 && !bytes.is_empty() {
            return self.wait(Direction::Write, context);
        }
        Poll::Ready(Ok(sent))
    }

    pub(super) fn poll_write_vectored(&self, context: &Context<'_>, pieces: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let mut sent = 0;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            let len =
                if sent == 0 { ready!(self.poll_write(context, piece))? } else { self.try_write(piece).unwrap_or(0) };
            sent += len;
            if len < piece.len() {
                break;
            }
        }
        Poll::Ready(Ok(sent))
    }

    /// Closes the direction to the peer, after all that was written.
    pub(super) fn close_write(&self) -> io::Result<()> {
        match self.runtime.stack.borrow_mut().shutdown(self.id) {
            Err(ConnectionError::Ended(Ended::Closed)) => Ok(()),
            result => Ok(result?),
        }
    }

    /// Splits it, so that one task reads and another writes. Dropping the writing half closes the direction to the
    /// peer; dropping both halves closes the connection.
    #[must_use]
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        let stream = Rc::new(self);
        (OwnedReadHalf(Rc::clone(&stream)), OwnedWriteHalf(stream))
    }
}

impl Drop for TcpStream {
    fn drop(&mut self) {
        let _ = self.runtime.stack.borrow_mut().close(self.id); // it exists, unless the runtime has ended
        self.runtime.waits.remove_connection(self.id);
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpStream").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The reading half of a [`TcpStream`].
#[derive(Debug)]
pub struct OwnedReadHalf(Rc<TcpStream>);

/// The writing half of a [`TcpStream`].
#[derive(Debug)]
pub struct OwnedWriteHalf(Rc<TcpStream>);

impl AsRef<TcpStream> for OwnedReadHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.0
    }
}

impl AsRef<TcpStream> for OwnedWriteHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.0
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        let _ = self.0.close_write(); // if the connection has ended, reading returns that
    }
}
