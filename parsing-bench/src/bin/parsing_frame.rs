// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What each library makes of one frame: to look at a case of the gate.
//!
//! ```sh
//! cargo run -p parsing-bench --bin parsing-frame -- W2 020000000001020000000002080045000014…
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program's output")]

use parsing_bench::{
    contract::{Rule, Workload},
    impls::{Entry, LIBRARIES},
};
use std::process::ExitCode;

const USAGE: &str = "usage: parsing-frame W1|W2|W3|W4 FRAME, in hexadecimal";

/// Its bytes are easily seen in a frame.
const RULE: Rule = Rule { destination: [0xd1; 6], source: [0xd2; 6], address: [0xd3; 4] };

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match arguments(&words) {
        Ok((workload, frame)) => {
            for library in LIBRARIES {
                println!("{}: {}", library.name, told(library, workload, &frame));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("parsing-frame: error: {error}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn arguments(words: &[String]) -> Result<(Workload, Vec<u8>), String> {
    let [name, frame] = words else { return Err("give a workload and a frame".into()) };
    let workload = Workload::ALL.into_iter().find(|workload| workload.to_string().eq_ignore_ascii_case(name));
    Ok((workload.ok_or_else(|| format!("no workload '{name}'"))?, bytes(frame)?))
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digit = |letter: char| letter.to_digit(16).ok_or_else(|| format!("'{letter}' is no hexadecimal digit"));
    let digits = text.chars().map(digit).collect::<Result<Vec<_>, _>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(format!("{} digits are no whole bytes", digits.len()));
    }
    Ok(pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}

fn told(library: &Entry, workload: Workload, frame: &[u8]) -> String {
    if let Some(reason) = library.cannot(workload) {
        return format!("cannot: {reason}");
    }
    let mut frame = frame.to_vec();
    let accepted = match (library.writer(workload), library.reader()) {
        (Some(write), _) => write(&mut frame, &RULE).map(|()| frame.iter().map(|byte| format!("{byte:02x}")).collect()),
        (None, Some(read)) => read(&frame).map(|tuple| {
            let (from, to) = (tuple.source_port, tuple.destination_port);
            format!("protocol {}, {} port {from} to {} port {to}", tuple.protocol, tuple.source, tuple.destination)
        }),
        (None, None) => return "cannot".into(),
    };
    accepted.unwrap_or_else(|_| "rejected".into())
}
