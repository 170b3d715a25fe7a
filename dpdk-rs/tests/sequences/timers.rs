// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Timers whose closures count, panic, set and stop themselves, and drop others.
//!
//! A timer is due at once or never. Which of several is called first depends on the clock; whether they are called does not.

use crate::{
    context::{Context, OnPurpose, panic_on_purpose},
    model::lock,
    raw::Usage,
};
use dpdk_rs::{
    Eal,
    lcore::LcoreId,
    timer::{ManageError, Timer, TimerError, Timers},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

/// So long that it never comes.
const NEVER: Duration = Duration::from_secs(1 << 30);

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct TimerPlan {
    #[proptest(strategy = "vec(any::<TimerDeed>(), 0..40)")]
    deeds: Vec<TimerDeed>,
    /// The timers outlive the object that made them.
    timers_last: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum TimerDeed {
    #[proptest(weight = 4)]
    Make(Closure),
    #[proptest(weight = 8)]
    Arm {
        place: u8,
        /// Which lcore: only the main one has its timers called here.
        #[proptest(strategy = "prop_oneof![4 => Just(0_u8), 1 => 1_u8..3]")]
        lcore: u8,
        now: bool,
        periodic: bool,
    },
    #[proptest(weight = 2)]
    Stop { place: u8 },
    #[proptest(weight = 2)]
    Drop { place: u8 },
    /// The last one is dropped on a thread that is no lcore.
    DropElsewhere,
    #[proptest(weight = 5)]
    Manage {
        /// By a loop's poll, which asks each time here.
        polled: bool,
    },
}

/// What a closure does besides counting its calls.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closure {
    #[proptest(weight = 4)]
    Count,
    Panic,
    /// Sets its own timer for a time that never comes.
    SetItself,
    StopItself,
    /// Drops its own timer, and with it what it has captured.
    DropItself,
    /// Drops other timers, some of which are due too.
    DropOthers,
    /// Has others be called, which it cannot.
    Nest,
}

/// Counts how many closures there are.
struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Where a closure finds its own timer: nowhere, once somebody has taken it to drop it.
type Slot = Arc<Mutex<Option<Timer>>>;

struct Held {
    closure: Closure,
    slot: Slot,
    calls: Arc<AtomicUsize>,
    state: State,
    /// Timers that its closure owns.
    others: usize,
}

/// What a timer should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Stopped,
    /// For the main lcore, and now.
    Due {
        periodic: bool,
    },
    /// For another lcore, or never.
    Set,
    /// Its closure has panicked.
    Ended,
}

struct Desk<'a> {
    context: &'a Context,
    timers: Timers,
    alive: Arc<AtomicUsize>,
    held: Vec<Held>,
}

/// Does with timers what is planned.
pub(crate) fn run(eal: &Eal, context: &Context, plan: &TimerPlan) {
    let before = Usage::now();
    let alive = Arc::default();
    let timers = Timers::new(eal).expect("timers are ready");
    let mut desk = Desk { context, timers, alive: Arc::clone(&alive), held: Vec::new() };
    for deed in &plan.deeds {
        desk.apply(*deed);
        desk.verify();
    }
    let Desk { timers, held, .. } = desk;
    let drop_all = |held: Vec<Held>| held.into_iter().for_each(|held| drop(lock(&held.slot).take()));
    if plan.timers_last {
        drop(timers);
        drop_all(held);
    } else {
        drop_all(held);
        drop(timers);
    }
    assert_eq!(alive.load(SeqCst), 0, "closures that were not dropped");
    assert_eq!(Usage::now(), before, "timers that are gone hold memory");
}

