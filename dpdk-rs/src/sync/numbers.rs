// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Loom's atomics in the place of numbers in DPDK's memory, which has no room for them.

use super::atomic::AtomicU16;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

loom::lazy_static! {
    /// The 16-bit numbers in mbufs and external buffers that C changes atomically, by address. A new one may be at the
    /// address of an old one.
    static ref NUMBERS: Mutex<(BTreeMap<usize, Box<AtomicU16>>, Vec<Box<AtomicU16>>)> = Mutex::default();
}

/// Makes a number atomic from now on.
///
/// # Safety
/// None: nothing is read or written.
pub(crate) unsafe fn begin_number(at: *mut u16, value: u16) {
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let (numbers, former) = &mut *numbers;
    former.extend(numbers.insert(at.addr(), Box::new(AtomicU16::new(value))));
}

/// The atomic number at an address.
///
/// # Safety
/// None: the number lives as long as the model's execution.
pub(crate) unsafe fn atomic_u16<'a>(at: *mut u16) -> &'a AtomicU16 {
    let numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(number) = numbers.0.get(&at.addr()) else { panic!("no number was begun at this address") };
    let number: *const AtomicU16 = &raw const **number;
    // SAFETY: the number is in a box that lives until the end of the execution.
    unsafe { &*number }
}
