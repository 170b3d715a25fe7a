// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The format of the crate `postcard`: numbers of variable length, without names or types.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    contract::{Case, Exchange, Failure, Form},
    libraries::decoded::{self, Format, unreadable},
};

/// The case in this form.
pub fn exchange(case: Case, form: Form) -> Box<dyn Exchange> {
    decoded::of_owned::<Postcard>(case, form)
}

struct Postcard;

impl<T: Serialize + DeserializeOwned> Format<T> for Postcard {
    fn encode(value: &T, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        let written = postcard::to_extend(value, std::mem::take(bytes)).map_err(unreadable)?;
        *bytes = written;
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Result<T, Failure> {
        postcard::from_bytes(bytes).map_err(unreadable)
    }
}
