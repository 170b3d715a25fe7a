// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The hardware addresses of the hosts on the network, and the frames that wait for one.

use crate::time::Time;
use ahash::RandomState;
use core::net::IpAddr;
use smoltcp::wire::EthernetAddress;
use std::collections::{HashMap, VecDeque};

/// An address that was not heard of for so long is asked for, at the host itself, when it is used.
const CONFIRM_AFTER: Time = Time::from_secs(45);

/// An address that was not heard of for so long is not used.
const LIFETIME: Time = Time::from_secs(60);

/// RFC 1122, section 2.3.2.1, and RFC 4861, section 10: at most one request a second for a host.
const ASK_AGAIN_AFTER: Time = Time::from_secs(1);

/// After so many requests without an answer, a host is not there (RFC 4861, section 10).
const MOST_REQUESTS: u32 = 3;

/// At most so many frames wait for one address: as many connections can be opened at once with a host that is not known yet. RFC
/// 1122, section 2.3.2.2, wants one at least, the latest.
const MOST_WAITING: usize = 64;

/// At most so many frames wait in all, so that made-up addresses do not take all mbufs.
const MOST_WAITING_IN_ALL: usize = 512;

/// At most so many hosts are asked for at a time, so that made-up addresses do not take all memory (RFC 6583).
const MOST_ASKED: usize = 1_024;

#[derive(Debug)]
pub(crate) struct Neighbors<F> {
    entries: HashMap<IpAddr, Entry<F>, RandomState>,
    /// Those without an address.
    unresolved: Vec<IpAddr>,
    /// How many frames wait for them.
    waiting: usize,
}

#[derive(Debug)]
enum Entry<F> {
    Unresolved { waiting: VecDeque<F>, asked: Time, requests: u32 },
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
        Self { entries: HashMap::default(), unresolved: Vec::new(), waiting: 0 }
    }
}

impl<F> Neighbors<F> {
    /// What to do with a frame for a host, and whether it, or one that waited for the host, is dropped.
    pub(crate) fn send(&mut self, address: IpAddr, frame: F, now: Time) -> (Verdict<F>, bool) {
        let is_full = self.waiting == MOST_WAITING_IN_ALL;
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
                let is_full = is_full || waiting.len() == MOST_WAITING;
                if !is_full {
                    self.waiting += 1;
                } else if waiting.pop_front().is_none() {
                    return (Verdict::Wait, true);
                }
                waiting.push_back(frame);
                (Verdict::Wait, is_full)
            }
            Some(Entry::Resolved { .. }) | None if self.unresolved.len() >= MOST_ASKED => (Verdict::Wait, true),
            Some(Entry::Resolved { .. }) | None => {
                let waiting: VecDeque<F> = (!is_full).then_some(frame).into_iter().collect();
                self.waiting += waiting.len();
                let entry = Entry::Unresolved { waiting, asked: now, requests: 1 };
                self.entries.insert(address, entry);
                self.unresolved.push(address);
                (Verdict::Ask, is_full)
            }
        }
    }

    /// A host has said which address it has. Only those are noted that were asked for. Returns the frames that waited.
    pub(crate) fn heard(&mut self, address: IpAddr, mac: EthernetAddress, now: Time) -> VecDeque<F> {
        let Some(entry) = self.entries.get_mut(&address) else { return VecDeque::new() };
        let resolved = Entry::Resolved { mac, heard: now, asked: None };
        match core::mem::replace(entry, resolved) {
            Entry::Unresolved { waiting, .. } => {
                self.unresolved.retain(|other| *other != address);
                self.waiting -= waiting.len();
                waiting
            }
            Entry::Resolved { .. } => VecDeque::new(),
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
                self.waiting -= waiting.len();
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
        let dropped = (0..66).filter(|frame| neighbors.send(HOST, *frame, at(0)).1).count();
        assert_eq!((dropped, neighbors.heard(HOST, MAC, at(0))), (2, (2..66).collect()));
    }

    #[test]
    fn hosts_that_are_not_there_do_not_take_all_mbufs() {
        let mut neighbors = Neighbors::default();
        let host = |number: usize| IpAddr::V6(core::net::Ipv6Addr::from_bits(number as u128));
        let dropped = (0..600).filter(|frame| neighbors.send(host(*frame), *frame, at(0)).1).count();
        assert_eq!(dropped, 88);
        assert!(matches!(neighbors.send(host(0), 1_000, at(0)), (Verdict::Wait, true)));
        assert!(matches!(neighbors.send(host(599), 1_001, at(0)), (Verdict::Wait, true)));
        assert_eq!(
            (neighbors.heard(host(0), MAC, at(0)), neighbors.heard(host(599), MAC, at(0))),
            ([1_000].into(), [].into())
        );
        assert!(matches!(neighbors.send(host(599), 1, at(0)), (Verdict::Send(1, MAC), false)));
        assert!(matches!(neighbors.send(host(700), 2, at(0)), (Verdict::Ask, false)), "one has left");
        let lost: u64 = (1..5).map(|second| neighbors.maintain(at(second)).2).sum();
        assert_eq!((lost, neighbors.waiting), (512, 0));
    }

    #[test]
    fn hosts_that_are_not_there_do_not_take_all_memory() {
        let mut neighbors = Neighbors::default();
        let host = |number: usize| IpAddr::V6(core::net::Ipv6Addr::from_bits(number as u128));
        neighbors.send(HOST, 0, at(0));
        neighbors.heard(HOST, MAC, at(0));
        let asked = (0..5_000).filter(|frame| matches!(neighbors.send(host(*frame), *frame, at(1)).0, Verdict::Ask));
        assert_eq!((asked.count(), neighbors.entries.len()), (1_024, 1_025));
        assert!(matches!(neighbors.send(HOST, 1, at(2)), (Verdict::Send(1, MAC), false)), "others are reached");
        assert!(matches!(neighbors.send(host(4_999), 2, at(2)), (Verdict::Wait, true)));
        let gone: usize = (2..5).map(|second| neighbors.maintain(at(second)).1.len()).sum();
        assert_eq!((gone, neighbors.entries.len()), (1_024, 1));
        assert!(matches!(neighbors.send(host(4_999), 3, at(5)), (Verdict::Ask, false)));
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
