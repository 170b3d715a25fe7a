// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hostile guests of `net_vhost`: what they write to their memory and to their rings, whatever it is, no frame reaches
//! safe code that is not what it claims to be.
//!
//! A guest (`guest.rs`) has rings (`ring.rs`) in memory that it shares with the device (`memory.rs`), and a front-end,
//! which follows the protocol (`front_end.rs`). It writes descriptors with any addresses and lengths, loops, tables
//! across regions, headers that lie, and while the device reads them (`rival.rs`); it leaves, returns with other memory,
//! or changes it in between. A program in safe Rust (`device.rs`) receives, changes, keeps and returns the frames. Each must
//! consist of the bytes of one chain, and no byte outside the guest's memory may change.
//!
//! `DPDK_RS_GUEST_FRAMES=N` says how many frames, `DPDK_RS_GUEST_SEED=S` with which guest to begin. The number of each guest is
//! printed before it begins: `DPDK_RS_GUEST_FRAMES=1 DPDK_RS_GUEST_SEED=S` runs it alone.
//!
//! Left out is what DPDK's own code does not withstand, marked with `Known`.
#![deny(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod device;
#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "../eal/frames.rs"]
mod frames;
mod front_end;
mod guest;
mod memory;
#[allow(dead_code, unsafe_code, reason = "shared with the tests in eal/")]
#[path = "../eal/process.rs"]
mod process;
mod random;
mod ring;
mod rival;

use crate::{
    device::{Device, References, devices},
    frames::{bytes, until},
    guest::{Guest, Plan},
    memory::Memory,
    random::{Random, pick},
    ring::Part,
};
use dpdk_rs::Packet;
use std::env;

/// How many frames without being asked for a number: a few seconds' worth.
const FRAMES: u64 = 20_000;

/// How often a guest fills its ring.
const BATCHES: u64 = 24;

#[test]
fn hostile_guests() {
    let output = process::isolated_bare(|| {
        let (_eal, references, mut devices) = devices();
        let frames = number("DPDK_RS_GUEST_FRAMES").unwrap_or(FRAMES);
        let mut seed = number("DPDK_RS_GUEST_SEED").unwrap_or(1);
        let mut guests = 0;
        while devices.iter().map(|device| device.received).sum::<u64>() < frames {
            let mut random = Random::new(seed);
            let number = pick(&[0, 0, 0, 0, 0, 0, 1, 2], &mut random);
            visit(&mut random, seed, &mut devices[number], &references, number == 2);
            seed += 1;
            guests += 1;
        }
        for device in &mut devices {
            device.give_back();
            assert_eq!(device.pool.available(), device.pool.size(), "mbufs are lost");
        }
        assert_eq!(references.available(), references.size(), "mbufs are lost");
        let sum = |count: fn(&Device) -> u64| devices.iter().map(count).sum::<u64>();
        let (received, dropped, sent) = (sum(|device| device.received), sum(Device::dropped), sum(Device::sent));
        println!("\nall {guests} guests: {received} frames received, {dropped} of them dropped; {sent} sent");
        assert!(dropped > 0 && sent > 0, "guests do what they are meant to");
    });
    println!("{}", output.lines().find(|line| line.starts_with("all ")).unwrap_or_default());
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

/// One guest, from its connection to its end.
fn visit(random: &mut Random, seed: u64, device: &mut Device, references: &References, endless: bool) {
    let plan = Plan::new(random, endless);
    println!("guest {seed}: {plan:?}");
    let mut guest = Guest::connect(random, &device.socket(), plan);
    assert!(device.is_connected());
    let races = random.one_in(4) && guest.can_race();
    for _ in 0..if endless { 2 } else { BATCHES } {
        if races {
            rival::batch(random, &mut guest, device, references);
        } else {
            batch(random, &mut guest, device, references);
        }
        assert!(guest.memory.is_intact(), "the device wrote outside the guest's memory");
        if plan.reckless {
            break;
        }
        if random.one_in(16) {
            guest.move_memory(random);
        }
    }
    if random.one_in(2) {
        device.give_back();
    }
    drop(guest);
    until("the guest is gone", || !device.is_connected());
}

/// The guest sends frames and has places for others; the device receives the ones and sends the others.
fn batch(random: &mut Random, guest: &mut Guest, device: &mut Device, references: &References) {
    let odd = random.one_in(2);
    let chains = guest.frames(random, odd);
    guest.transmit.post(&mut guest.memory, &chains);
    if odd {
        guest.poke(random);
    }
    let found = guest.transmit.chains(&guest.memory);
    let mut expected = found.iter().flatten();
    let places = guest.places(random);
    guest.receive.post(&mut guest.memory, &places);
    loop {
        let mut burst = device.receive();
        if burst.is_empty() {
            break;
        }
        for packet in &burst {
            let matches =
                expected.any(|parts| is_of(packet, &guest.memory, parts, guest.header(), guest.has_checksums()));
            assert!(matches, "a frame of {} bytes is none of the guest's", packet.len());
        }
        if device.work(random, references, &mut burst) > 0 && guest.plan.reckless {
            break;
        }
    }
    if !guest.plan.reckless {
        guest.go_on();
    }
}

/// Whether a frame has the bytes of a chain after the header. The device may have changed `checksums`, and a chain may
/// refer to what the device writes.
fn is_of(packet: &Packet, memory: &Memory, parts: &[Part], header: u32, checksums: bool) -> bool {
    let total: u64 = parts.iter().map(|part| u64::from(part.len)).sum();
    if total != packet.len() as u64 + u64::from(header) {
        return false;
    }
    let frame = bytes(packet);
    let (mut skip, mut at, mut wrong) = (header as usize, 0, 0);
    for part in parts {
        let Some(pieces) = ring::pieces(memory, *part) else { return false };
        for piece in pieces {
            let (before, piece) = piece.split_at(skip.min(piece.len()));
            skip -= before.len();
            if guest::is_source(*part) {
                let both = piece.iter().zip(&frame[at..]);
                wrong += both.filter(|(one, other)| one != other).count();
            }
            at += piece.len();
        }
    }
    wrong <= if checksums { 4 } else { 0 }
}
