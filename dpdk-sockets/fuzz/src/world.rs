// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A stack, its peers, and a program.

use crate::frames::{PEER, STACK, STACK_MAC, arp, mutate, packet};
use crate::peers::{MTU, Peers, look, segment};
use crate::program::Program;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_rs_fuzz::Reader;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, IpNet, Stack};
use std::collections::VecDeque;

const STEPS: usize = 200;

/// So many frames are remembered, to be sent again.
const PAST: usize = 8;

/// Without frames and without time, a stack is quiet after so many polls.
const POLLS: usize = 60;

/// How many frames all inputs together have had.
static FRAMES: AtomicU64 = AtomicU64::new(0);

struct World {
    stack: Stack<Memory>,
    peers: Peers,
    program: Program,
    past: VecDeque<Vec<u8>>,
    /// The packets that the stack has sent last, for messages about them.
    sent: VecDeque<Vec<u8>>,
    /// Whether a frame was changed, and may be right by its sums.
    lies: bool,
    answers_arp: bool,
    forgets: bool,
}

impl World {
    fn new(reader: &mut Reader<'_>) -> Self {
        let mut config = Config::new(MacAddr(STACK_MAC), IpNet::new_assert(STACK.into(), 24));
        config.mtu = MTU;
        let choice = reader.byte();
        let size = |choice: u8| [65_535, 4_096, 100, 1].get(usize::from(choice & 3)).copied().unwrap_or(1);
        (config.receive_buffer, config.send_buffer) = (size(choice), size(choice >> 2));
        // With two of these, buffers grow.
        config.initial_buffer = size(choice >> 4);
        (config.backlog, config.time_waits, config.connections) = (usize::from(choice >> 4 & 3), 3, 12);
        if choice & 0x40 != 0 {
            config.keep_alive = Some(Duration::from_secs(30));
        }
        if choice & 0x80 != 0 {
            (config.idle_timeout, config.connections_per_peer) = (Some(Duration::from_secs(300)), Some(6));
        }
        let mut stack = Stack::new(Memory::default(), config).expect("the configuration is right");
        for port in [80, 81] {
            stack.listen(port).expect("the port is free");
        }
        let udp = stack.bind_udp(53).expect("the port is free");
        Self {
            stack,
            peers: Peers::new(),
            program: Program::new(udp),
            past: VecDeque::new(),
            sent: VecDeque::new(),
            lies: false,
            answers_arp: true,
            forgets: false,
        }
    }

    fn step(&mut self, reader: &mut Reader<'_>) {
        let choice = reader.byte();
        match choice & 31 {
            0..=15 => {
                let frame = segment(reader, &mut self.peers);
                self.give(frame);
            }
            16..=17 => {
                let mut frame = segment(reader, &mut self.peers);
                mutate(reader, &mut frame);
                self.lies = true;
                self.give(frame);
            }
            18 => {
                if let Some(frame) = self.past.get(reader.below(PAST)).cloned() {
                    self.give(frame);
                }
            }
            19 => self.other(reader),
            20..=26 => self.program.call(reader, &mut self.stack, &self.peers, self.lies),
            27 | 28 => {
                let millis = [1, 10, 200, 1_000, 3_000, 61_000].get(reader.below(6)).copied().unwrap_or_default();
                self.stack.wire_mut().now += Duration::from_millis(millis);
            }
            29 => self.stack.wire_mut().room = [usize::MAX, 0, 1, 3].get(reader.below(4)).copied().unwrap_or_default(),
            30 => self.answers_arp = choice & 32 == 0,
            _ => self.forgets = choice & 32 != 0,
        }
        // Several frames can arrive at once.
        if choice & 0xc0 != 0xc0 {
            self.poll();
            self.program.listen(&mut self.stack);
        }
    }

