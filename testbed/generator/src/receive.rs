// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The receiving side of a stream: every byte of every frame is checked.

use crate::{
    addresses::FieldSequence,
    frame::{ExpectedMacs, HEAD_LEN, LEAST_LEN_MAX, Mixture, Series, Stamp, Template},
    latency::LatencyRecorder,
    neighbours::Neighbour,
    outage::OutageWatch,
    queues::Queues,
    sequence::SequenceTracker,
    transmit::BURST_MAX,
};
use dpdk_rs::{Burst, Clock, Packet, RxQueue, Tsc};

/// Receives the frames of one stream.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) queues: Queues<RxQueue>,
    pub(crate) burst: Burst<(), BURST_MAX>,
    /// The maximum number of frames to receive at once.
    pub(crate) most: usize,
    pub(crate) judge: Judge,
    /// What it answers to a device that asks for addresses.
    pub(crate) neighbour: Neighbour,
    /// When the last frame of the stream arrived.
    pub(crate) last: Option<Tsc>,
    pub(crate) outage: OutageWatch,
}

impl Receiver {
    /// Receives one burst; `sent` frames have been sent so far, and `failed` refused.
    ///
    /// Returns the number of frames received.
    #[inline]
    pub(crate) fn poll(&mut self, clock: Clock, sent: u64, failed: u64) -> usize {
        let Some(queue) = self.queues.take_turn() else { return 0 };
        let count = queue.rx_up_to(&mut self.burst, self.most);
        if count == 0 {
            return 0;
        }
        let now = clock.now();
        let before = self.judge.received();
        self.judge.frames(&self.burst, sent, now);
        let new = self.judge.received() - before;
        if new > 0 {
            self.last = Some(now);
            self.outage.arrived(now, failed + self.judge.tracker.passed_over());
        }
        if new < count as u64 {
            // A question is no foreign frame.
            self.judge.foreign = self.judge.foreign.saturating_sub(self.consider());
        }
        self.burst.clear();
        count
    }

    /// Makes answers to the questions in the burst; returns their number.
    #[cold]
    pub(crate) fn consider(&mut self) -> u64 {
        self.burst.iter().map(|packet| u64::from(self.neighbour.consider(packet))).sum()
    }
}

/// Frames in a row with the same time stamp.
#[derive(Default)]
struct Run {
    time: u64,
    count: u64,
}

impl Run {
    #[inline(always)]
    fn add(&mut self, latency: &mut LatencyRecorder, now: Tsc, time: u64, count: u64) {
        if time != self.time {
            self.end(latency, now);
            *self = Self { time, count: 0 };
        }
        self.count += count;
    }

    #[inline]
    fn end(&self, latency: &mut LatencyRecorder, now: Tsc) {
        latency.record(now.since(Tsc::from_cycles(self.time)), self.count);
    }
}

/// Checks and counts each frame.
#[derive(Debug)]
pub(crate) struct Judge {
    series: Series,
    /// The frames of a stream with several lengths.
    mixture: Option<Mixture>,
    probe: Template,
    fields: FieldSequence,
    macs: ExpectedMacs,
    pub(crate) tracker: SequenceTracker,
    pub(crate) latency: LatencyRecorder,
    pub(crate) corrupted: u64,
    pub(crate) wrong_mac: u64,
    pub(crate) foreign: u64,
    pub(crate) probes: u64,
    /// When a gap was last found, since [`Self::watch_from`].
    pub(crate) last_gap: Option<Tsc>,
}

impl Judge {
    pub(crate) fn new(
        template: Template,
        fields: FieldSequence,
        macs: ExpectedMacs,
        tracker: SequenceTracker,
        latency: LatencyRecorder,
    ) -> Self {
        let probe = template.probe();
        let series = Series::new(template, fields.clone());
        Self {
            series,
            mixture: None,
            probe,
            fields,
            macs,
            tracker,
            latency,
            corrupted: 0,
            wrong_mac: 0,
            foreign: 0,
            probes: 0,
            last_gap: None,
        }
    }

    /// Sets the frames of a stream with several lengths. `new` takes the template of the longest, which probes use.
    pub(crate) fn with_mixture(self, mixture: Option<Mixture>) -> Self {
        Self { mixture, ..self }
    }

