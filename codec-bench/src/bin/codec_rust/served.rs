// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rounds as long as another program wants them.

use std::{
    error::Error,
    io::{self, BufRead as _},
    sync::mpsc::{self, TryRecvError},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{line::print_line, rounds::Rounds};

// Words are looked for after so long.
const BATCH: Duration = Duration::from_millis(1);

/// Each line of stdin is a word: `go` and `stop`, and `read`, after which the counters are printed. The end of stdin is
/// the end.
pub(crate) fn serve(mut rounds: Rounds, input: io::Stdin) -> Result<(), Box<dyn Error>> {
    let (sender, words) = mpsc::channel();
    thread::spawn(move || {
        for line in input.lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    // As many as take about a batch.
    let mut batch = 1;
    let mut going = false;
    print_line(&json!({"type": "ready"}));
    loop {
        let word = if going { words.try_recv() } else { words.recv().map_err(|_| TryRecvError::Disconnected) };
        match word.as_deref() {
            Ok("go") => going = true,
            Ok("stop") => going = false,
            Ok("read") => print_line(&rounds.told()?),
            Ok(other) => return Err(format!("unknown word '{other}' on stdin").into()),
            Err(TryRecvError::Disconnected) => return Ok(()),
            Err(TryRecvError::Empty) => {
                let start = Instant::now();
                rounds.run(batch)?;
                let taken = start.elapsed();
                if taken < BATCH / 2 {
                    batch *= 2;
                } else if taken > 2 * BATCH {
                    batch = (batch / 2).max(1);
                }
            }
        }
    }
}
