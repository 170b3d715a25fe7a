// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several stacks of one host: which of them has a connection, and what they pass to each other.
//!
#![doc = include_str!("../../docs/cores.md")]

mod steering;

use crate::demux::{Flow, Undelivered};
use crate::link::Neighbor;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
pub use steering::Steering;

/// At most so many messages wait for a stack.
const MOST_WAITING: usize = 256;

/// What one stack passes to another.
pub(crate) enum Message<F> {
    /// A received frame, and how many more stacks it may be passed to.
    Frame(F, usize),
    /// What a host has said of itself.
    Neighbor(Neighbor),
    /// What an ICMP message says.
    Undelivered(Undelivered),
}

/// A stack's place in its group.
pub(crate) struct Member<F> {
    number: usize,
    steering: Arc<Steering>,
    /// The ways to all members.
    members: Vec<SyncSender<Message<F>>>,
    messages: Receiver<Message<F>>,
}

impl<F> Member<F> {
    /// The members of a group, in their order.
    pub(crate) fn group(count: usize, steering: Steering) -> Vec<Self> {
        let steering = Arc::new(steering);
        let (members, messages): (Vec<_>, Vec<_>) = (0..count).map(|_| sync_channel(MOST_WAITING)).unzip();
        let member = |(number, messages)| {
            let (steering, members) = (Arc::clone(&steering), members.clone());
            Self { number, steering, members, messages }
        };
        messages.into_iter().enumerate().map(member).collect()
    }

    /// How many others there are.
    pub(crate) fn others(&self) -> usize {
        self.members.len() - 1
    }

    /// The member that has a flow, if that is another one.
    pub(crate) fn owner(&self, flow: Flow) -> Option<usize> {
        let owner = self.steering.stack(flow.local(), flow.remote());
        (owner != self.number).then_some(owner)
    }

    /// The member after this one.
    pub(crate) fn next(&self) -> usize {
        (self.number + 1) % self.members.len()
    }

    /// Passes a message to a member. Returns whether that has room for it.
    pub(crate) fn send(&self, to: usize, message: Message<F>) -> bool {
        self.members.get(to).is_some_and(|member| member.try_send(message).is_ok())
    }

    /// Passes on what a host has said of itself. Who has no room for it asks the host again.
    pub(crate) fn share(&self, neighbor: Neighbor) {
        for number in (0..self.members.len()).filter(|number| *number != self.number) {
            self.send(number, Message::Neighbor(neighbor));
        }
    }

    /// The oldest message of another member.
    pub(crate) fn receive(&self) -> Option<Message<F>> {
        self.messages.try_recv().ok()
    }
}
