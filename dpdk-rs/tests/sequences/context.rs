// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What all threads of a sequence share.

use crate::{
    model::{Frame, PoolRecord, lock},
    shelf::Thing,
};
use arrayvec::ArrayString;
use dpdk_rs::{Clock, Eal, lcore::LcoreId};
use std::{
    fmt::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

/// How many lcores the processes of the test have.
pub(crate) const LCORES: usize = 3;

/// The payload of every panic of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnPurpose;

/// Panics without a message on stderr.
pub(crate) fn panic_on_purpose() -> ! {
    std::panic::resume_unwind(Box::new(OnPurpose))
}

/// The result of a closure that may panic on purpose, and not otherwise.
pub(crate) fn catch<T>(closure: impl FnOnce() -> T) -> Result<T, OnPurpose> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(closure)).map_err(|payload| {
        match payload.downcast::<OnPurpose>() {
            Ok(on_purpose) => *on_purpose,
            Err(payload) => std::panic::resume_unwind(payload),
        }
    })
}

pub(crate) struct Context {
    /// Every pool that was made.
    pub(crate) pools: Arc<Mutex<Vec<Arc<PoolRecord>>>>,
    /// What was forgotten: no destructor runs here before all else has ended.
    pub(crate) attic: Mutex<Vec<Box<dyn Thing>>>,
    /// The frames of packets that no one can ever drop.
    pub(crate) lost: Mutex<Vec<Frame>>,
    /// A value of Rust's heap was really forgotten.
    pub(crate) heap_leaks: AtomicBool,
    /// How many buffers of the program were lost with frames that refer to them.
    pub(crate) lost_buffers: Arc<AtomicUsize>,
    pub(crate) clock: Clock,
    tally: Arc<Tally>,
    patterns: AtomicU64,
    /// How many scopes are open.
    busy: AtomicUsize,
    /// The main lcore, and the others.
    pub(crate) lcores: [LcoreId; LCORES],
    /// By place of the lcore: how many closures may be running on it.
    pub(crate) occupied: [AtomicUsize; LCORES],
    /// How many scopes have closures that launch others: nobody knows which lcore is free when.
    pub(crate) errands: AtomicUsize,
}

impl Context {
    pub(crate) fn new(eal: &Eal, tally: &Arc<Tally>) -> Self {
        let lcores = eal.worker_lcores();
        let lcores = [eal.main_lcore(), lcores[0].id(), lcores[1].id()];
        Self {
            pools: Arc::default(),
            attic: Mutex::default(),
            lost: Mutex::default(),
            heap_leaks: AtomicBool::new(false),
            lost_buffers: Arc::default(),
            clock: eal.clock(),
            tally: Arc::clone(tally),
            patterns: AtomicU64::new(0),
            busy: AtomicUsize::new(0),
            lcores,
            occupied: [const { AtomicUsize::new(0) }; LCORES],
            errands: AtomicUsize::new(0),
        }
    }

    /// Whether only the main lcore is at work.
    pub(crate) fn is_quiet(&self) -> bool {
        self.busy.load(Ordering::SeqCst) == 0
    }

    /// From now on others may be at work, until [`Self::rest`].
    pub(crate) fn work(&self) {
        self.busy.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn rest(&self) {
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }

    /// What a call of `mem::forget` is given: it stays as it is until the end of the sequence.
    pub(crate) fn forget(&self, thing: impl Thing + 'static) {
        lock(&self.attic).push(Box::new(thing));
    }

    /// Writes bytes that differ from all written before.
    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        let number = self.patterns.fetch_add(1, Ordering::Relaxed) + 1;
        for (place, chunk) in (1_u64..).zip(bytes.chunks_mut(8)) {
            // An odd factor makes different words of different pairs; the shift brings its best bits to the front.
            let word = (number << 32 | place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            chunk.copy_from_slice(&word.swap_bytes().to_le_bytes()[..chunk.len()]);
        }
    }

    /// Counts an operation that found its objects.
    pub(crate) fn done(&self, operation: &impl fmt::Debug) {
        self.tally.count(operation);
    }
}

/// How often each operation was carried out, by name. It allocates nothing, for the sake of the count of allocations.
pub(crate) struct Tally(Mutex<Vec<(Name, u64)>>);

type Name = ArrayString<24>;

impl Tally {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::with_capacity(256)))
    }

    fn count(&self, operation: &impl fmt::Debug) {
        let name = name(operation);
        let mut counts = lock(&self.0);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }

    pub(crate) fn counts(&self) -> Vec<(String, u64)> {
        lock(&self.0).iter().map(|(name, count)| (name.to_string(), *count)).collect()
    }
}

/// The first word of what `Debug` writes: the name of the variant.
pub(crate) fn name(operation: &impl fmt::Debug) -> Name {
    struct FirstWord {
        name: Name,
    }
    impl Write for FirstWord {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let word = text.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
            self.name.try_push_str(word).map_err(|_| fmt::Error)?;
            // The rest is not wanted.
            if word.len() == text.len() { Ok(()) } else { Err(fmt::Error) }
        }
    }
    let mut first = FirstWord { name: Name::new() };
    let _ = write!(first, "{operation:?}");
    first.name
}
