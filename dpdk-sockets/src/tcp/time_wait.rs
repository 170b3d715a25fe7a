// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TIME-WAIT (RFC 9293, section 3.4.2) of a connection whose socket is gone: two sequence numbers and a time.

use super::Reply;
use crate::demux::{Flow, Segment};
use crate::time::Time;
use ahash::RandomState;
use smoltcp::wire::TcpSeqNumber;
use std::collections::{HashMap, VecDeque};

/// What a segment of a flow in TIME-WAIT leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It opens a new connection: TIME-WAIT of the old one is over. The new one's numbers begin here or later.
    Opens(TcpSeqNumber),
    /// It is answered.
    Answered(Reply),
    /// It is ignored.
    Ignored,
}

/// All flows in TIME-WAIT.
#[derive(Debug)]
pub(crate) struct TimeWait {
    /// The hash is keyed with random numbers, since the peers choose the flows.
    flows: HashMap<Flow, Ended, RandomState>,
    /// In the order of their deadlines. A flow whose deadline was moved is in here several times, until there are twice as many
    /// entries as there may be flows.
    deadlines: VecDeque<(Time, Flow)>,
    duration: Time,
    most: usize,
}

#[derive(Debug)]
struct Ended {
    next_to_send: TcpSeqNumber,
    next_expected: TcpSeqNumber,
    deadline: Time,
}

impl TimeWait {
    /// `most` flows at a time, each for this long. If there are more, the oldest are forgotten.
    pub(crate) fn new(duration: Time, most: usize) -> Self {
        Self { flows: HashMap::default(), deadlines: VecDeque::new(), duration, most }
    }

    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    pub(crate) fn contains(&self, flow: Flow) -> bool {
        self.flows.contains_key(&flow)
    }

    pub(crate) fn insert(&mut self, flow: Flow, next_to_send: TcpSeqNumber, next_expected: TcpSeqNumber, now: Time) {
        let deadline = now + self.duration;
        self.flows.insert(flow, Ended { next_to_send, next_expected, deadline });
        self.push(deadline, flow);
        while self.flows.len() > self.most {
            self.forget_first();
        }
    }

    fn push(&mut self, deadline: Time, flow: Flow) {
        if self.deadlines.len() >= 2 * self.most {
            self.deadlines
                .retain(|(deadline, flow)| self.flows.get(flow).is_some_and(|ended| ended.deadline == *deadline));
        }
        self.deadlines.push_back((deadline, flow));
    }

    /// Forgets the flows whose time is over.
    pub(crate) fn expire(&mut self, now: Time) {
        while self.deadlines.front().is_some_and(|(deadline, _)| *deadline <= now) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        let Some((deadline, flow)) = self.deadlines.pop_front() else { return };
        if self.flows.get(&flow).is_some_and(|ended| ended.deadline == deadline) {
            self.flows.remove(&flow);
        }
    }

