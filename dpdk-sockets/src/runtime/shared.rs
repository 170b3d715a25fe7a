// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the sockets, tasks and timers of one runtime share.

use super::tasks::Tasks;
use super::timers::Timers;
use crate::event::{ConnectionId, Event, ListenerId, UdpId};
use crate::stack::Calls;
use core::cell::{Cell, RefCell};
use core::task::Waker;
use slotmap::SecondaryMap;
use std::collections::VecDeque;
use std::rc::Rc;

/// A runtime whose wire is not named.
pub(super) type Handle = Rc<Shared<dyn Calls>>;

/// Nothing borrows these cells while a task is polled, a waker is woken or either is dropped: all of them may call
/// back.
pub(super) struct Shared<S: ?Sized> {
    pub(super) tasks: Tasks,
    pub(super) timers: RefCell<Timers>,
    pub(super) waits: Waits,
    /// Whether listeners are closed.
    pub(super) is_ending: Cell<bool>,
    pub(super) stack: RefCell<S>,
}

impl<S> Shared<S> {
    pub(super) fn new(stack: S) -> Self {
        Self {
            tasks: Tasks::default(),
            timers: RefCell::default(),
            waits: Waits::default(),
            is_ending: Cell::new(false),
            stack: RefCell::new(stack),
        }
    }
}

/// Who waits for which socket.
#[derive(Default)]
pub(super) struct Waits {
    connections: RefCell<SecondaryMap<ConnectionId, Directions>>,
    listeners: RefCell<SecondaryMap<ListenerId, Accepting>>,
    udp: RefCell<SecondaryMap<UdpId, Vec<Waker>>>,
    addresses: RefCell<Vec<Waker>>,
}

/// Who waits for a connection: the last one for each direction.
#[derive(Default)]
struct Directions {
    read: Option<Waker>,
    write: Option<Waker>,
}

/// Connections that nobody has accepted, and who waits for them.
#[derive(Default)]
struct Accepting {
    connections: VecDeque<ConnectionId>,
    wakers: Vec<Waker>,
}

/// What a task waits for.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    Read,
    Write,
}

impl Directions {
    const fn of(&mut self, direction: Direction) -> &mut Option<Waker> {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }
}

impl Waits {
    pub(super) fn connection(&self, id: ConnectionId) {
        self.connections.borrow_mut().insert(id, Directions::default());
    }

    pub(super) fn remove_connection(&self, id: ConnectionId) {
        let directions = self.connections.borrow_mut().remove(id);
        drop(directions);
    }

    /// The next event of this direction wakes the task.
    pub(super) fn wait(&self, id: ConnectionId, direction: Direction, waker: &Waker) {
        let mut connections = self.connections.borrow_mut();
        let Some(directions) = connections.get_mut(id) else { return };
        let before = directions.of(direction).replace(waker.clone());
        drop(connections);
        drop(before);
    }

    fn wake(&self, id: ConnectionId, direction: Direction) {
        let waker = self.connections.borrow_mut().get_mut(id).and_then(|directions| directions.of(direction).take());
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn listener(&self, id: ListenerId) {
        self.listeners.borrow_mut().insert(id, Accepting::default());
    }

    /// The connections that nobody has accepted.
    pub(super) fn remove_listener(&self, id: ListenerId) -> VecDeque<ConnectionId> {
        let accepting = self.listeners.borrow_mut().remove(id);
        accepting.map(|accepting| accepting.connections).unwrap_or_default()
    }

    pub(super) fn accept(&self, id: ListenerId) -> Option<ConnectionId> {
        self.listeners.borrow_mut().get_mut(id)?.connections.pop_front()
    }

    pub(super) fn wait_for_connections(&self, id: ListenerId, waker: &Waker) {
        if let Some(accepting) = self.listeners.borrow_mut().get_mut(id) {
            register(&mut accepting.wakers, waker);
        }
    }

    /// Returns whether there is such a listener.
    fn accepted(&self, listener: ListenerId, id: ConnectionId) -> bool {
        let mut listeners = self.listeners.borrow_mut();
        let Some(accepting) = listeners.get_mut(listener) else { return false };
        accepting.connections.push_back(id);
        let mut wakers = core::mem::take(&mut accepting.wakers);
        drop(listeners);
        self.connection(id);
        wakers.drain(..).for_each(Waker::wake);
        // For its capacity, if nobody else waits meanwhile.
        if let Some(accepting) = self.listeners.borrow_mut().get_mut(listener)
            && accepting.wakers.is_empty()
        {
            accepting.wakers = wakers;
        }
        true
    }

    pub(super) fn listeners(&self) -> Vec<ListenerId> {
        self.listeners.borrow().keys().collect()
    }

    pub(super) fn wake_listener(&self, id: ListenerId) {
        let wakers = self.listeners.borrow_mut().get_mut(id).map(|accepting| core::mem::take(&mut accepting.wakers));
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    pub(super) fn udp(&self, id: UdpId) {
        self.udp.borrow_mut().insert(id, Vec::new());
    }

    pub(super) fn remove_udp(&self, id: UdpId) {
        let wakers = self.udp.borrow_mut().remove(id);
        drop(wakers);
    }

    pub(super) fn wait_for_datagrams(&self, id: UdpId, waker: &Waker) {
        if let Some(wakers) = self.udp.borrow_mut().get_mut(id) {
            register(wakers, waker);
        }
    }

    fn datagram(&self, id: UdpId) {
        let Some(mut wakers) = self.udp.borrow_mut().get_mut(id).map(core::mem::take) else { return };
        wakers.drain(..).for_each(Waker::wake);
        if let Some(place) = self.udp.borrow_mut().get_mut(id)
            && place.is_empty()
        {
            *place = wakers;
        }
    }

    pub(super) fn wait_for_addresses(&self, waker: &Waker) {
        register(&mut self.addresses.borrow_mut(), waker);
    }

    /// Wakes whoever waits for this event. Returns a connection that nobody accepts any more.
    pub(super) fn event(&self, event: Event) -> Option<ConnectionId> {
        match event {
            Event::Accepted(listener, id) if !self.accepted(listener, id) => return Some(id),
            Event::Accepted(..) => (),
            Event::Readable(id) => self.wake(id, Direction::Read),
            Event::Connected(id) | Event::Writable(id) => self.wake(id, Direction::Write),
            Event::Ended(id, _) => {
                self.wake(id, Direction::Read);
                self.wake(id, Direction::Write);
            }
            Event::Datagram(id) => self.datagram(id),
            Event::Addresses => self.addresses.take().into_iter().for_each(Waker::wake),
        }
        None
    }
}

/// All of these are woken, each once.
fn register(wakers: &mut Vec<Waker>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

/// Until this is dropped, a runtime is this thread's.
pub(super) struct Entered(Option<Handle>);

impl Entered {
    pub(super) fn new(runtime: Handle) -> Self {
        Self(CURRENT.replace(Some(runtime)))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let left = CURRENT.replace(self.0.take());
        drop(left);
    }
}

/// The runtime that runs on this thread.
pub(super) fn try_current() -> Option<Handle> {
    CURRENT.with_borrow(Clone::clone)
}

/// The runtime that runs on this thread, for calls that cannot return an error.
#[track_caller]
#[allow(clippy::panic, reason = "as in tokio: these calls return a future, and to drop it silently would be worse")]
pub(super) fn current() -> Handle {
    match try_current() {
        Some(runtime) => runtime,
        None => panic!("no runtime runs on this thread: call this in a task, or in Runtime::block_on"),
    }
}