    /// Frames of the stream, whole or not.
    pub(crate) const fn received(&self) -> u64 {
        self.tracker.counts().frames + self.corrupted
    }

    /// Frames of the stream without duplicates.
    pub(crate) const fn unique(&self) -> u64 {
        self.received() - self.tracker.counts().duplicated
    }

    pub(crate) const fn macs_are_checked(&self) -> bool {
        self.macs.is_checked()
    }

    /// Records gaps from now on, among the frames from `number` on.
    pub(crate) const fn watch_from(&mut self, number: u64) {
        self.tracker.watch_from(number);
        self.last_gap = None;
    }

    /// Counts frames that arrived at `now`, and their latencies; `sent` frames have been sent so far.
    #[inline]
    pub(crate) fn frames(&mut self, packets: &[Packet], sent: u64, now: Tsc) {
        let more = self.series.template().head_at() > 0;
        match (self.mixture.is_some(), more) {
            (false, false) => self.frames_in_rows::<false>(packets, sent, now),
            (false, true) => self.frames_with_more(packets, sent, now),
            (true, false) => self.frames_one_by_one::<false>(packets, sent, now),
            (true, true) => self.frames_one_by_one::<true>(packets, sent, now),
        }
    }

    /// As `frames`, for frames with more headers; separate, so that frames without pay nothing for them.
    #[inline(never)]
    fn frames_with_more(&mut self, packets: &[Packet], sent: u64, now: Tsc) {
        self.frames_in_rows::<true>(packets, sent, now);
    }

    /// As `frames`, for frames of one length. `MORE`: whether their head may begin later than they.
    #[inline(always)]
    fn frames_in_rows<const MORE: bool>(&mut self, packets: &[Packet], sent: u64, now: Tsc) {
        let mut run = Run::default();
        let mut packets = packets;
        let passed_over = self.tracker.passed_over();
        while let [packet, rest @ ..] = packets {
            let (time, count) = self.frames_in_order::<MORE>(packets, sent);
            if count > 0 {
                run.add(&mut self.latency, now, time, count as u64);
                packets = packets.split_at(count).1;
                continue;
            }
            if let Some(time) = self.frame::<MORE>(packet, sent) {
                run.add(&mut self.latency, now, time, 1);
            }
            packets = rest;
        }
        run.end(&mut self.latency, now);
        if self.tracker.passed_over() != passed_over {
            self.last_gap = Some(now);
        }
    }

    /// As `frames`, for several lengths.
    #[inline(never)]
    fn frames_one_by_one<const MORE: bool>(&mut self, packets: &[Packet], sent: u64, now: Tsc) {
        let mut run = Run::default();
        let passed_over = self.tracker.passed_over();
        for packet in packets {
            if let Some(time) = self.frame::<MORE>(packet, sent) {
                run.add(&mut self.latency, now, time, 1);
            }
        }
        run.end(&mut self.latency, now);
        if self.tracker.passed_over() != passed_over {
            self.last_gap = Some(now);
        }
    }

    /// Counts the first of `packets`, as long as they are whole, consecutive, and have one time stamp. The first may follow a
    /// gap.
    ///
    /// Returns the time stamp and their number.
    #[inline]
    fn frames_in_order<const MORE: bool>(&mut self, packets: &[Packet], sent: u64) -> (u64, usize) {
        let head_at = if MORE { self.series.template().head_at() } else { 0 };
        let first = packets.first().and_then(|packet| packet.data().get(head_at..)?.first_chunk());
        let stamp = first.and_then(|head| self.series.template().identify(head));
        let Some(stamp) = stamp.filter(|stamp| (self.tracker.next()..sent).contains(&stamp.sequence)) else {
            return (0, 0);
        };
        let (mut heads, most) = self.series.heads(stamp);
        let most = usize::try_from(most.min(sent - stamp.sequence)).unwrap_or(usize::MAX);
        let template = self.series.template();
        let (len, pattern, macs) = (template.len(), template.pattern(), self.macs);
        let mut count = 0;
        for packet in packets.get(..most).unwrap_or(packets) {
            let data = packet.data();
            let Some((head, rest)) = data.get(head_at..).and_then(<[u8]>::split_first_chunk) else { break };
            let start = if MORE { data.first_chunk().unwrap_or(head) } else { head };
            let fits = data.len() == len && packet.len() == len && (!MORE || template.headers_match(data));
            if !fits || !heads.matches(head) || !macs.matches(start) || !(pattern.is_empty() || rest == pattern) {
                break;
            }
            count += 1;
            heads.step();
        }
        if count > 0 {
            self.tracker.note_from(stamp.sequence, count as u64);
        }
        (stamp.time, count)
    }

