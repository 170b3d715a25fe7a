// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A program that calls a stack, and compares what it gets with what it was told.

use crate::peers::Peers;
use crate::text::{is_text, text};
use core::net::SocketAddr;
use dpdk_rs_fuzz::Reader;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{ConnectionError, ConnectionId, Event, Stack, UdpId};
use std::collections::BTreeMap;

/// The most connections that it asks for.
const MOST: usize = 8;

/// What it knows of a connection.
#[derive(Debug, Default)]
struct Told {
    open: bool,
    shut_down: bool,
    at_end: bool,
    ended: bool,
    read: u32,
    written: u32,
}

#[derive(Debug)]
pub(crate) struct Program {
    held: BTreeMap<ConnectionId, Told>,
    udp: UdpId,
    /// How many connections it has asked for. Each goes to another port.
    connects: u16,
}

impl Program {
    pub(crate) const fn new(udp: UdpId) -> Self {
        Self { held: BTreeMap::new(), udp, connects: 0 }
    }

    /// Calls something. What is read must be the peer's text, unless somebody `lies`.
    ///
    /// # Panics
    /// If the stack says something else than what it has told.
    pub(crate) fn call(&mut self, reader: &mut Reader<'_>, stack: &mut Stack<Memory>, peers: &Peers, lies: bool) {
        let choice = reader.byte();
        if choice & 15 == 15 {
            self.connect(stack);
            return;
        }
        let number = usize::from(choice >> 4).checked_rem(self.held.len()).unwrap_or(0);
        let Some((id, told)) = self.held.iter_mut().nth(number) else { return };
        let id = *id;
        match choice & 15 {
            0..=5 => {
                let mut bytes = vec![0; [1, 100, 5_000, 70_000].get(reader.below(4)).copied().unwrap_or_default()];
                match stack.recv(id, &mut bytes) {
                    Ok(Some(0)) => told.at_end = true,
                    Ok(Some(len)) => {
                        let port = stack.peer(id).expect("it is the program's").port();
                        let bytes = bytes.get(..len).expect("as many as there is room for");
                        let firsts = peers.get(&port).map(|known| &known.firsts[..]).unwrap_or_default();
                        let is_sent = |first: &u32| is_text(first.wrapping_add(told.read), bytes);
                        assert!(lies || firsts.iter().any(is_sent), "nobody has sent this");
                        assert!(!told.at_end, "text after the end");
                        told.read = told.read.wrapping_add(len as u32);
                    }
                    Ok(None) => assert!(!told.at_end, "the end is the end"),
                    Err(ConnectionError::Ended(_)) => assert!(told.ended),
                    Err(error) => panic!("{error}"),
                }
            }
            6..=10 => {
                let len = [1, 100, 1_400, 8_000].get(reader.below(4)).copied().unwrap_or_default();
                match stack.send(id, &text(told.written, len)) {
                    Ok(taken) => {
                        assert!(told.open && !told.shut_down && taken <= len);
                        told.written = told.written.wrapping_add(taken as u32);
                    }
                    Err(ConnectionError::NotEstablished) => assert!(!told.open),
                    Err(ConnectionError::ShutDown) => assert!(told.shut_down),
                    Err(ConnectionError::Ended(_)) => assert!(told.ended),
                    Err(error) => panic!("{error}"),
                }
            }
            11 | 12 => told.shut_down |= stack.shutdown(id).is_ok(),
            13 => {
                stack.close(id).expect("it is the program's");
                self.held.remove(&id);
            }
            _ => {
                stack.abort(id).expect("it is the program's");
                self.held.remove(&id);
            }
        }
    }

    fn connect(&mut self, stack: &mut Stack<Memory>) {
        let remote = SocketAddr::from((crate::frames::PEER, 1_000 + self.connects));
        if self.held.len() < MOST
            && let Ok(id) = stack.connect(remote)
        {
            self.connects += 1;
            self.held.insert(id, Told::default());
        }
    }

    /// Takes all events.
    ///
    /// # Panics
    /// If they contradict each other.
    pub(crate) fn listen(&mut self, stack: &mut Stack<Memory>) {
        while let Some(event) = stack.next_event() {
            match event {
                Event::Accepted(_, id) => {
                    let told = Told { open: true, ..Told::default() };
                    assert!(self.held.insert(id, told).is_none());
                }
                Event::Connected(id) => {
                    let told = self.held.get_mut(&id).expect("it has asked for it");
                    assert!(!core::mem::replace(&mut told.open, true));
                }
                Event::Readable(id) | Event::Writable(id) => {
                    assert!(self.held.get(&id).is_some_and(|told| told.open && !told.ended));
                }
                Event::Ended(id, _) => {
                    let told = self.held.get_mut(&id).expect("it is the program's");
                    assert!(!core::mem::replace(&mut told.ended, true), "an end is told once");
                }
                Event::Datagram(socket) => {
                    assert_eq!(socket, self.udp);
                    let mut bytes = [0; 100];
                    while let Ok(Some((len, from))) = stack.recv_from(socket, &mut bytes) {
                        let answer = bytes.get(..len.min(100)).unwrap_or_default();
                        let _ = stack.send_to(socket, answer, from);
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Gives back all that it has.
    pub(crate) fn close_all(&mut self, stack: &mut Stack<Memory>) {
        for id in core::mem::take(&mut self.held).into_keys() {
            stack.close(id).expect("it is the program's");
        }
    }
}
