// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! JSON by the crate `serde_json`: text, with the names of all fields.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    contract::{Case, Exchange, Failure, Form},
    libraries::decoded::{self, Format, unreadable},
};

/// The case in this form.
pub fn exchange(case: Case, form: Form) -> Box<dyn Exchange> {
    decoded::of_owned::<SerdeJson>(case, form)
}

struct SerdeJson;

impl<T: Serialize + DeserializeOwned> Format<T> for SerdeJson {
    fn encode(value: &T, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        serde_json::to_writer(bytes, value).map_err(unreadable)
    }

    fn decode(bytes: &[u8]) -> Result<T, Failure> {
        serde_json::from_slice(bytes).map_err(unreadable)
    }
}
