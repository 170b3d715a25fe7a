// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The packets of one connection, as a file of the format pcap.

use crate::demux::Flow;
use crate::event::ConnectionId;
use crate::time::Time;
use smoltcp::phy::{PcapLinkType, PcapSink};
use smoltcp::time::Instant;
use std::io;
use std::time::SystemTime;

pub(crate) struct Capture {
    pub(crate) id: ConnectionId,
    flow: Flow,
    /// What the clocks of the machine and of the stack said when it began.
    began: (SystemTime, Time),
    file: File,
}

/// Where the packets go, until that fails.
struct File {
    writer: Box<dyn io::Write + Send>,
    outcome: io::Result<()>,
}

impl Capture {
    /// Begins a file.
    pub(crate) fn new(id: ConnectionId, flow: Flow, writer: Box<dyn io::Write + Send>, now: Time) -> Self {
        let mut file = File { writer, outcome: Ok(()) };
        file.global_header(PcapLinkType::Ip);
        Self { id, flow, began: (SystemTime::now(), now), file }
    }

    fn copy(&mut self, packet: &[u8], now: Time) {
        let (clock, began) = self.began;
        self.file.packet(Instant::from(clock + now.since(began)), packet);
    }

    /// Ends the file. Returns the first error there was.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.file.outcome?;
        io::Write::flush(&mut self.file.writer)
    }
}

/// Copies a received segment for those who want its connection.
#[cold]
pub(crate) fn received(captures: &mut [Capture], flow: Flow, packet: &[u8], now: Time) {
    for capture in captures.iter_mut().filter(|capture| capture.flow == flow) {
        capture.copy(packet, now);
    }
}

/// Copies a packet of the stack for those who want its connection.
#[cold]
pub(crate) fn sent(captures: &mut [Capture], packet: &[u8], now: Time) {
    // The flow is the peer's, which gets it.
    let flow = Flow::of(packet).map(Flow::reversed);
    for capture in captures.iter_mut().filter(|capture| Some(capture.flow) == flow) {
        capture.copy(packet, now);
    }
}

impl PcapSink for File {
    fn write(&mut self, bytes: &[u8]) {
        if self.outcome.is_ok() {
            self.outcome = io::Write::write_all(&mut self.writer, bytes);
        }
    }
}
