// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! l2fwd-c, called from Rust. The only place with `unsafe` outside the bindings: the twin is C.

use core::ffi::{c_char, c_void};
use std::{ptr::NonNull, slice};

unsafe extern "C" {
    fn describe_command_line(data: *const u8, data_len: usize, text_len: *mut usize) -> *mut c_char;
    fn free(memory: *mut c_void);
}

/// What l2fwd-c makes of a command line.
pub(crate) fn describe(data: &[u8]) -> Vec<u8> {
    let mut len = 0;
    // SAFETY: the bytes and the place for the length live during the call.
    let text = unsafe { describe_command_line(data.as_ptr(), data.len(), &raw mut len) };
    let Some(text) = NonNull::new(text) else { panic!("l2fwd-c ran out of memory") };
    // SAFETY: the function allocated `len` bytes, which nobody else has.
    let copy = unsafe { slice::from_raw_parts(text.as_ptr().cast::<u8>(), len) }.to_vec();
    // SAFETY: the memory came from malloc, and the copy above does not refer to it.
    unsafe { free(text.as_ptr().cast()) };
    copy
}
