// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Connections on a stack of the client's own that take what a server sends in bulk.

use crate::control::Load;
use dpdk_rs::{Eal, MacAddr, Mempool};
use dpdk_sockets::wire::{QueuePair, checksum_offloads};
use dpdk_sockets::{Config, Event, IpNet, Stack};
use std::error::Error;
use testbed_load::{
    CHUNK, CLIENT_MAC, Counters, Latencies, Mode, PREFIX_LEN, SERVER, STREAM_PORT, Stream, first_client,
};

/// For a segment that the device of the server would have cut, and its headers.
const LONG_ROOM: u16 = 17_408;
const MBUFS: u32 = 4_095;
/// So much each connection waits for, so that the server always has something to send.
const WAITED_FOR: u64 = 2 * CHUNK;
/// What counts as a request and its answer.
const UNIT: u64 = 1_024;

pub(super) struct Streams {
    stack: Stack<QueuePair>,
    wanted: usize,
    streams: Vec<Stream>,
    /// Whether more is asked for.
    is_full: bool,
    wrong: u64,
}

impl Streams {
    pub(super) fn new(eal: &Eal, connections: u32) -> Result<Self, Box<dyn Error>> {
        let long: Mempool = Mempool::builder("long").size(MBUFS).data_room(LONG_ROOM).build(eal)?;
        let pool: Mempool = Mempool::builder("pool").size(MBUFS).build(eal)?;
        let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
        // What the server's device would have written, the vhost device knows to be right.
        let config = checksum_offloads(&port.info()?);
        let (_port, mut rx, mut tx) = port.configure(&config, &long)?.start()?;
        let wire = QueuePair::new(eal, rx.remove(0), tx.remove(0), pool);
        let config = Config::new(MacAddr(CLIENT_MAC.0), IpNet::new_assert(first_client().into(), PREFIX_LEN));
        let stack = Stack::new(wire, config)?;
        Ok(Self { stack, wanted: connections as usize, streams: Vec::new(), is_full: false, wrong: 0 })
    }

    /// Takes what has come, and asks for more. Returns whether there was nothing.
    pub(super) fn poll(&mut self) -> bool {
        let frames = self.stack.poll();
        while let Some(event) = self.stack.next_event() {
            match event {
                Event::Connected(id) => self.streams.push(Stream::new(id)),
                Event::Readable(id) => {
                    let stream = self.streams.iter_mut().find(|stream| stream.id == id);
                    let is_right = stream.is_some_and(|stream| stream.take(&mut self.stack).unwrap_or(false));
                    self.wrong += u64::from(!is_right);
                }
                Event::Ended(..) => self.wrong += 1,
                _ => (),
            }
        }
        if self.is_full {
            for stream in &mut self.streams {
                let _ = stream.ask(&mut self.stack, WAITED_FOR); // one that has ended was counted
            }
        }
        frames == 0
    }

    fn sum(&self, what: impl Fn(&Stream) -> u64) -> u64 {
        self.streams.iter().map(what).sum()
    }
}

impl Load for Streams {
    fn open(&mut self) {
        for _ in 0..self.wanted {
            self.wrong += u64::from(self.stack.connect((SERVER, STREAM_PORT).into()).is_err());
        }
    }

    fn set_mode(&mut self, mode: Mode, _: u64) {
        self.is_full = mode == Mode::Full;
    }

    fn is_quiet(&self) -> bool {
        self.streams.len() == self.wanted && self.streams.iter().all(|stream| stream.asked() == stream.received())
    }

    fn counters(&self) -> Counters {
        let counters = self.stack.counters();
        Counters {
            opened: self.streams.len() as u64,
            requests: self.sum(Stream::asked) / UNIT,
            answers: self.sum(Stream::received) / UNIT,
            resent: counters.retransmits,
            repeated: 0,
            wrong: self.wrong,
        }
    }

    fn latencies(&self) -> Option<&Latencies> {
        None
    }
}
