// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Connections on a stack of the client's own that take what a server sends in bulk.

use crate::bulk::{BulkLoad, UNIT};
use crate::control::Load;
use dpdk_sockets::wire::QueuePair;
use dpdk_sockets::{Event, Stack};
use testbed_load::{CHUNK, Counters, Latencies, Mode, SERVER, STREAM_PORT, Stream};

/// So much each connection waits for, so that the server always has something to send.
const WAITED_FOR: u64 = 2 * CHUNK;

pub(super) struct Streams {
    stack: Stack<QueuePair>,
    wanted: usize,
    streams: Vec<Stream>,
    /// Whether more is asked for.
    is_full: bool,
    wrong: u64,
}

impl Streams {
    pub(super) const fn new(stack: Stack<QueuePair>, connections: u32) -> Self {
        Self { stack, wanted: connections as usize, streams: Vec::new(), is_full: false, wrong: 0 }
    }

    fn sum(&self, what: impl Fn(&Stream) -> u64) -> u64 {
        self.streams.iter().map(what).sum()
    }
}

impl BulkLoad for Streams {
    fn poll(&mut self) -> bool {
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
