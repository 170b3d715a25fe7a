// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The front-end of a guest: what a hypervisor tells the device through the socket (vhost-user protocol).

use crate::{memory::Memory, ring::Ring};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use std::{
    io::{IoSlice, Read},
    os::{
        fd::{AsRawFd, RawFd},
        unix::net::UnixStream,
    },
    path::Path,
};

const GET_FEATURES: u32 = 1;
const SET_FEATURES: u32 = 2;
const SET_OWNER: u32 = 3;
const SET_MEM_TABLE: u32 = 5;
const SET_VRING_NUM: u32 = 8;
const SET_VRING_ADDR: u32 = 9;
const SET_VRING_BASE: u32 = 10;
const GET_VRING_BASE: u32 = 11;
const SET_VRING_KICK: u32 = 12;
const SET_VRING_CALL: u32 = 13;
const SET_VRING_ENABLE: u32 = 18;

const VERSION: u32 = 1;
const NEED_REPLY: u32 = 8;

/// The queue has no file that wakes somebody: both ends poll.
const NO_FILE: u64 = 1 << 8;

/// Features of a device.
pub(crate) mod feature {
    pub(crate) const CSUM: u64 = 1 << 0;
    pub(crate) const HOST_TSO4: u64 = 1 << 11;
    pub(crate) const HOST_TSO6: u64 = 1 << 12;
    pub(crate) const MRG_RXBUF: u64 = 1 << 15;
    pub(crate) const INDIRECT: u64 = 1 << 28;
    pub(crate) const EVENT_IDX: u64 = 1 << 29;
    /// Queues are switched on and off by messages.
    pub(crate) const PROTOCOL: u64 = 1 << 30;
    pub(crate) const VERSION_1: u64 = 1 << 32;
    pub(crate) const PACKED: u64 = 1 << 34;
}

/// A connection to a device.
pub(crate) struct FrontEnd {
    socket: UnixStream,
}

impl FrontEnd {
    /// Connects, and agrees with the device on those of these features that it offers. Returns them too.
    pub(crate) fn connect(socket: &Path, features: u64) -> (Self, u64) {
        let mut front_end = Self { socket: UnixStream::connect(socket).expect("the device listens") };
        front_end.tell(SET_OWNER, &[], &[]);
        let features = features & front_end.ask(GET_FEATURES, &[]);
        front_end.tell(SET_FEATURES, &features.to_le_bytes(), &[]);
        (front_end, features)
    }

    /// Hands the memory over.
    pub(crate) fn set_memory(&mut self, memory: &Memory) {
        let files = vec![memory.file().as_raw_fd(); memory.regions.len()];
        self.tell(SET_MEM_TABLE, &memory.table(), &files);
    }

    /// Starts queue `number` on a ring.
    pub(crate) fn start(&mut self, number: u32, ring: &Ring) {
        self.tell(SET_VRING_NUM, &words([number, u32::from(ring.size)]), &[]);
        self.tell(SET_VRING_BASE, &words([number, ring.base()]), &[]);
        let mut payload = words([number, 0]);
        for address in ring.addresses() {
            payload.extend(address.to_le_bytes());
        }
        // The log of live migration, which is off.
        payload.extend([0; 8]);
        self.tell(SET_VRING_ADDR, &payload, &[]);
        self.tell(SET_VRING_CALL, &(u64::from(number) | NO_FILE).to_le_bytes(), &[]);
        self.tell(SET_VRING_KICK, &(u64::from(number) | NO_FILE).to_le_bytes(), &[]);
        self.enable(number, true);
    }

    pub(crate) fn enable(&mut self, number: u32, on: bool) {
        self.tell(SET_VRING_ENABLE, &words([number, u32::from(on)]), &[]);
    }

    /// Stops queue `number`. Returns where the device was.
    pub(crate) fn stop(&mut self, number: u32) -> u32 {
        (self.ask(GET_VRING_BASE, &words([number, 0])) >> 32) as u32
    }

    /// Returns once the device has handled all messages: one after the other, on one thread.
    pub(crate) fn settle(&mut self) {
        self.ask(GET_FEATURES, &[]);
    }

    /// Sends a message that has no answer, and waits until the device has accepted it.
    fn tell(&mut self, request: u32, payload: &[u8], files: &[RawFd]) {
        self.send(request, NEED_REPLY, payload, files);
        assert_eq!(self.receive(), 0, "the device refuses message {request}");
    }

    /// Sends a message, and returns the answer.
    fn ask(&mut self, request: u32, payload: &[u8]) -> u64 {
        self.send(request, 0, payload, &[]);
        self.receive()
    }

    fn send(&self, request: u32, flags: u32, payload: &[u8], files: &[RawFd]) {
        let mut message = words([request, VERSION | flags, payload.len() as u32]);
        message.extend(payload);
        let control = [ControlMessage::ScmRights(files)];
        let control = if files.is_empty() { &[][..] } else { &control };
        let sent =
            sendmsg::<()>(self.socket.as_raw_fd(), &[IoSlice::new(&message)], control, MsgFlags::MSG_NOSIGNAL, None);
        assert_eq!(sent, Ok(message.len()), "the device listens");
    }

    /// The payload of an answer; all have eight bytes.
    fn receive(&mut self) -> u64 {
        let mut message = [0; 20];
        self.socket.read_exact(&mut message).expect("the device answers");
        u64::from_le_bytes(*message.last_chunk().expect("the array is longer"))
    }
}

fn words<const N: usize>(words: [u32; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
