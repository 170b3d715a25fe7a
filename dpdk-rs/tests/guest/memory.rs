// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The memory of a guest: a file that the device maps, and that the guest reads and writes without mapping it.

use crate::random::Random;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::{
    fs::File,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
};

/// Bytes in the file before and after each region, which are not in the memory table. They stay as they are.
const GUARD: u64 = 1 << 12;
const FILL: u8 = 0xc5;

/// The distance from a guest physical address to the address that the front-end claims to have it at.
const FRONT_END: u64 = 1 << 40;

/// A part of the memory table.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// The guest physical address.
    pub(crate) address: u64,
    pub(crate) len: u64,
    /// The place in the file.
    offset: u64,
}

/// The file, and a copy of what the guest has written to the regions.
pub(crate) struct Memory {
    file: File,
    pub(crate) regions: Vec<Region>,
    copy: Vec<Vec<u8>>,
}

impl Memory {
    /// Memory with regions at these addresses and of these lengths, full of arbitrary bytes.
    pub(crate) fn new(random: &mut Random, table: &[(u64, u64)]) -> Self {
        let file = File::from(memfd_create(c"guest", MFdFlags::MFD_CLOEXEC).expect("a file in memory can be made"));
        let mut regions = Vec::new();
        let mut end = 0;
        for (address, len) in table {
            let offset = end + GUARD;
            regions.push(Region { address: *address, len: *len, offset });
            end = (offset + len).next_multiple_of(GUARD);
        }
        // The device writes beyond a region only to find the guard: its mapping ends with the page.
        file.set_len(end + GUARD).expect("there is memory");
        file.write_all_at(&vec![FILL; (end + GUARD) as usize], 0).expect("there is memory");
        let copy = regions.iter().map(|region| random.bytes(region.len as usize)).collect();
        let memory = Self { file, regions, copy };
        for (region, bytes) in memory.regions.iter().zip(&memory.copy) {
            memory.file.write_all_at(bytes, region.offset).expect("the file is that long");
        }
        memory
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Another handle of the file, for a thread that writes while the device reads.
    pub(crate) fn rival(&self) -> Rival {
        Rival { file: self.file.try_clone().expect("a handle can be copied"), regions: self.regions.clone() }
    }

    /// The payload of the message that hands the memory over: for each region its address, length, address at the
    /// front-end, and offset in the file.
    pub(crate) fn table(&self) -> Vec<u8> {
        let mut payload = (self.regions.len() as u64).to_le_bytes().to_vec();
        for region in &self.regions {
            for word in [region.address, region.len, front_end(region.address), region.offset] {
                payload.extend(word.to_le_bytes());
            }
        }
        payload
    }

    /// Writes to a place that is wholly in one region.
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) {
        let (number, offset, at) =
            place(&self.regions, address, bytes.len() as u64).expect("the guest knows its regions");
        self.file.write_all_at(bytes, offset).expect("the file is that long");
        self.copy[number][at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes to a place that may cross from one region to the next.
    pub(crate) fn write_across(&mut self, address: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let here = self.written(address + done as u64, (bytes.len() - done) as u64);
            let len = here.expect("the guest knows its regions").len();
            self.write(address + done as u64, &bytes[done..done + len]);
            done += len;
        }
    }

    /// What is there now, whoever wrote it.
    pub(crate) fn read<const N: usize>(&self, address: u64) -> [u8; N] {
        let (_, offset, _) = place(&self.regions, address, N as u64).expect("the guest knows its regions");
        let mut bytes = [0; N];
        self.file.read_exact_at(&mut bytes, offset).expect("the file is that long");
        bytes
    }

    /// What the guest has written to a place that is wholly in one region.
    pub(crate) fn noted<const N: usize>(&self, address: u64) -> [u8; N] {
        let bytes = self.written(address, N as u64).and_then(|bytes| bytes.try_into().ok());
        bytes.expect("the guest knows its regions")
    }

    /// What the guest has written there: the bytes up to the end of the region or of `len`.
    pub(crate) fn written(&self, address: u64, len: u64) -> Option<&[u8]> {
        let (number, _, at) = place(&self.regions, address, 1)?;
        let region = &self.copy[number];
        Some(&region[at..region.len().min(at.saturating_add(len as usize))])
    }

    /// Takes over what the device has written.
    pub(crate) fn refresh(&mut self) {
        for (region, bytes) in self.regions.iter().zip(&mut self.copy) {
            self.file.read_exact_at(bytes, region.offset).expect("the file is that long");
        }
    }

    /// Whether all bytes outside the memory table are as they were.
    pub(crate) fn is_intact(&self) -> bool {
        let len = self.file.metadata().expect("the file is open").len();
        let ends = self.regions.iter().map(|region| region.offset + region.len);
        let starts = self.regions.iter().map(|region| region.offset);
        let guards = [0].into_iter().chain(ends).zip(starts.chain([len]));
        guards.into_iter().all(|(from, to)| {
            let mut bytes = vec![0; (to - from) as usize];
            self.file.read_exact_at(&mut bytes, from).expect("the file is that long");
            bytes.iter().all(|byte| *byte == FILL)
        })
    }
}

/// A thread's handle of a guest's memory.
pub(crate) struct Rival {
    file: File,
    regions: Vec<Region>,
}

impl Rival {
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) {
        let (_, offset, _) = place(&self.regions, address, bytes.len() as u64).expect("the guest knows its regions");
        self.file.write_all_at(bytes, offset).expect("the file is that long");
    }
}

/// The region that has all of these bytes, their place in the file, and their place in the region.
fn place(regions: &[Region], address: u64, len: u64) -> Option<(usize, u64, usize)> {
    let found = regions.iter().enumerate().find(|(_, region)| {
        address.checked_sub(region.address).is_some_and(|at| at < region.len && len <= region.len - at)
    });
    let (number, region) = found?;
    let at = address - region.address;
    Some((number, region.offset + at, at as usize))
}

/// Where the front-end claims to have an address of the guest.
pub(crate) const fn front_end(address: u64) -> u64 {
    address + FRONT_END
}
