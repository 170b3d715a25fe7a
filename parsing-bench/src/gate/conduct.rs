// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a kernel does with one case.

use super::mutants::Case;
use crate::{
    contract::FiveTuple,
    impls::{Reader, Writer},
    reference::Expected,
};
use core::cell::RefCell;
use std::{
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook},
    sync::Once,
};

/// Whether a panic can be caught: not if panics abort.
pub const CATCHES_PANICS: bool = cfg!(panic = "unwind");

/// Bytes before and after the frame, which no kernel may touch. A fuzzer omits them: its sanitizer then also detects
/// reads there.
const GUARD: &[u8] = if cfg!(fuzzing) { &[] } else { &[0xa5; 64] };

/// What a kernel may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Conduct {
    /// It accepted the frame, with the correct result.
    Accepts,
    /// It rejected the frame, and left it unchanged.
    Rejects,
}

/// What a kernel may not do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Its result differs from the reference.
    Disagrees(String),
    /// It wrote to a frame that it rejected, or to bytes around the frame.
    Wrote(String),
    /// It panicked with this message.
    Panicked(String),
}

impl Fault {
    /// In words.
    pub fn reason(&self) -> &str {
        match self {
            Self::Disagrees(reason) | Self::Wrote(reason) | Self::Panicked(reason) => reason,
        }
    }
}

pub(super) fn written(writer: Writer, case: &Case, expected: &Expected<Vec<u8>>) -> Result<Conduct, Fault> {
    let mut bytes = [GUARD, &case.frame, GUARD].concat();
    let (front, rest) = bytes.split_at_mut(GUARD.len());
    let (frame, behind) = rest.split_at_mut(case.frame.len());
    let result = caught(|| writer(frame, &case.rule))?;
    if front != GUARD || behind != GUARD {
        return Err(Fault::Wrote("wrote to bytes around the frame".into()));
    }
    match (result, expected) {
        (Err(_), _) if *frame != case.frame => Err(Fault::Wrote(differs("rejected it and wrote", frame, &case.frame))),
        (Err(_), Expected::Accept(_)) => Err(Fault::Disagrees("rejected it".into())),
        (Err(_), Expected::Reject | Expected::Either(_)) => Ok(Conduct::Rejects),
        (Ok(()), Expected::Reject) => Err(Fault::Disagrees("accepted it".into())),
        (Ok(()), Expected::Accept(right) | Expected::Either(right)) if frame == right => Ok(Conduct::Accepts),
        (Ok(()), Expected::Accept(right) | Expected::Either(right)) => {
            Err(Fault::Disagrees(differs("accepted it and wrote", frame, right)))
        }
    }
}

pub(super) fn read(reader: Reader, case: &Case, expected: &Expected<FiveTuple>) -> Result<Conduct, Fault> {
    match (caught(|| reader(&case.frame))?, expected) {
        (Err(_), Expected::Accept(_)) => Err(Fault::Disagrees("rejected it".into())),
        (Err(_), Expected::Reject | Expected::Either(_)) => Ok(Conduct::Rejects),
        (Ok(_), Expected::Reject) => Err(Fault::Disagrees("accepted it".into())),
        (Ok(tuple), Expected::Accept(right) | Expected::Either(right)) if tuple == *right => Ok(Conduct::Accepts),
        (Ok(tuple), Expected::Accept(right) | Expected::Either(right)) => {
            Err(Fault::Disagrees(format!("read {tuple} in place of {right}")))
        }
    }
}

/// The first wrong byte.
fn differs(what: &str, bytes: &[u8], right: &[u8]) -> String {
    match bytes.iter().zip(right).enumerate().find(|(_, (byte, right))| byte != right) {
        Some((place, (byte, right))) => format!("{what} 0x{byte:02x} in place of 0x{right:02x} to byte {place}"),
        None => format!("{what} as it should"),
    }
}

thread_local! {
    /// The message of a panic of this thread while a kernel runs.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The result of a kernel, or its panic, which is not printed.
fn caught<T>(kernel: impl FnOnce() -> T) -> Result<T, Fault> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
            let is_kernels = MESSAGE.with_borrow_mut(|message| match message {
                Some(message) => {
                    *message = panic.payload_as_str().unwrap_or("without a message").into();
                    true
                }
                None => false,
            });
            if !is_kernels {
                usual(panic);
            }
        }));
    });
    MESSAGE.set(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(kernel));
    let message = MESSAGE.take().unwrap_or_default();
    result.map_err(|_| Fault::Panicked(format!("panicked: {message}")))
}