    /// What a segment leads to, or `None` if its flow is not in TIME-WAIT.
    pub(crate) fn arrived(&mut self, segment: &Segment<'_>, now: Time) -> Option<Arrival> {
        let deadline = now + self.duration;
        let ended = self.flows.get_mut(&segment.flow)?;
        // RFC 1337: a reset does not end TIME-WAIT.
        if segment.rst {
            return Some(Arrival::Ignored);
        }
        // RFC 1122, section 4.2.2.13: a number above all that the old connection received is of a new one.
        if segment.syn && segment.ack.is_none() && segment.seq >= ended.next_expected {
            let first = ended.next_to_send;
            self.flows.remove(&segment.flow);
            return Some(Arrival::Opens(first));
        }
        if !segment.fin && segment.len() == 0 && segment.seq == ended.next_expected {
            return Some(Arrival::Ignored);
        }
        let reply = Reply::acknowledge(segment.flow, ended.next_to_send, ended.next_expected, 0);
        // RFC 9293, section 3.10.7.4: the peer's FIN again restarts the time.
        if segment.fin && deadline > ended.deadline {
            ended.deadline = deadline;
            self.push(deadline, segment.flow);
        }
        Some(Arrival::Answered(reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: TcpSeqNumber = TcpSeqNumber(i32::MAX);

    const fn at(seconds: u64) -> Time {
        Time::from_secs(seconds)
    }

    fn flow(port: u16) -> Flow {
        Flow::new(([192, 0, 2, 1], 80).into(), ([192, 0, 2, 2], port).into())
    }

    /// The peer's last number is `NUMBER`.
    fn one_flow() -> TimeWait {
        let mut waiting = TimeWait::new(at(60), 3);
        waiting.insert(flow(1), TcpSeqNumber(7), NUMBER, at(0));
        waiting
    }

    fn segment(seq: TcpSeqNumber) -> Segment<'static> {
        Segment {
            packet: &[],
            payload: 0,
            flow: flow(1),
            seq,
            ack: Some(TcpSeqNumber(7)),
            window: 0,
            syn: false,
            fin: false,
            rst: false,
        }
    }

    #[test]
    fn a_fin_again_is_acknowledged_and_restarts_the_time() {
        let mut waiting = one_flow();
        let answer = waiting.arrived(&Segment { fin: true, ..segment(NUMBER - 1) }, at(59));
        let reply = Reply::acknowledge(flow(1), TcpSeqNumber(7), NUMBER, 0);
        assert_eq!(answer, Some(Arrival::Answered(reply)));
        waiting.expire(at(118));
        assert_eq!(waiting.len(), 1);
        waiting.expire(at(119));
        assert_eq!(waiting.len(), 0);
        assert_eq!(waiting.arrived(&segment(NUMBER), at(119)), None);
    }

    #[test]
    fn repeated_fins_take_no_more_memory() {
        let mut waiting = one_flow();
        let fin = Segment { fin: true, ..segment(NUMBER - 1) };
        for micros in 0..10_000 {
            waiting.arrived(&fin, Time::from_micros(micros / 2));
            assert!(waiting.deadlines.len() <= 6, "{} entries of 3 flows", waiting.deadlines.len());
        }
        waiting.insert(flow(2), TcpSeqNumber(7), NUMBER, at(1));
        waiting.expire(Time::from_micros(60_004_998));
        assert_eq!(waiting.len(), 2);
        waiting.expire(Time::from_micros(60_004_999));
        assert_eq!((waiting.len(), waiting.contains(flow(1))), (1, false));
    }

    #[test]
    fn a_reset_is_ignored_and_data_are_not_accepted() {
        let mut waiting = one_flow();
        assert_eq!(waiting.arrived(&Segment { rst: true, ..segment(NUMBER) }, at(1)), Some(Arrival::Ignored));
        assert_eq!(waiting.arrived(&segment(NUMBER), at(1)), Some(Arrival::Ignored));
        let data = Segment { payload: 5, ..segment(NUMBER) };
        assert!(matches!(waiting.arrived(&data, at(1)), Some(Arrival::Answered(_))));
    }

    #[test]
    fn only_a_higher_number_opens_a_new_connection() {
        let mut waiting = one_flow();
        let syn = |seq| Segment { syn: true, ack: None, ..segment(seq) };
        for number in [NUMBER - 1, NUMBER - 1_000_000] {
            assert!(matches!(waiting.arrived(&syn(number), at(1)), Some(Arrival::Answered(_))));
        }
        let opens = Arrival::Opens(TcpSeqNumber(7));
        assert_eq!(waiting.arrived(&syn(NUMBER + 5), at(1)), Some(opens), "numbers wrap");
        assert!(!waiting.contains(flow(1)));
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_are_too_many() {
        let mut waiting = one_flow();
        for port in 2..=4 {
            waiting.insert(flow(port), TcpSeqNumber(7), NUMBER, at(u64::from(port)));
        }
        assert_eq!((waiting.len(), waiting.contains(flow(1)), waiting.contains(flow(4))), (3, false, true));
        waiting.expire(at(100));
        assert_eq!(waiting.len(), 0);
    }
}
