// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What started ports and their queues are asked beside the basic counters: the setup of queues, chosen counters, addresses of
//! groups, events. Virtual devices lack most of it, and have to say so whatever else is going on.

use crate::{
    context::Context,
    model::{DeviceToken, lock},
    operation::End,
    shelf::{Hands, Kind, PortHeld, Shelf, Thing, choose, choose_mut, pick},
};
use core::fmt::Debug;
use dpdk_rs::{
    MacAddr, PortError,
    port::{EventWatch, PortEvent, ResetRefused, XstatSelection},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, AtomicU8, Ordering},
};

#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum Ask {
    /// How a queue was set up, and by what it receives and sends.
    Queue(#[proptest(strategy = "0_u16..5")] u16),
    Adapter {
        on: bool,
    },
    /// The link is taken down, and up again.
    Link,
    Multicast(#[proptest(strategy = "vec(any::<[u8; 6]>(), 0..4)")] Vec<[u8; 6]>),
    /// Some of the counters, by place, and perhaps one that there is not.
    #[proptest(weight = 3)]
    Select {
        #[proptest(strategy = "any::<u64>()")]
        mask: u64,
        #[proptest(strategy = "prop::bool::weighted(0.1)")]
        unknown: bool,
    },
    /// What was chosen, of this port or another, is read into so many places more or less.
    #[proptest(weight = 3)]
    Read {
        selection: u8,
        #[proptest(strategy = "-1_i8..2")]
        more: i8,
    },
    #[proptest(weight = 2)]
    Watch {
        #[proptest(strategy = "0_u8..5")]
        event: u8,
    },
}

/// Counters that were chosen, of a device which need not be there any more.
pub(crate) struct SelectionHeld {
    selection: XstatSelection,
    names: Vec<String>,
    token: Weak<DeviceToken>,
}

impl Thing for SelectionHeld {
    fn verify(&self, _context: &Context) {
        assert_eq!(self.selection.names(), self.names);
    }
}

/// A closure for an event that never comes. It keeps the device from being closed.
pub(crate) struct WatchHeld {
    _watch: EventWatch,
    closure: Weak<()>,
    _token: Arc<DeviceToken>,
}

impl Thing for WatchHeld {
    fn verify(&self, _context: &Context) {
        assert_eq!(self.closure.strong_count(), 1, "the closure is kept");
    }
}

/// The device has not got something, and says which driver it is of.
fn lacks<T: Debug>(result: Result<T, PortError>) {
    let what = match result {
        Err(PortError::Lacks { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert!(what.contains("(its driver is net_"), "{what}");
}

/// Newer releases of DPDK take some of what is not there for nothing to do.
fn lacks_or_none(result: Result<u32, PortError>) {
    if result != Ok(0) {
        lacks(result);
    }
}

/// By port, a bit for each event that was ever asked for: DPDK allocates for it once, and keeps that until the process ends.
static EVENTS: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];

/// The first closure of a process leaves an empty node of the map behind in which they are.
static ANY_EVENT: AtomicBool = AtomicBool::new(false);

impl Hands {
    /// Resets a port, which none of the drivers can.
    pub(crate) fn reset<P: Kind>(&mut self, port: u8) -> Option<()> {
        let shelf = P::shelf(self);
        let place = pick(&shelf.configured, port)?;
        let PortHeld { port, token } = shelf.configured.remove(place);
        let ResetRefused { port, error, .. } = port.reset().expect_err("no virtual device has a reset");
        lacks::<()>(Err(*error));
        shelf.configured.push(PortHeld { port: port.expect("it is as it was"), token });
        Some(())
    }
}

impl<P: Kind> Shelf<P> {
    pub(crate) fn ask(&mut self, context: &Context, port: u8, ask: &Ask) -> Option<()> {
        let PortHeld { port, token } = choose(&self.started, port)?;
        let (rx, tx) =
            lock(&token.setup).as_ref().map(|setup| (setup.rx, setup.tx)).expect("a started port was set up");
        match *ask {
            Ask::Queue(queue) => {
                let check = |result: Result<String, PortError>, count: u16| match result {
                    Err(PortError::Unsupported { asked, .. }) => assert!(queue >= count && asked == u32::from(queue)),
                    result => {
                        assert!(queue < count, "{result:?}");
                        lacks(result);
                    }
                };
                check(port.rx_queue_info(queue).map(|info| format!("{info:?}")), rx);
                check(port.tx_queue_info(queue).map(|info| format!("{info:?}")), tx);
                check(port.rx_burst_mode(queue), rx);
                check(port.tx_burst_mode(queue), tx);
                assert_eq!(port.packet_types(), Ok(Vec::new()));
            }
            Ask::Adapter { on } => {
                lacks(port.firmware_version());
                lacks(port.module());
                lacks(port.set_led(on));
            }
            Ask::Link => match port.set_link(false) {
                Ok(()) => {
                    assert!(!port.link().expect("the device has a link").up);
                    port.set_link(true).expect("it could be taken down");
                    assert!(port.link().expect("the device has a link").up);
                }
                result => lacks(result),
            },
            Ask::Multicast(ref addrs) => {
                let addrs: Vec<MacAddr> = addrs.iter().copied().map(MacAddr).collect();
                match port.set_multicast_addrs(&addrs) {
                    Err(PortError::Refused { .. }) => {
                        assert!(addrs.iter().any(|addr| addr.octets()[0] & 1 == 0), "{addrs:?}");
                    }
                    result => {
                        assert!(addrs.iter().all(|addr| addr.octets()[0] & 1 == 1), "{addrs:?}");
                        lacks(result);
                    }
                }
            }
            Ask::Select { mask, unknown } => {
                let counters = port.xstats().expect("the device counts");
                let chosen = counters.iter().enumerate().filter(|(place, _)| mask >> (place % 64) & 1 == 1);
                let mut names: Vec<String> = chosen.map(|(_, counter)| counter.name.clone()).collect();
                if unknown {
                    names.push("of_the_sequences".to_owned());
                }
                match port.select_xstats(names.clone()) {
                    Ok(selection) => {
                        assert!(!unknown);
                        assert_eq!(selection.names(), names);
                        self.selections.push(SelectionHeld { selection, names, token: Arc::downgrade(token) });
                    }
                    Err(error) => assert!(unknown && matches!(error, PortError::Lacks { .. }), "{error}"),
                }
            }
            Ask::Read { selection, more } => {
                let SelectionHeld { selection, names, token: of } = choose(&self.selections, selection)?;
                let mut values = vec![u64::MAX; names.len().saturating_add_signed(more.into())];
                let own = of.ptr_eq(&Arc::downgrade(token));
                match port.read_xstats(selection, &mut values) {
                    Ok(()) => {
                        assert!(own && values.len() >= names.len());
                        let counters = port.xstats().expect("the device counts");
                        for (name, value) in names.iter().zip(&values) {
                            let now = counters.iter().find(|counter| counter.name == *name).expect("it was there");
                            // Others may be receiving meanwhile.
                            assert!(now.value == *value || !context.is_quiet(), "{name}: {value}, then {}", now.value);
                        }
                        assert!(values.iter().skip(names.len()).all(|value| *value == u64::MAX));
                    }
                    Err(error @ PortError::Unsupported { .. }) => {
                        assert!(!own || values.len() < names.len(), "{error}");
                        assert!(values.iter().all(|value| *value == u64::MAX));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            Ask::Watch { event: number } => {
                let alive = Arc::new(());
                let closure = Arc::downgrade(&alive);
                let event = match number {
                    0 => PortEvent::NeedsReset,
                    1 => PortEvent::QueueState,
                    2 => PortEvent::Recovering,
                    3 => PortEvent::Recovered,
                    _ => PortEvent::RecoveryFailed,
                };
                let watch = port.on_event(event, move || {
                    let _ = &alive;
                });
                let watch = watch.expect("there is memory for it");
                assert_eq!(watch.port(), port.id());
                let known = EVENTS[usize::from(port.id().get())].fetch_or(1 << number, Ordering::SeqCst);
                if known >> number & 1 == 0 {
                    token.record.leaks.fetch_add(1, Ordering::SeqCst);
                }
                if !ANY_EVENT.swap(true, Ordering::SeqCst) {
                    context.heap_leaks.store(true, Ordering::SeqCst);
                }
                self.watches.push(WatchHeld { _watch: watch, closure, _token: Arc::clone(token) });
            }
        }
        Some(())
    }

    pub(crate) fn end_selection(&mut self, context: &Context, selection: u8, end: End) -> Option<()> {
        let place = pick(&self.selections, selection)?;
        end.apply(context, self.selections.remove(place));
        Some(())
    }

    pub(crate) fn end_watch(&mut self, context: &Context, watch: u8, end: End) -> Option<()> {
        let place = pick(&self.watches, watch)?;
        let held = self.watches.remove(place);
        let closure = held.closure.clone();
        end.apply(context, held);
        assert_eq!(closure.strong_count(), usize::from(matches!(end, End::Forget)), "closures that are left");
        Some(())
    }

    pub(crate) fn ask_rx(&mut self, queue: u8, offset: u16) -> Option<()> {
        let held = choose_mut(&mut self.rx, queue)?;
        lacks_or_none(held.queue.used_descriptors());
        lacks(held.queue.descriptor(offset));
        Some(())
    }

    pub(crate) fn ask_tx(&mut self, queue: u8, offset: u16) -> Option<()> {
        let held = choose_mut(&mut self.tx, queue)?;
        lacks(held.queue.descriptor(offset));
        lacks_or_none(held.queue.free_sent(offset.into()));
        Some(())
    }
}
