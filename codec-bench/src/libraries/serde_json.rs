// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! JSON by the crate `serde_json`: text, with the names of all fields.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    contract::{Case, Exchange, Failure, Form},
    libraries::decoded::{self, Format},
};

/// The case in this form.
pub fn exchange(case: Case, form: Form) -> Box<dyn Exchange> {
    decoded::exchange::<SerdeJson>(case, form)
}

struct SerdeJson;

impl Format for SerdeJson {
    fn encode<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        serde_json::to_writer(bytes, value).map_err(|error| Failure::Unreadable(error.to_string()))
    }

    fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
        serde_json::from_slice(bytes).map_err(|error| Failure::Unreadable(error.to_string()))
    }
}
