// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack and the others of its host do for each other.

use super::Stack;
use crate::config::Config;
use crate::demux::{Flow, Undelivered};
use crate::error::ConfigError;
use crate::group::{Member, Message, Steering};
use crate::link::Neighbor;
use crate::wire::Wire;

impl<W: Wire> Stack<W> {
    /// Stacks of one host, one for each wire, so that several lcores serve the same addresses. `steering` says which of them
    /// has which connection; that of [`Steering::of`] needs the wires in the order of the port's queues.
    ///
    /// Each stack is polled by its own thread, and has its own connections, listeners, limits and counters: to accept
    /// connections with all of them, listen on all of them. [`connect`](Self::connect) chooses a local port whose segments come
    /// to the stack that was asked. What comes to a stack and is another one's is passed on, so all of them must be polled:
    /// segments, datagrams for UDP ports that are bound by another stack only, ICMP messages, and what hosts say of their MAC
    /// addresses.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if an address, a length or a limit cannot be used, or if the steering is for another number of stacks.
    pub fn group(wires: Vec<W>, config: &Config, steering: Steering) -> Result<Vec<Self>, ConfigError> {
        let (stacks, count) = (steering.stacks(), wires.len());
        if stacks != count {
            return Err(ConfigError::Steering(stacks, count));
        }
        if config.dhcp || config.slaac {
            return Err(ConfigError::AutomaticGroup);
        }
        let members = Member::group(count, steering);
        let stack = |(wire, member)| Ok(Self { member: Some(member), ..Self::new(wire, config.clone())? });
        wires.into_iter().zip(members).map(stack).collect()
    }

    /// Whether the segments of a flow come to this stack.
    pub(super) fn is_own(&self, flow: Flow) -> bool {
        self.member.as_ref().is_none_or(|member| member.owner(flow).is_none())
    }

    /// The stack that has a flow, if that is another one, and if this one may pass on what it has got.
    pub(super) fn owner(&self, flow: Flow, others: usize) -> Option<usize> {
        self.member.as_ref().filter(|_| others > 0)?.owner(flow)
    }

    pub(super) fn pass_on(&mut self, to: usize, frame: W::Frame, others: usize) {
        let is_passed = self.member.as_ref().is_some_and(|member| member.send(to, Message::Frame(frame, others)));
        let counter = if is_passed { &mut self.counters.passed_on } else { &mut self.counters.not_passed_on };
        *counter += 1;
    }

    /// Passes on what an ICMP message says of another stack's segment. Returns whether it is one.
    pub(super) fn pass_undelivered(&self, segment: Undelivered, others: usize) -> bool {
        let owner = self.owner(segment.flow, others);
        if let (Some(member), Some(owner)) = (&self.member, owner) {
            member.send(owner, Message::Undelivered(segment));
        }
        owner.is_some()
    }

    /// Passes on what a host has said of itself.
    pub(super) fn share(&self, neighbor: Option<Neighbor>) {
        if let (Some(member), Some(neighbor)) = (&self.member, neighbor) {
            member.share(neighbor);
        }
    }

    /// Handles what the others have passed on. Returns the number of frames.
    pub(super) fn read_messages(&mut self) -> usize {
        let mut frames = 0;
        while frames < W::BURST && self.link.wire.has_room() {
            let Some(message) = self.member.as_ref().and_then(Member::receive) else { break };
            match message {
                Message::Frame(frame, others) => {
                    frames += 1;
                    self.frame(frame, others);
                }
                Message::Neighbor(neighbor) => self.link.heard(neighbor),
                Message::Undelivered(segment) => self.undelivered(segment, 0),
            }
        }
        frames
    }
}
