// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Linux's sockets, by epoll with edges.

use super::{Event, Received, Sockets};
use core::net::SocketAddr;
use core::time::Duration;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use slab::Slab;
use socket2::SockRef;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;

const LISTENER: Token = Token(usize::MAX);
const EVENTS: usize = 256;

#[derive(Debug)]
struct Stream {
    stream: TcpStream,
    /// It is not known yet whether it connects.
    is_opening: bool,
    /// By a reset, which reading does not tell after the end.
    is_broken: bool,
}

/// Connections, and the listener of some.
#[derive(Debug)]
pub struct Kernel {
    poll: Poll,
    ready: Events,
    /// If there is one, until it is closed.
    listener: Option<TcpListener>,
    /// Whether connections may wait to be accepted.
    may_accept: bool,
    streams: Slab<Stream>,
}

impl Kernel {
    /// Without a listener, to connect to others.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn new() -> io::Result<Self> {
        let ready = Events::with_capacity(EVENTS);
        Ok(Self { poll: Poll::new()?, ready, listener: None, may_accept: false, streams: Slab::new() })
    }

    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let mut sockets = Self::new()?;
        let mut listener = TcpListener::bind(address)?;
        sockets.poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        sockets.listener = Some(listener);
        Ok(sockets)
    }

    fn accept(&mut self, events: &mut Vec<Event<usize>>) {
        while let Some(listener) = &self.listener {
            match listener.accept() {
                Ok((stream, _peer)) => events.extend(self.add(stream, false).ok().map(Event::Accepted)),
                // Its peer has gone already.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => (),
                Err(error) => {
                    // If all files are in use, some are closed sooner or later.
                    self.may_accept = error.kind() != ErrorKind::WouldBlock;
                    return;
                }
            }
        }
    }

    fn add(&mut self, mut stream: TcpStream, is_opening: bool) -> io::Result<usize> {
        // What is written is complete.
        stream.set_nodelay(true)?;
        let entry = self.streams.vacant_entry();
        let id = entry.key();
        self.poll.registry().register(&mut stream, Token(id), Interest::READABLE | Interest::WRITABLE)?;
        entry.insert(Stream { stream, is_opening, is_broken: false });
        Ok(id)
    }

    fn stream(&mut self, id: usize) -> Option<&mut TcpStream> {
        self.streams.get_mut(id).map(|stream| &mut stream.stream)
    }
}

impl Sockets for Kernel {
    type Id = usize;

    fn place(id: usize) -> usize {
        id
    }

    fn poll(&mut self, events: &mut Vec<Event<usize>>, wait: Duration) -> io::Result<()> {
        match self.poll.poll(&mut self.ready, Some(wait)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            result => result?,
        }
        for event in &self.ready {
            let Token(id) = event.token();
            if event.token() == LISTENER {
                self.may_accept = true;
                continue;
            }
            let Some(stream) = self.streams.get_mut(id) else { continue };
            if stream.is_opening && event.is_writable() && !event.is_error() {
                stream.is_opening = false;
                events.push(Event::Connected(id));
                continue;
            }
            stream.is_broken |= event.is_error() && !stream.is_opening;
            events.push(Event::Ready(id));
        }
        if self.may_accept {
            self.accept(events);
        }
        Ok(())
    }

    fn connect(&mut self, to: SocketAddr) -> Option<usize> {
        TcpStream::connect(to).and_then(|stream| self.add(stream, true)).ok()
    }

    fn receive(&mut self, id: usize, bytes: &mut [u8]) -> Received {
        let Some(Stream { stream, is_broken, .. }) = self.streams.get_mut(id) else { return Received::Broken };
        match stream.read(bytes) {
            Ok(0) if *is_broken => Received::Broken,
            Ok(0) => Received::End,
            Ok(len) => Received::Bytes(len),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Received::Nothing,
            Err(error) if error.kind() == ErrorKind::Interrupted => self.receive(id, bytes),
            Err(_) => Received::Broken,
        }
    }

    fn send(&mut self, id: usize, bytes: &[u8]) -> Option<usize> {
        let stream = self.stream(id)?;
        let mut sent = 0;
        while sent < bytes.len() {
            match stream.write(&bytes[sent..]) {
                Ok(len) => sent += len,
                // An event comes when there is room.
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(_) => return None,
            }
        }
        Some(sent)
    }

    fn shutdown(&mut self, id: usize) {
        if let Some(stream) = self.stream(id) {
            let _ = stream.shutdown(Shutdown::Write); // one that is broken is closed soon
        }
    }

    fn close(&mut self, id: usize) {
        if let Some(Stream { mut stream, .. }) = self.streams.try_remove(id) {
            let _ = self.poll.registry().deregister(&mut stream); // closing does the same
        }
    }

    fn abort(&mut self, id: usize) {
        if let Some(stream) = self.stream(id) {
            let _ = SockRef::from(&*stream).set_linger(Some(Duration::ZERO)); // else it ends without a reset
        }
        self.close(id);
    }

    fn stop_listening(&mut self) {
        self.listener = None;
    }
}
