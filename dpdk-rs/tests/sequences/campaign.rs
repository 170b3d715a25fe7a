// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Spreads sequences over processes, and reports the first that fails in its smallest form.

use crate::{
    child::{Order, PROGRESS, Path, Tree, VARIABLE, on_large_stack},
    context::name,
    model::lock,
    operation::{Sequence, Step},
    process::{self, FINISHED},
};
use std::{
    any::Any,
    collections::BTreeMap,
    env, fmt, fs, panic,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

/// A process carries out no more than this many sequences.
const BATCH: u64 = 250;

/// How many smaller forms of a failing sequence are tried.
const ATTEMPTS: usize = 400;

/// An operation that is drawn so often must have been carried out at least once.
const OFTEN: u64 = 20;

/// How often each operation was carried out.
type Counts = BTreeMap<String, u64>;

/// A process that did not end well.
struct Failure {
    order: Order,
    /// The sequence that it was working on.
    number: u64,
    what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Carries out `count` sequences from number `seed` on.
pub(crate) fn run(seed: u64, count: u64) {
    let next = AtomicU64::new(seed);
    let end = seed.saturating_add(count);
    let counts = Mutex::new(Counts::new());
    let failure = Mutex::new(None);
    // A process often waits until its lcores have their turn.
    let workers = 2 * thread::available_parallelism().map_or(1, usize::from) as u64;
    let batch = count.div_ceil(2 * workers).clamp(1, BATCH);
    thread::scope(|threads| {
        for _ in 0..workers {
            threads.spawn(|| {
                while lock(&failure).is_none() {
                    let first = next.fetch_add(batch, Ordering::SeqCst);
                    if first >= end {
                        break;
                    }
                    if let Err(found) = carry_out(first, end.min(first + batch), &counts) {
                        lock(&failure).get_or_insert(found);
                    }
                }
            });
        }
    });
    if let Some(failure) = lock(&failure).take() {
        on_large_stack(|| report(&failure));
    }
    let counts = counts.into_inner().expect("nobody panics with the lock held");
    println!("\n{count} sequences from {seed} on: {} operations, {counts:?}", counts.values().sum::<u64>());
    on_large_stack(|| check(seed, count, &counts));
}

fn carry_out(mut first: u64, end: u64, counts: &Mutex<Counts>) -> Result<(), Failure> {
    while first < end {
        let order = Order { first, end, path: Path::default() };
        let lines = run_process(&order)?;
        let mut counts = lock(counts);
        let mut next = None;
        for line in lines.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["next", number] => next = number.parse().ok(),
                ["done", name, count] => *counts.entry(name.to_owned()).or_default() += count.parse().unwrap_or(0),
                _ => (),
            }
        }
        first = next.filter(|next| *next > first).expect("the process says how far it came");
    }
    Ok(())
}

/// Runs a process to its end; what it wrote to stdout.
fn run_process(order: &Order) -> Result<String, Failure> {
    let prefix = process::new_prefix();
    let mut command = Command::new(env::current_exe().expect("a process has a program"));
    command.args(["--exact", "random_sequences", "--nocapture", "--test-threads=1"]);
    command.env(process::VARIABLE, &prefix).env(VARIABLE, order.to_string()).env_remove("RUST_BACKTRACE");
    process::keep_runtime_files(&mut command, &prefix);
    // Things are forgotten on purpose; whether anything else is lost, the world counts itself.
    if let Ok(options) = env::var("ASAN_OPTIONS") {
        command.env("ASAN_OPTIONS", format!("{options}:detect_leaks=0"));
    }
    // It panics if the process hangs.
    let finished = panic::catch_unwind(panic::AssertUnwindSafe(|| process::finish(&mut command)));
    let progress = fs::read(env::temp_dir().join(&prefix).join(PROGRESS)).ok();
    process::remove_leftovers(&prefix);
    let what = match finished {
        Ok(finished) if finished.status.code() == Some(FINISHED) => return Ok(finished.stdout),
        Ok(finished) => format!("the process ended with {}; its stderr:\n{}", finished.status, tail(&finished.stderr)),
        Err(payload) => text(&*payload).to_owned(),
    };
    let number = progress.and_then(|bytes| bytes.try_into().ok()).map_or(order.first, u64::from_le_bytes);
    Err(Failure { order: order.clone(), number, what })
}

/// The last of many lines.
fn tail(text: &str) -> &str {
    const MOST: usize = 6_000;
    let start = text.len().saturating_sub(MOST);
    text.get(text.ceil_char_boundary(start)..).unwrap_or(text)
}

fn text(payload: &(dyn Any + Send)) -> &str {
    payload.downcast_ref::<String>().map_or("the process hangs", String::as_str)
}

/// Makes the sequence that failed smaller, and panics with it.
fn report(failure: &Failure) -> ! {
    let number = failure.number;
    let alone = |path: &Path| run_process(&Order { first: number, end: number + 1, path: path.clone() }).err();
    // What depends on the timing of threads may need a few attempts.
    let Some(mut smallest) = (0..5).find_map(|_| alone(&Path::default())) else {
        let Order { first, .. } = failure.order;
        let count = number - first + 1;
        panic!(
            "sequence {number} failed once, and alone it does not; try \
             DPDK_RS_SEQUENCES={count} DPDK_RS_SEED={first}: {failure}\n{}",
            listing(&Tree::new(number).current())
        );
    };
    let mut tree = Tree::new(number);
    let mut sequence = tree.current();
    let mut attempts = 0;
    let mut simpler = tree.simplify();
    while simpler && attempts < ATTEMPTS {
        attempts += 1;
        if let Some(failure) = alone(&tree.path) {
            smallest = failure;
            sequence = tree.current();
            simpler = tree.simplify();
        } else {
            // What fails only at times is given up for one that fails more often.
            simpler = tree.complicate() || tree.simplify();
        }
    }
    panic!(
        "sequence {number} fails (DPDK_RS_SEQUENCES=1 DPDK_RS_SEED={number}): {smallest}\n\
         Its smallest form that was found, after {attempts} attempts:\n{}",
        listing(&sequence)
    );
}

/// The steps of a sequence, one a line.
fn listing(sequence: &Sequence) -> String {
    let steps: String = sequence.steps.iter().map(|step| format!("  {step:?}\n")).collect();
    format!("{steps}  dropped in the order {:?}", sequence.order)
}

/// Sequences that do nothing would find nothing: whatever is drawn often has also been carried out.
fn check(seed: u64, count: u64, counts: &Counts) {
    let mut drawn = Counts::new();
    for number in seed..seed + count.min(500) {
        for step in &Tree::new(number).current().steps {
            let name = match step {
                Step::Act(act) => name(&act.deed),
                step => name(step),
            };
            *drawn.entry(name.to_string()).or_default() += 1;
        }
    }
    for (name, times) in drawn {
        assert!(times < OFTEN || counts.contains_key(&name), "{name} was drawn {times} times, and never carried out");
    }
}