impl Desk<'_> {
    fn apply(&mut self, deed: TimerDeed) {
        match deed {
            TimerDeed::Make(closure) => self.make(closure),
            TimerDeed::Arm { place, lcore, now, periodic } => self.arm(place, lcore, now, periodic),
            TimerDeed::Stop { place } => {
                if let Some(held) = self.chosen(place) {
                    let timer = lock(&held.slot);
                    timer.as_ref().expect("held timers are there").stop().expect("nobody is calling it");
                    drop(timer);
                    if held.state != State::Ended {
                        held.state = State::Stopped;
                    }
                }
            }
            TimerDeed::Drop { place } => {
                if let Some(place) = usize::from(place).checked_rem(self.held.len()) {
                    let held = self.held.swap_remove(place);
                    // Not under the lock, which the closure's destructor may want.
                    let timer = lock(&held.slot).take();
                    drop(timer);
                }
            }
            TimerDeed::DropElsewhere => {
                if let Some(held) = self.held.pop() {
                    let timer = lock(&held.slot).take();
                    std::thread::scope(|threads| threads.spawn(move || drop(timer)).join()).expect("a drop ends");
                }
            }
            TimerDeed::Manage { polled } => self.manage(polled),
        }
    }

    fn chosen(&mut self, place: u8) -> Option<&mut Held> {
        let place = usize::from(place).checked_rem(self.held.len())?;
        self.held.get_mut(place)
    }

    fn main(&self) -> LcoreId {
        self.context.lcores[0]
    }

    fn alive(&self) -> Alive {
        self.alive.fetch_add(1, SeqCst);
        Alive(Arc::clone(&self.alive))
    }

    fn make(&mut self, closure: Closure) {
        let (slot, calls) = (Slot::default(), Arc::new(AtomicUsize::new(0)));
        let mut others = Vec::new();
        if closure == Closure::DropOthers {
            for number in 0..3 {
                let alive = self.alive();
                let other = self.timers.timer(move || {
                    let _ = &alive;
                });
                if number > 0 {
                    other.arm(self.main(), Duration::ZERO).expect("nobody is calling it");
                }
                others.push(other);
            }
        }
        let count = others.len();
        let (alive, own, counter) = (self.alive(), Arc::downgrade(&slot), Arc::clone(&calls));
        let (main, timers) = (self.main(), self.timers.clone());
        let timer = self.timers.timer(move || {
            let _ = &alive;
            counter.fetch_add(1, SeqCst);
            let slot = own.upgrade();
            let with_own = |act: &dyn Fn(&Timer)| {
                if let Some(timer) = slot.as_ref().and_then(|slot| lock(slot).take()) {
                    act(&timer);
                    *lock(slot.as_ref().expect("as before")) = Some(timer);
                }
            };
            match closure {
                Closure::Count => (),
                Closure::Panic => panic_on_purpose(),
                Closure::SetItself => with_own(&|timer| timer.arm(main, NEVER).expect("its own call may set it")),
                Closure::StopItself => with_own(&|timer| timer.stop().expect("its own call may stop it")),
                Closure::DropItself => drop(slot.as_ref().and_then(|slot| lock(slot).take())),
                Closure::DropOthers => drop(mem::take(&mut others)),
                Closure::Nest => assert!(matches!(timers.manage(), Err(ManageError::Nested))),
            }
        });
        *lock(&slot) = Some(timer);
        self.held.push(Held { closure, slot, calls, state: State::Stopped, others: count });
    }

    fn arm(&mut self, place: u8, lcore: u8, now: bool, periodic: bool) {
        let lcore_id = self.context.lcores[usize::from(lcore)];
        let Some(held) = self.chosen(place) else { return };
        let timer = lock(&held.slot);
        let timer = timer.as_ref().expect("held timers are there");
        let time = if now { Duration::ZERO } else { NEVER };
        let result = if periodic { timer.arm_periodic(lcore_id, time) } else { timer.arm(lcore_id, time) };
        if held.state == State::Ended {
            assert_eq!(result, Err(TimerError::Ended));
            return;
        }
        assert_eq!(result, Ok(()));
        held.state = if now && lcore == 0 { State::Due { periodic } } else { State::Set };
    }

    /// Has all be called that are due, and takes down what became of them.
    fn manage(&mut self, polled: bool) {
        let mut poll = self.timers.poll_every(Duration::ZERO);
        let calls = |held: &Held| held.calls.load(SeqCst);
        let due: Vec<(usize, usize)> = self
            .held
            .iter()
            .enumerate()
            .filter(|(_, held)| held.is_due())
            .map(|(place, held)| (place, calls(held)))
            .collect();
        let mut panicked = false;
        // Until the clock has gone on, the youngest may not be due yet.
        loop {
            let managed = if polled { poll.manage(self.context.clock.now()) } else { self.timers.manage() };
            match managed {
                Ok(()) => (),
                Err(ManageError::Panicked(error)) => {
                    let payload = error.into_payload().expect("the first to ask gets the payload");
                    assert!(payload.is::<OnPurpose>(), "a closure panicked, and not on purpose");
                    panicked = true;
                }
                Err(error) => panic!("{error}"),
            }
            if due.iter().all(|(place, before)| calls(&self.held[*place]) > *before) {
                break;
            }
        }
        let mut expected = false;
        for (place, before) in due {
            let held = &mut self.held[place];
            let State::Due { periodic } = held.state else { panic!("it was due") };
            assert!(periodic || calls(held) == before + 1, "{:?} was called more than once", held.closure);
            held.state = match held.closure {
                Closure::Panic => State::Ended,
                Closure::SetItself => State::Set,
                Closure::StopItself => State::Stopped,
                _ if periodic => held.state,
                _ => State::Stopped,
            };
            expected |= held.closure == Closure::Panic;
            if held.closure == Closure::DropOthers {
                held.others = 0;
            }
        }
        assert_eq!(panicked, expected, "a panic was lost");
        self.held.retain(|held| lock(&held.slot).is_some());
    }

    fn verify(&self) {
        for held in &self.held {
            let pending = lock(&held.slot).as_ref().expect("held timers are there").is_pending();
            assert_eq!(
                pending,
                matches!(held.state, State::Due { .. } | State::Set),
                "{:?} {:?}",
                held.closure,
                held.state
            );
        }
        let expected: usize = self.held.iter().map(|held| 1 + held.others).sum();
        assert_eq!(self.alive.load(SeqCst), expected, "closures");
    }
}

impl Held {
    const fn is_due(&self) -> bool {
        matches!(self.state, State::Due { .. })
    }
}