    /// Counts a frame. Returns its time stamp if it is whole, even if its MAC addresses are wrong.
    #[inline]
    pub(crate) fn frame<const MORE: bool>(&mut self, packet: &Packet, sent: u64) -> Option<u64> {
        let data = packet.data();
        match data.split_first_chunk() {
            Some((head, rest)) if !MORE && data.len() == packet.len() => {
                // The shortest frames have no pattern: skip the call.
                self.judge::<MORE>(head, head, sent, |due| {
                    let pattern = due.pattern();
                    rest.len() == pattern.len() && (rest.is_empty() || rest == pattern)
                })
            }
            _ => self.frame_in_parts::<MORE>(packet, sent),
        }
    }

    /// Counts a frame that is in segments or has more headers.
    #[inline(never)]
    fn frame_in_parts<const MORE: bool>(&mut self, packet: &Packet, sent: u64) -> Option<u64> {
        let start = Start::of(packet);
        let Some((first, head)) = start.first_and_head(self.series.template().head_at()) else {
            self.foreign += 1;
            return None;
        };
        self.judge::<MORE>(first, head, sent, |due| start.continues_as(due, packet))
    }

    /// Counts a frame that does not belong to the stream: a late probe, or a foreign frame.
    #[cold]
    fn judge_other(&mut self, head: &[u8; HEAD_LEN], matches: impl FnOnce(&Template) -> bool) {
        let whole = self.probe.identify(head).is_some_and(|stamp| {
            let fields = self.fields.fields_of(stamp.sequence);
            self.probe.head_matches::<true>(head, fields, stamp) && matches(&self.probe)
        });
        if whole {
            self.probes += 1;
        } else {
            self.foreign += 1;
        }
    }

    /// Counts a frame if it is a probe of this stream.
    pub(crate) fn note_probe(&mut self, packet: &Packet) {
        let foreign = self.foreign;
        let start = Start::of(packet);
        if let Some((_, head)) = start.first_and_head(self.series.template().head_at()) {
            self.judge_other(head, |due| start.continues_as(due, packet));
        }
        self.foreign = foreign;
    }

    /// Counts the frame that begins with `first` and has this head, which is the same without more headers; `matches` compares
    /// its other bytes with those of a template.
    #[inline(always)]
    fn judge<const MORE: bool>(
        &mut self,
        first: &[u8; HEAD_LEN],
        head: &[u8; HEAD_LEN],
        sent: u64,
        matches: impl FnOnce(&Template) -> bool,
    ) -> Option<u64> {
        let template = self.series.template();
        let Some(stamp) = template.identify(head) else {
            self.judge_other(head, matches);
            return None;
        };
        if self.mixture.is_some() {
            return self.judge_mixed::<MORE>(first, head, stamp, sent, matches);
        }
        let fields = self.fields.fields_of(stamp.sequence);
        if !template.head_matches::<MORE>(head, fields, stamp) || !matches(template) {
            self.corrupted += 1;
            return None;
        }
        self.note(first, stamp, sent)
    }

    /// As `judge`, for several lengths; separate, so that frames of one length pay nothing for it.
    #[inline(never)]
    fn judge_mixed<const MORE: bool>(
        &mut self,
        first: &[u8; HEAD_LEN],
        head: &[u8; HEAD_LEN],
        stamp: Stamp,
        sent: u64,
        matches: impl FnOnce(&Template) -> bool,
    ) -> Option<u64> {
        let template = self.mixture.as_ref()?.template_of(stamp.sequence);
        let fields = self.fields.fields_of(stamp.sequence);
        if !template.head_matches::<MORE>(head, fields, stamp) || !matches(template) {
            self.corrupted += 1;
            return None;
        }
        self.note(first, stamp, sent)
    }

