// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A second processor of the guest, which changes descriptors while the device reads them.

use crate::{
    device::{Device, References},
    guest::Guest,
    memory::Rival,
    random::{Random, pick},
    ring::{Ring, field},
};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// The guest sends frames and has places for others while its rings change. Of the frames nothing is known but that they
/// are what they claim to be.
pub(crate) fn batch(random: &mut Random, guest: &mut Guest, device: &mut Device, references: &References) {
    let chains = guest.frames(random, false);
    guest.transmit.post(&mut guest.memory, &chains);
    let places = guest.places(random);
    guest.receive.post(&mut guest.memory, &places);
    let (memory, done) = (guest.memory.rival(), AtomicBool::new(false));
    let rings = [guest.transmit.clone(), guest.receive.clone()];
    let mut own = Random::new(random.next());
    thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                change(&mut own, &memory, &rings);
            }
        });
        loop {
            let mut burst = device.receive();
            if burst.is_empty() {
                break;
            }
            device.work(random, references, &mut burst);
        }
        done.store(true, Ordering::Relaxed);
    });
    guest.memory.refresh();
    guest.go_on();
}

/// Changes one field of a descriptor, or one entry of the list of chains.
fn change(random: &mut Random, memory: &Rival, rings: &[Ring; 2]) {
    let ring = pick(&[&rings[0], &rings[0], &rings[1]], random);
    let number = random.below(u64::from(ring.size)) as u16;
    let is_source = std::ptr::eq(ring, &rings[0]);
    match random.below(4) {
        0 => {
            let address = pick(&[random.next(), 1 << 32, 150_000, 299_000, 0x7000], random);
            let address = if is_source { address } else { address.max(270_000) };
            memory.write(ring.field(number, field::ADDRESS), &address.to_le_bytes());
        }
        1 => {
            // Known: the driver does not withstand places shorter than a header.
            let len: u32 = pick(&[0, 1, 12, 13, 100, 2048, 2060, 70_000, u32::MAX], random);
            let len = if is_source { len } else { len.max(12) };
            memory.write(ring.field(number, field::LEN), &len.to_le_bytes());
        }
        2 if ring.is_packed() => {
            memory.write(ring.field(number, field::FIRST_WORD), &(random.next() as u16).to_le_bytes())
        }
        2 => memory.write(ring.field(number, field::SECOND_WORD), &(random.next() as u16 % 300).to_le_bytes()),
        _ if is_source => {
            // Known: the driver reads beyond an indirect table whose length changes.
            let flags: u16 = pick(&[0, 1, 2, 3, 1 << 7, 1 << 15, 1 | 1 << 7], random);
            let at = if ring.is_packed() { field::SECOND_WORD } else { field::FIRST_WORD };
            memory.write(ring.field(number, at), &flags.to_le_bytes());
        }
        _ => (),
    }
}
