// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is to be known of the libraries besides their figures.

use crate::line::print_line;
use parsing_bench::{contract::Workload, impls::LIBRARIES};
use serde_json::{Map, Value, json};

/// Prints one line a library.
pub(crate) fn print() {
    for entry in LIBRARIES {
        let symbols: Map<String, Value> =
            Workload::ALL.iter().map(|workload| (workload.to_string(), entry.symbol(*workload).into())).collect();
        let cannot: Map<String, Value> =
            entry.cannot.iter().map(|(workload, reason)| (workload.to_string(), (*reason).into())).collect();
        print_line(&json!({
            "type": "library",
            "name": entry.name,
            "feature": entry.feature,
            "module": entry.symbol,
            "way": entry.way.to_string(),
            "package": entry.about.package,
            "licence": entry.about.licence,
            "no_std": entry.about.no_std,
            "note": entry.about.note,
            "symbols": symbols,
            "cannot": cannot,
        }));
    }
}