    /// Counts a frame that is whole.
    #[inline(always)]
    fn note(&mut self, first: &[u8; HEAD_LEN], stamp: Stamp, sent: u64) -> Option<u64> {
        if stamp.sequence >= sent {
            // A frame of another run that drew the same session number.
            self.foreign += 1;
            return None;
        }
        if !self.macs.matches(first) {
            self.wrong_mac += 1;
        }
        self.tracker.note(stamp.sequence);
        Some(stamp.time)
    }
}

/// The first bytes of a frame in parts: enough for its headers and its head.
struct Start {
    bytes: [u8; LEAST_LEN_MAX],
    len: usize,
}

impl Start {
    fn of(packet: &Packet) -> Self {
        let mut bytes = [0; LEAST_LEN_MAX];
        let len = packet.copy_to(&mut bytes);
        Self { bytes, len }
    }

    /// The first [`HEAD_LEN`] bytes, and the head at `head_at`; `None` if the frame is too short for it.
    fn first_and_head(&self, head_at: usize) -> Option<(&[u8; HEAD_LEN], &[u8; HEAD_LEN])> {
        let bytes = self.bytes.get(..self.len)?;
        Some((bytes.first_chunk()?, bytes.get(head_at..)?.first_chunk()?))
    }

    /// Whether all but the head of `packet`, which starts so, is as in `template`.
    fn continues_as(&self, template: &Template, packet: &Packet) -> bool {
        let skip = template.head_at() + HEAD_LEN;
        template.headers_match(&self.bytes) && continues_with(packet.segments(), skip, template.pattern())
    }
}

