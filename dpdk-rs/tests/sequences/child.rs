// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The process that carries sequences out, one after the other on the same EAL.

use crate::{
    combinations, commands,
    context::{Tally, catch, panic_on_purpose},
    devices, marks,
    operation::{self, PoolPlan, Sequence, Step},
    owners,
    process::{FINISHED, eal_args, folder, init},
    raw::Usage,
    services, world,
};
use dpdk_rs::{Eal, lcore, reorder::Reorder, timer::Timers};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use std::{
    env, fmt,
    fs::File,
    os::unix::fs::FileExt,
    panic, process, str,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Set for the process: its [`Order`].
pub(crate) const VARIABLE: &str = "DPDK_RS_TEST_SEQUENCES";

/// The file in the process's folder with the number of the sequence that it works on.
pub(crate) const PROGRESS: &str = "progress";

/// A process ends after this time, and the next one goes on; one that has hung is found soon enough.
const SHIFT: Duration = Duration::from_secs(40);

/// So does one with so much of DPDK's memory in use: what is lost for good has added up.
const MOST_BYTES: isize = 40 << 20;

/// Which sequences to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// How the first one is made smaller.
    pub(crate) path: Path,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.first, self.end, self.path.0)
    }
}

impl str::FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(' ');
        let mut number = || words.next().and_then(|word| word.parse().ok()).ok_or_else(|| text.to_owned());
        let (first, end) = (number()?, number()?);
        Ok(Self { first, end, path: Path(words.next().unwrap_or_default().to_owned()) })
    }
}

/// The way from a sequence to a smaller one: `s` for each step that makes it simpler, `c` for each that takes back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(String);

/// A sequence and its smaller forms.
pub(crate) struct Tree {
    tree: Box<dyn ValueTree<Value = Sequence>>,
    pub(crate) path: Path,
}

impl Tree {
    /// The sequence with a number.
    pub(crate) fn new(number: u64) -> Self {
        let mut runner = runner(number);
        let tree = operation::sequences().boxed().new_tree(&mut runner).expect("the strategy has no conditions");
        Self { tree, path: Path::default() }
    }

    /// One of its smaller forms.
    fn at(number: u64, path: &Path) -> Self {
        let mut tree = Self::new(number);
        for step in path.0.chars() {
            if step == 's' {
                tree.simplify()
            } else {
                tree.complicate()
            };
        }
        tree
    }

    pub(crate) fn simplify(&mut self) -> bool {
        self.path.0.push('s');
        self.tree.simplify()
    }

    pub(crate) fn complicate(&mut self) -> bool {
        self.path.0.push('c');
        self.tree.complicate()
    }

    pub(crate) fn current(&self) -> Sequence {
        self.tree.current()
    }
}

/// Draws the sequence with a number.
pub(crate) fn runner(number: u64) -> TestRunner {
    // Neighbours must not begin alike: multiplied by odd constants, the number reaches all bits of the seed.
    let halves = [0x9e37_79b9_7f4a_7c15_u64, 0xd1b5_4a32_d192_ed03].map(|factor| {
        let spread = number.wrapping_add(1).wrapping_mul(factor);
        (spread ^ spread >> 32).wrapping_mul(factor).to_le_bytes()
    });
    // Not the default, which is a cipher and takes most of the time in a build without optimisation.
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, halves.as_flattened());
    TestRunner::new_with_rng(Config::default(), rng)
}

/// In a process that was started for it: carries out its order, and ends.
pub(crate) fn run_if_asked() {
    if let Ok(order) = env::var(VARIABLE) {
        on_large_stack(|| run(&order.parse().expect("the test wrote the order")));
        process::exit(FINISHED);
    }
}

/// Runs a closure on a thread with a stack that proptest's values of nested enums fit on.
pub(crate) fn on_large_stack<T: Send>(closure: impl FnOnce() -> T + Send) -> T {
    thread::scope(|threads| {
        let thread = thread::Builder::new().stack_size(64 << 20).spawn_scoped(threads, closure);
        thread.expect("a thread can be made").join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    })
}

fn run(order: &Order) {
    // Telemetry commands are asked over its socket.
    let mut args: Vec<String> = eal_args(&[]).into_iter().filter(|arg| arg != "--no-telemetry").collect();
    // Devices see memory where the program sees it, so that it can be registered.
    args.extend(["--log-level=error", "--iova-mode=va"].map(str::to_owned));
    let (eal, _) = init(args).expect("the EAL starts");
    let progress = File::create(folder().join(PROGRESS)).expect("the file can be made");
    let tally = Arc::new(Tally::new());
    let mut eal = warm_up(eal);
    let started = Instant::now();
    let mut number = order.first;
    let mut lost = false;
    while number < order.end && started.elapsed() < SHIFT && Usage::now().bytes < MOST_BYTES {
        progress.write_all_at(&number.to_le_bytes(), 0).expect("the file can be written");
        let path = if number == order.first { order.path.clone() } else { Path::default() };
        let sequence = Tree::at(number, &path).current();
        number += 1;
        let remains = world::run(eal, lost, number - 1, &sequence, &tally);
        lost = remains.lost;
        let Some(same) = remains.eal else { break };
        eal = same;
    }
    // The test runner has left a line unfinished.
    println!("\nnext {number}");
    for (name, count) in tally.counts() {
        println!("done {name} {count}");
    }
}

/// Has DPDK and the standard library allocate what they allocate once.
fn warm_up(eal: Eal) -> Eal {
    devices::capture();
    marks::register(&eal);
    commands::warm_up(&eal);
    services::warm_up(&eal);
    // The place of their numbers in mbufs stays reserved.
    drop(Reorder::<()>::builder(1).build(&eal).expect("there is memory for it"));
    // They stay ready until the EAL ends.
    drop(Timers::new(&eal).expect("there is memory for them"));
    lcore::scope(&eal, |scope| {
        for lcore in eal.worker_lcores() {
            let touch = || {
                let _ = thread::current();
                assert!(catch(|| panic_on_purpose()).is_err());
            };
            scope.launch(lcore.id(), touch).expect("the lcore is free").join().expect("nothing panics");
        }
    })
    .expect("nothing panics");
    devices::warm_up();
    combinations::warm_up(&eal);
    owners::warm_up(&eal);
    // The EAL's list of pools without a handle keeps its memory.
    let steps = vec![Step::Pool(PoolPlan { on: 0, name: 0, size: 1, cache: 0, data_room: 0 })];
    let sequence = Sequence { steps, order: Vec::new() };
    world::run(eal, false, 0, &sequence, &Arc::new(Tally::new())).eal.expect("the sequence keeps the EAL")
}
