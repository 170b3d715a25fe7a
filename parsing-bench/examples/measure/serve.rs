// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Runs kernels for whoever times them: `parsing-timer`, which has criterion in it. So criterion, and what it brings, is
//! compiled once and not for each variant, and what is measured has nothing else in its program.
//!
//! It reads one order a line, and answers each with one line of JSON; it ends with its stdin.
//!
//! | order | what is done |
//! |---|---|
//! | `pool W2 hot`, `pool W2 l2 262144 MEMORY` | makes the frames: a few, or as many as touch so many bytes of cache lines and take at most so much memory |
//! | `kernel smoltcp` | chooses a kernel of that workload, and makes all frames what they were |
//! | `run 1000` | so many bursts, and how long they took |

use crate::{
    kernel::{self, Kernel},
    line::print_line,
    options::{positive, workload},
    pool::{Pool, Residency},
};
use parsing_bench::{contract::Workload, trace::BURST};
use serde_json::{Value, json};
use std::{
    error::Error,
    hint::black_box,
    io::BufRead,
    time::{Duration, Instant},
};

/// Does as it is told, until nothing more is said.
pub(crate) fn run(orders: impl BufRead) -> Result<(), Box<dyn Error>> {
    let mut bench = None;
    let mut kernel = None;
    for order in orders.lines() {
        let order = order?;
        let words: Vec<&str> = order.split_whitespace().collect();
        let answer = match (words.as_slice(), &mut bench) {
            (["pool", workload, residency, sizes @ ..], _) => {
                kernel = None;
                bench.insert(Bench::of(workload, residency, sizes)?).describe()
            }
            (["kernel", library], Some(bench)) => {
                kernel = Some(kernel::find(library, bench.workload)?);
                bench.refill(kernel);
                json!({ "type": "ready" })
            }
            (["run", bursts], Some(bench)) => {
                let kernel = kernel.ok_or("'run' before 'kernel': nothing was chosen")?;
                let took = bench.time(kernel, positive("run", bursts)?);
                json!({ "type": "ran", "nanoseconds": u64::try_from(took.as_nanos())? })
            }
            _ => {
                return Err(format!("'{order}' is no order that can be followed now: give pool, kernel and run").into());
            }
        };
        print_line(&answer);
    }
    Ok(())
}

/// Frames of one workload in one residency.
struct Bench {
    workload: Workload,
    residency: Residency,
    pool: Pool,
}

impl Bench {
    fn of(name: &str, residency: &str, sizes: &[&str]) -> Result<Self, Box<dyn Error>> {
        let (workload, residency) = (workload(name)?, Residency::named(residency)?);
        let pool = match (residency, sizes) {
            (Residency::Hot, []) => Pool::of_few(workload)?,
            (Residency::L2 | Residency::Cold | Residency::ColdPrefetch, [bytes, memory]) => {
                Pool::touching(workload, positive("pool", bytes)?, positive("pool", memory)?)?
            }
            _ => return Err(format!("'pool' with {} numbers: hot takes none, the others two", sizes.len()).into()),
        };
        Ok(Self { workload, residency, pool })
    }

    fn describe(&self) -> Value {
        json!({
            "type": "pool",
            "residency": self.residency.name(),
            "workload": self.workload.to_string(),
            "burst": BURST,
            "frames": self.pool.frames(),
            "touched_bytes": self.pool.touched_bytes(),
        })
    }

    /// What a kernel before this one has made of the frames must not matter; readers make nothing of them.
    fn refill(&mut self, kernel: Option<Kernel>) {
        if matches!(kernel, Some(Kernel::Writer(_))) {
            self.pool.refill();
        }
    }

    /// A function of its own, as criterion's loop is, so that nothing around it takes part.
    #[inline(never)]
    fn time(&mut self, kernel: Kernel, bursts: u64) -> Duration {
        let started = Instant::now();
        for _ in 0..bursts {
            black_box(self.pool.burst(kernel, self.residency));
        }
        started.elapsed()
    }
}