/// Whether `segments`, without their first `skip` bytes, contain exactly `pattern`.
fn continues_with<'a>(segments: impl Iterator<Item = &'a [u8]>, skip: usize, pattern: &[u8]) -> bool {
    let (mut skip, mut rest) = (skip, pattern);
    for segment in segments {
        let behind = segment.split_at(skip.min(segment.len())).1;
        skip -= segment.len() - behind.len();
        let Some(left) = rest.strip_prefix(behind) else {
            return false;
        };
        rest = left;
    }
    skip == 0 && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::{Judge, continues_with};
    use crate::{
        addresses::{FieldSequence, IpRange, PortRange, Ranges},
        frame::{ExpectedMacs, Format, HEAD_LEN, Macs, Mixture, Stamp, Template},
        latency::LatencyRecorder,
        sequence::SequenceTracker,
    };
    use dpdk_rs::MacAddr;
    use proptest::prelude::*;

    const RANGES: Ranges = Ranges {
        src_ip: IpRange::network([198, 18, 0, 0], 16),
        dst_ip: IpRange::network([198, 19, 0, 0], 16),
        src_udp: PortRange::new(10_000, 10_999),
        dst_udp: PortRange::new(10_000, 10_999),
    };
    const SENT: u64 = 1000;

    fn template() -> Template {
        let macs = Macs { dst: MacAddr([2, 0, 0, 0, 1, 0]), src: MacAddr([2, 0, 0, 0, 9, 9]) };
        Template::new(HEAD_LEN, &Format::default(), macs, 7, 1)
    }

    fn judge(dst: [u8; 6]) -> Result<Judge, hdrhistogram::CreationError> {
        let macs = ExpectedMacs::new(Some(MacAddr(dst)), None);
        let fields = FieldSequence::new(&RANGES);
        Ok(Judge::new(template(), fields, macs, SequenceTracker::new(), LatencyRecorder::new()?))
    }

    fn head(sequence: u64) -> [u8; HEAD_LEN] {
        let mut head = [0; HEAD_LEN];
        let fields = FieldSequence::new(&RANGES).fields_of(sequence);
        template().write_head::<false>(&mut head, fields, Stamp { sequence, time: 5 });
        head
    }

    #[test]
    fn each_frame_is_counted_under_what_is_wrong_with_it() -> Result<(), hdrhistogram::CreationError> {
        let mut judge = judge([2, 0, 0, 0, 1, 0])?;
        for sequence in [0, 1, 3, 2, 3] {
            assert_eq!(judge.judge::<false>(&head(sequence), &head(sequence), SENT, |_| true), Some(5));
        }
        assert_eq!(judge.judge::<false>(&head(SENT), &head(SENT), SENT, |_| true), None);
        assert_eq!(judge.judge::<false>(&head(4), &head(4), SENT, |_| false), None);
        let mut other = head(5);
        other[42] ^= 1;
        assert_eq!(judge.judge::<false>(&other, &other, SENT, |_| true), None);
        let counts = judge.tracker.counts();
        assert_eq!((counts.frames, counts.duplicated, counts.reordered), (5, 1, 1));
        assert_eq!((judge.corrupted, judge.foreign, judge.wrong_mac), (1, 2, 0));
        assert_eq!((judge.received(), judge.unique()), (6, 5));
        Ok(())
    }

    #[test]
    fn a_wrong_address_does_not_make_a_frame_lost() -> Result<(), hdrhistogram::CreationError> {
        let mut judge = judge([2, 0, 0, 0, 1, 1])?;
        assert_eq!(judge.judge::<false>(&head(0), &head(0), SENT, |_| true), Some(5));
        assert_eq!((judge.wrong_mac, judge.unique()), (1, 1));
        Ok(())
    }

    /// A frame with another frame's length is no loss, but changed: its headers say the length.
    #[test]
    fn frames_of_a_mixture_must_have_the_length_of_their_number() -> Result<(), hdrhistogram::CreationError> {
        let macs = Macs { dst: MacAddr([2, 0, 0, 0, 1, 0]), src: MacAddr([2, 0, 0, 0, 9, 9]) };
        let lens = [HEAD_LEN, HEAD_LEN, 590];
        let mixture = Mixture::new(&lens, &Format::default(), macs, 7, 1);
        let mut judge = judge([2, 0, 0, 0, 1, 0])?.with_mixture(mixture.clone());
        let mut fields = FieldSequence::new(&RANGES);
        let mut count = |sequence: u64, len: usize| {
            let mut head = [0; HEAD_LEN];
            let template = Template::new(len, &Format::default(), macs, 7, 1);
            template.write_head::<false>(&mut head, fields.fields_of(sequence), Stamp { sequence, time: 5 });
            judge.judge::<false>(&head, &head, SENT, |due| due.pattern() == template.pattern());
            (judge.tracker.counts().frames, judge.corrupted, judge.foreign)
        };
        assert_eq!((count(0, 60), count(1, 60), count(2, 590)), ((1, 0, 0), (2, 0, 0), (3, 0, 0)));
        assert_eq!(count(5, 590), (4, 0, 0), "the order begins anew");
        assert_eq!((count(6, 590), count(8, 60), count(3, 61)), ((4, 1, 0), (4, 2, 0), (4, 3, 0)));
        Ok(())
    }

    proptest! {
        /// A change of the sequence number or the addresses must not pass as another frame of the stream.
        #[test]
        fn no_change_of_a_byte_passes(sequence in 0..SENT, index in 12_usize..HEAD_LEN, change in 1_u8..) {
            let mut judge = judge([2, 0, 0, 0, 1, 0])?;
            let mut changed = head(sequence);
            changed[index] ^= change;
            prop_assert_eq!(judge.judge::<false>(&changed, &changed, SENT, |_| true), None);
            prop_assert_eq!(judge.corrupted + judge.foreign, 1);
            prop_assert_eq!(judge.judge::<false>(&head(sequence), &head(sequence), SENT, |_| true), Some(5));
        }

        #[test]
        fn segments_are_compared_as_if_they_were_one(cuts in prop::collection::vec(0_usize..300, 0..6), change in
            prop::option::of(0_usize..300))
        {
            let frame: Vec<u8> = (0..300_u32).map(|index| (index % 251) as u8).collect();
            let pattern = frame[HEAD_LEN..].to_vec();
            let mut frame = frame;
            if let Some(index) = change {
                frame[index] ^= 0x80;
            }
            let mut cuts = cuts;
            cuts.extend([0, 300]);
            cuts.sort_unstable();
            let segments = || cuts.windows(2).map(|cut| &frame[cut[0]..cut[1]]);
            let whole = change.is_none_or(|index| index < HEAD_LEN);
            prop_assert_eq!(continues_with(segments(), HEAD_LEN, &pattern), whole);
            // A frame that is shorter or longer than it should be is not whole.
            prop_assert!(!continues_with(segments(), HEAD_LEN, &pattern[1..]));
            prop_assert!(!continues_with(segments().chain([&[1][..]]), HEAD_LEN, &pattern));
            prop_assert!(!continues_with([&frame[..9]].into_iter(), HEAD_LEN, &[]));
        }
    }
}
