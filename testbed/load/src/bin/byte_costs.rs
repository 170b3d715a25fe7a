// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sends bytes from one stack to another without a device, so that callgrind counts what a byte costs: `./x bench sockets`.
//! Usage: byte-costs BYTES software | offloaded | segmented
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use core::net::Ipv4Addr;
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::{Config, ConfigError, ConnectionError, Event, IpNet, Stack};
use std::error::Error;
use testbed_load::{
    CHUNK, CLIENT_MAC, Frames, PREFIX_LEN, SERVER, SERVER_MAC, STREAM_PORT, Source, Stream, first_client,
};

/// The length of a packet that the device cuts.
const UNCUT: usize = 16_000;
/// Of each stack on their way: more than a window.
const FRAMES: usize = 64;
/// Questions for addresses and a handshake.
const STEPS_TO_CONNECT: u32 = 10;

/// What is counted of the sender: from the frames of the receiver to those with data.
#[inline(never)]
fn send(stack: &mut Stack<Frames>, source: &mut Source) -> Result<(), ConnectionError> {
    stack.poll();
    while let Some(event) = stack.next_event() {
        if let Event::Readable(_) | Event::Writable(_) = event {
            source.go_on(stack)?;
        }
    }
    stack.poll();
    Ok(())
}

/// What is counted of the receiver: from the frames with data to their acknowledgments, with the check of each byte.
#[inline(never)]
fn receive(stack: &mut Stack<Frames>, stream: &mut Stream) -> Result<bool, ConnectionError> {
    let mut is_right = true;
    stack.poll();
    while let Some(event) = stack.next_event() {
        if let Event::Readable(_) = event {
            is_right &= stream.take(stack)?;
        }
    }
    stack.poll();
    Ok(is_right)
}

/// Moves what one stack has sent to the other.
fn carry(from: &mut Stack<Frames>, to: &mut Stack<Frames>) {
    let wire = from.wire_mut();
    while let Some(frame) = wire.from_stack.pop_front() {
        to.wire_mut().to_stack.push_back(frame.clone());
        wire.spare.push(frame);
    }
    to.wire_mut().now += Duration::from_micros(10);
}

/// A stack with buffers as large as they can be.
fn stack(mac: [u8; 6], address: Ipv4Addr, offloads: bool, uncut: usize) -> Result<Stack<Frames>, ConfigError> {
    let config = Config::new(MacAddr(mac), IpNet::new_assert(address.into(), PREFIX_LEN));
    Stack::new(Frames::new(FRAMES, offloads, uncut), config)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [bytes, kind] = words.as_slice() else { return Err("give BYTES, and software, offloaded or segmented".into()) };
    let bytes: u64 = bytes.parse().map_err(|error| format!("BYTES '{bytes}': {error}"))?;
    let (offloads, uncut) = match kind.as_str() {
        "software" => (false, 0),
        "offloaded" => (true, 0),
        "segmented" => (true, UNCUT),
        other => return Err(format!("'{other}' is no kind of device: give software, offloaded or segmented").into()),
    };
    let mut sender = stack(SERVER_MAC.0, SERVER, offloads, uncut)?;
    let mut receiver = stack(CLIENT_MAC.0, first_client(), offloads, 0)?;
    sender.listen(STREAM_PORT)?;
    receiver.connect((SERVER, STREAM_PORT).into())?;
    let (mut source, mut stream) = (None, None);
    for _ in 0..STEPS_TO_CONNECT {
        receiver.poll();
        carry(&mut receiver, &mut sender);
        sender.poll();
        carry(&mut sender, &mut receiver);
        if let Some(Event::Accepted(_, id)) = sender.next_event() {
            source = Some(Source::new(id));
        }
        if let Some(Event::Connected(id)) = receiver.next_event() {
            stream = Some(Stream::new(id));
        }
    }
    let (Some(mut source), Some(mut stream)) = (source, stream) else { return Err("no connection".into()) };
    while stream.received() < bytes {
        let before = stream.received();
        stream.ask(&mut receiver, CHUNK)?;
        receiver.poll();
        carry(&mut receiver, &mut sender);
        send(&mut sender, &mut source)?;
        carry(&mut sender, &mut receiver);
        if !receive(&mut receiver, &mut stream)? || stream.received() == before {
            return Err(format!("after {before} bytes: wrong ones, or none: {:?}", receiver.counters()).into());
        }
    }
    println!("{} bytes", stream.received());
    Ok(())
}