    /// What is no segment: ARP, UDP, ICMP, or no frame at all.
    fn other(&mut self, reader: &mut Reader<'_>) {
        let choice = reader.byte();
        let mut frame = match choice & 7 {
            0 => arp(1 + (choice >> 7), PEER),
            1 | 2 => {
                let len = reader.below(64);
                let text = reader.bytes(len);
                let port = if choice & 8 == 0 { 53 } else { 54 };
                let mut udp = vec![0, 9, 0, port, 0, 8 + text.len() as u8, 0, 0];
                udp.extend(text);
                let options_len = if choice & 16 == 0 { 0 } else { reader.below(41) };
                packet(17, reader.bytes(options_len), &udp)
            }
            3..=5 => {
                let about = self.sent.get(reader.below(PAST)).cloned().unwrap_or_default();
                let kinds = [3, 3, 3, 8, 4, 5, 11, 12];
                let kind = kinds.get(reader.below(8)).copied().unwrap_or_default();
                let mut icmp = vec![kind, reader.below(16) as u8, 0, 0, 0, 0];
                icmp.extend(reader.u16().to_be_bytes());
                icmp.extend(about.iter().take(28 + reader.below(8)));
                packet(1, &[], &icmp)
            }
            6 => packet(reader.byte(), &[], &[1; 40]),
            _ => {
                let len = reader.below(128);
                reader.bytes(len).to_vec()
            }
        };
        if choice & 0x60 == 0x60 {
            mutate(reader, &mut frame);
            self.lies = true;
        }
        self.give(frame);
    }

    fn give(&mut self, frame: Vec<u8>) {
        if FRAMES.fetch_add(1, Ordering::Relaxed) % 1_000_000 == 999_999 {
            eprintln!("{} million frames", FRAMES.load(Ordering::Relaxed) / 1_000_000);
        }
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back(frame.clone());
        self.stack.wire_mut().to_stack.push_back(frame);
    }

    /// Polls until the stack is quiet.
    fn poll(&mut self) {
        for _ in 0..POLLS {
            let received = self.stack.poll();
            let frames: Vec<_> = self.stack.wire_mut().from_stack.drain(..).collect();
            if received == 0 && frames.is_empty() {
                return;
            }
            // Whoever gets no SYN-ACK can learn its number from what answers a SYN that could be forged.
            let counters = self.stack.counters();
            let is_lossy = counters.dropped + counters.unresolved > 0;
            for frame in frames {
                look(&frame, &mut self.peers, self.forgets, is_lossy);
                let is_question = frame.get(12..14) == Some(&[8, 6]) && frame.get(21) == Some(&1);
                if is_question && self.answers_arp {
                    self.stack.wire_mut().to_stack.push_back(arp(2, PEER));
                }
                if self.sent.len() == PAST {
                    self.sent.pop_front();
                }
                self.sent.push_back(frame.get(14..).unwrap_or_default().to_vec());
            }
        }
        assert!(self.stack.wire().room < usize::MAX, "the stack does not come to rest");
    }

    /// Closes everything; then nothing is left after some time.
    fn end(mut self) {
        self.stack.wire_mut().room = usize::MAX;
        self.poll();
        self.program.listen(&mut self.stack);
        self.program.close_all(&mut self.stack);
        for _ in 0..8 {
            self.stack.wire_mut().now += Duration::from_secs(25);
            self.poll();
            self.program.listen(&mut self.stack);
            self.program.close_all(&mut self.stack);
        }
        assert_eq!(self.stack.connections(), 0);
    }
}

/// Draws frames, calls and times from `data`.
///
/// # Panics
/// If the stack panics, sends a wrong frame, loses or changes text, contradicts itself, does not come to rest, or keeps a
/// connection.
pub fn sockets_frames(data: &[u8]) {
    let mut reader = Reader::new(data);
    let mut world = World::new(&mut reader);
    for _ in 0..STEPS {
        if reader.is_empty() {
            break;
        }
        world.step(&mut reader);
    }
    // The time that this takes is that of many steps.
    if data.len().is_multiple_of(8) {
        world.end();
    }
}
