// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The caller's memory: null pointers are errors, the rest is on trust.

use crate::error::Error;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::slice;

/// A slice must not be longer than half of the address space, and a result must fit into an `int`.
const MOST_BYTES: usize = c_int::MAX as usize;

/// What C passes by pointer.
///
/// # Safety
/// `pointer` is null, or points to an initialised `T`.
pub(crate) unsafe fn input<T: Copy>(pointer: *const T) -> Result<T, Error> {
    // SAFETY: the caller promises an initialised `T`, if there is one. It is copied, so nothing is borrowed later.
    unsafe { pointer.as_ref() }.copied().ok_or(Error::NullPointer)
}

/// Where C wants a result.
///
/// # Safety
/// `pointer` is null, or points to room for a `T` that nobody else uses for `'a`.
pub(crate) unsafe fn output<'a, T>(pointer: *mut T) -> Result<&'a mut MaybeUninit<T>, Error> {
    // SAFETY: the caller promises room for a `T`, if there is any, and that nobody else uses it.
    unsafe { pointer.cast::<MaybeUninit<T>>().as_mut() }.ok_or(Error::NullPointer)
}

/// Where C wants several results.
///
/// # Safety
/// `pointer` is null, or points to room for `len` of `T` that nobody else uses for `'a`.
pub(crate) unsafe fn outputs<'a, T>(pointer: *mut T, len: usize) -> Result<&'a mut [MaybeUninit<T>], Error> {
    if pointer.is_null() {
        return Err(Error::NullPointer);
    }
    let len = len.min(MOST_BYTES / size_of::<T>().max(1));
    // SAFETY: the pointer is not null, the caller promises room for `len` of `T` that nobody else uses, and that is at most
    // half of the address space.
    Ok(unsafe { slice::from_raw_parts_mut(pointer.cast(), len) })
}

/// A string to read, without its end.
///
/// # Safety
/// `pointer` is null, or points to a string that nobody changes for `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a [u8], Error> {
    if pointer.is_null() {
        return Err(Error::NullPointer);
    }
    // SAFETY: the pointer is not null, and the caller promises a string that nobody changes.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_bytes())
}

/// Bytes to read.
///
/// # Safety
/// `pointer` is null, or points to `len` bytes that nobody changes for `'a`.
pub(crate) unsafe fn bytes<'a>(pointer: *const c_void, len: usize) -> Result<&'a [u8], Error> {
    if pointer.is_null() {
        return Err(Error::NullPointer);
    }
    // SAFETY: the pointer is not null, the caller promises `len` bytes that nobody changes, and they are at most half of the
    // address space.
    Ok(unsafe { slice::from_raw_parts(pointer.cast(), len.min(MOST_BYTES)) })
}

/// Bytes to write.
///
/// # Safety
/// `pointer` is null, or points to `len` bytes that nobody else uses for `'a`.
pub(crate) unsafe fn room<'a>(pointer: *mut c_void, len: usize) -> Result<&'a mut [u8], Error> {
    if pointer.is_null() {
        return Err(Error::NullPointer);
    }
    // SAFETY: the pointer is not null, the caller promises `len` bytes that nobody else uses, and they are at most half of the
    // address space. The memory is C's, so its bytes have values, whatever these are, and nothing here reads them.
    Ok(unsafe { slice::from_raw_parts_mut(pointer.cast(), len.min(MOST_BYTES)) })
}
