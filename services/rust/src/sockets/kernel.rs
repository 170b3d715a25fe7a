// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Linux's sockets, by epoll with edges.

use super::{Event, Received, Sockets};
use core::net::SocketAddr;
use core::time::Duration;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use slab::Slab;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;

const LISTENER: Token = Token(usize::MAX);
const EVENTS: usize = 256;

/// A listener, and its connections.
#[derive(Debug)]
pub struct Kernel {
    poll: Poll,
    ready: Events,
    listener: TcpListener,
    /// Whether connections may wait to be accepted.
    may_accept: bool,
    streams: Slab<TcpStream>,
}

impl Kernel {
    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::bind(address)?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let ready = Events::with_capacity(EVENTS);
        Ok(Self { poll, ready, listener, may_accept: false, streams: Slab::new() })
    }

    fn accept(&mut self, events: &mut Vec<Event<usize>>) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((mut stream, _peer)) => {
                    // Answers are written in one piece.
                    stream.set_nodelay(true)?;
                    let entry = self.streams.vacant_entry();
                    let id = entry.key();
                    self.poll.registry().register(&mut stream, Token(id), Interest::READABLE | Interest::WRITABLE)?;
                    entry.insert(stream);
                    events.push(Event::Accepted(id));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.may_accept = false;
                    return Ok(());
                }
                // Its peer has gone already.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => (),
                // All files are in use: some are closed sooner or later.
                Err(_) => return Ok(()),
            }
        }
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
            if event.is_readable() {
                events.push(Event::Readable(id));
            }
            if event.is_writable() {
                events.push(Event::Writable(id));
            }
        }
        if self.may_accept { self.accept(events) } else { Ok(()) }
    }

    fn receive(&mut self, id: usize, bytes: &mut [u8]) -> Received {
        let Some(stream) = self.streams.get_mut(id) else { return Received::Broken };
        match stream.read(bytes) {
            Ok(0) => Received::End,
            Ok(len) => Received::Bytes(len),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Received::Nothing,
            Err(error) if error.kind() == ErrorKind::Interrupted => self.receive(id, bytes),
            Err(_) => Received::Broken,
        }
    }

    fn send(&mut self, id: usize, bytes: &[u8]) -> Option<usize> {
        let stream = self.streams.get_mut(id)?;
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
        if let Some(stream) = self.streams.get(id) {
            let _ = stream.shutdown(Shutdown::Write); // one that is broken is closed soon
        }
    }

    fn close(&mut self, id: usize) {
        if let Some(mut stream) = self.streams.try_remove(id) {
            let _ = self.poll.registry().deregister(&mut stream); // closing does the same
        }
    }
}
