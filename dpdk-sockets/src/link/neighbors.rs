// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The hardware addresses of the hosts on the network, and the frames that wait for one.

use crate::time::Time;
use ahash::RandomState;
use core::net::IpAddr;
use smoltcp::wire::EthernetAddress;
use std::collections::HashMap;

/// An address that was not heard of for so long is asked for, at the host itself, when it is used.
const CONFIRM_AFTER: Time = Time::from_secs(45);

/// An address that was not heard of for so long is not used.
const LIFETIME: Time = Time::from_secs(60);

/// RFC 1122, section 2.3.2.1, and RFC 4861, section 10: at most one request a second for a host.
const ASK_AGAIN_AFTER: Time = Time::from_secs(1);

/// After so many requests without an answer, a host is not there (RFC 4861, section 10).
const MOST_REQUESTS: u32 = 3;

/// So many frames wait for an address. RFC 1122, section 2.3.2.2, wants one at least, the latest.
const MOST_WAITING: usize = 8;

#[derive(Debug)]
pub(crate) struct Neighbors<F> {
    entries: HashMap<IpAddr, Entry<F>, RandomState>,
    /// Those without an address.
    unresolved: Vec<IpAddr>,
}

#[derive(Debug)]
enum Entry<F> {
    Unresolved { waiting: Vec<F>, asked: Time, requests: u32 },
    Resolved { mac: EthernetAddress, heard: Time, asked: Option<Time> },
}

/// What to do with a frame.
pub(crate) enum Verdict<F> {
    /// Send it.
    Send(F, EthernetAddress),
    /// Send it, and ask the host whether it still has the address.
    Confirm(F, EthernetAddress),
    /// Ask all; the frame is kept.
    Ask,
    /// The frame is kept.
    Wait,
}

impl<F> Default for Neighbors<F> {
    fn default() -> Self {
        Self { entries: HashMap::default(), unresolved: Vec::new() }
    }
}

impl<F> Neighbors<F> {
    /// What to do with a frame for a host, and whether one that waited for it is dropped.
    pub(crate) fn send(&mut self, address: IpAddr, frame: F, now: Time) -> (Verdict<F>, bool) {
        match self.entries.get_mut(&address) {
            Some(Entry::Resolved { mac, heard, asked }) if now < *heard + LIFETIME => {
                let is_old = now >= *heard + CONFIRM_AFTER && asked.is_none_or(|asked| now >= asked + ASK_AGAIN_AFTER);
                if is_old {
                    *asked = Some(now);
                    return (Verdict::Confirm(frame, *mac), false);
                }
                (Verdict::Send(frame, *mac), false)
            }
            Some(Entry::Unresolved { waiting, .. }) => {
                let is_full = waiting.len() == MOST_WAITING;
                if is_full {
                    waiting.remove(0);
                }
                waiting.push(frame);
                (Verdict::Wait, is_full)
            }
            Some(Entry::Resolved { .. }) | None => {
                let entry = Entry::Unresolved { waiting: vec![frame], asked: now, requests: 1 };
                self.entries.insert(address, entry);
                self.unresolved.push(address);
                (Verdict::Ask, false)
            }
        }
    }

    /// A host has said which address it has. Only those are noted that were asked for. Returns the frames that waited.
    pub(crate) fn heard(&mut self, address: IpAddr, mac: EthernetAddress, now: Time) -> Vec<F> {
        let Some(entry) = self.entries.get_mut(&address) else { return Vec::new() };
        let resolved = Entry::Resolved { mac, heard: now, asked: None };
        match core::mem::replace(entry, resolved) {
            Entry::Unresolved { waiting, .. } => {
                self.unresolved.retain(|other| *other != address);
                waiting
            }
            Entry::Resolved { .. } => Vec::new(),
        }
    }

    /// The hosts to ask for again, those that are not there, and how many frames waited for these.
    pub(crate) fn maintain(&mut self, now: Time) -> (Vec<IpAddr>, Vec<IpAddr>, u64) {
        let (mut ask, mut gone, mut dropped) = (Vec::new(), Vec::new(), 0);
        self.unresolved.retain(|address| {
            let Some(Entry::Unresolved { waiting, asked, requests }) = self.entries.get_mut(address) else {
                return false;
            };
            if now < *asked + ASK_AGAIN_AFTER {
                return true;
            }
            if *requests == MOST_REQUESTS {
                dropped += waiting.len() as u64;
                self.entries.remove(address);
                gone.push(*address);
                return false;
            }
            (*asked, *requests) = (now, *requests + 1);
            ask.push(*address);
            true
        });
        (ask, gone, dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: IpAddr = IpAddr::V4(core::net::Ipv4Addr::new(192, 0, 2, 7));
    const MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 7]);

    const fn at(seconds: u64) -> Time {
        Time::from_secs(seconds)
    }

    #[test]
    fn frames_wait_until_the_host_answers() {
        let mut neighbors = Neighbors::default();
        assert!(matches!(neighbors.send(HOST, 1, at(0)), (Verdict::Ask, false)));
        assert!(matches!(neighbors.send(HOST, 2, at(0)), (Verdict::Wait, false)));
        assert_eq!(neighbors.heard(HOST, MAC, at(0)), [1, 2]);
        assert!(matches!(neighbors.send(HOST, 3, at(1)), (Verdict::Send(3, MAC), false)));
    }

    #[test]
    fn the_latest_frames_wait() {
        let mut neighbors = Neighbors::default();
        let dropped = (0..10).filter(|frame| neighbors.send(HOST, *frame, at(0)).1).count();
        assert_eq!((dropped, neighbors.heard(HOST, MAC, at(0))), (2, (2..10).collect()));
    }

    #[test]
    fn a_host_that_is_not_there_is_asked_for_three_times() {
        let mut neighbors = Neighbors::default();
        neighbors.send(HOST, 1, at(0));
        assert_eq!(neighbors.maintain(Time::from_millis(999)), (vec![], vec![], 0));
        assert_eq!(neighbors.maintain(at(1)), (vec![HOST], vec![], 0));
        assert_eq!(neighbors.maintain(at(2)), (vec![HOST], vec![], 0));
        assert_eq!(neighbors.maintain(at(3)), (vec![], vec![HOST], 1));
        assert_eq!(neighbors.maintain(at(9)), (vec![], vec![], 0));
        assert!(matches!(neighbors.send(HOST, 2, at(10)), (Verdict::Ask, false)));
    }

    #[test]
    fn an_address_is_confirmed_before_it_is_too_old() {
        let mut neighbors = Neighbors::default();
        neighbors.send(HOST, 1, at(0));
        neighbors.heard(HOST, MAC, at(0));
        assert!(matches!(neighbors.send(HOST, 2, at(44)), (Verdict::Send(..), false)));
        assert!(matches!(neighbors.send(HOST, 3, at(45)), (Verdict::Confirm(3, MAC), false)));
        assert!(matches!(neighbors.send(HOST, 4, at(45)), (Verdict::Send(..), false)), "once a second");
        neighbors.heard(HOST, MAC, at(46));
        assert!(matches!(neighbors.send(HOST, 5, at(61)), (Verdict::Send(..), false)));
        assert!(matches!(neighbors.send(HOST, 6, at(106)), (Verdict::Ask, false)));
    }

    #[test]
    fn nobody_fills_the_table_unasked() {
        let mut neighbors = Neighbors::<u8>::default();
        assert!(neighbors.heard(HOST, MAC, at(0)).is_empty());
        assert!(matches!(neighbors.send(HOST, 1, at(0)), (Verdict::Ask, false)));
    }
}
