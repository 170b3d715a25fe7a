// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames that come back: as they were sent, changed, cut, repeated, of others, or noise; whole or in segments.

use crate::{
    addresses::{FieldSequence, IpRange, PortRange, Ranges},
    frame::{ExpectedMacs, Format, HEAD_LEN, Ipv6, Macs, Mixture, Series, Stamp, Template},
    latency::LatencyRecorder,
    naive::Naive,
    receive::Judge,
    sent::{Identity, PROBE, SentStream, more_len},
    sequence::SequenceTracker,
};
use dpdk_rs::{Clock, MacAddr, Mempool, Packet};
use dpdk_rs_fuzz::{Reader, eal, packet};
use std::cell::RefCell;

/// The generator's frames have a sequence number of 48 bits.
const NUMBER_MASK: u64 = (1 << 48) - 1;
const FRAMES_MAX: usize = 64;

/// What there should be counted.
#[derive(Debug, Default)]
struct Model {
    naive: Naive,
    corrupted: u64,
    foreign: u64,
    wrong_mac: u64,
    probes: u64,
}

struct Experiment {
    stream: SentStream,
    /// How many frames were sent.
    sent: u64,
    expected_dst: Option<MacAddr>,
    expected_src: Option<MacAddr>,
    judge: Judge,
    /// Judges all of `packets` at once.
    judge_of_bursts: Judge,
    packets: Vec<Packet>,
    model: Model,
    /// The last frame that came.
    last: Vec<u8>,
}

/// Every frame is counted once, under what is wrong with it, and only what was sent passes.
pub fn generator_frames(data: &[u8]) {
    thread_local! {
        static LABORATORY: RefCell<Option<(Mempool, Clock)>> = const { RefCell::new(None) };
    }
    LABORATORY.with_borrow_mut(|laboratory| {
        let (pool, clock) = laboratory.get_or_insert_with(|| {
            let eal = eal(&[]);
            (Mempool::builder("frames").size(511).cache(0).build(eal).expect("the pool can be made"), eal.clock())
        });
        let mut reader = Reader::new(data);
        let mut experiment = Experiment::new(&mut reader);
        let mut frames = 0;
        while !reader.is_empty() && frames < FRAMES_MAX {
            let frame = experiment.next_frame(&mut reader);
            let packet = in_segments(pool, &frame, &mut reader);
            let packet = experiment.receive(packet, &frame, &mut reader);
            experiment.compare();
            experiment.last = frame;
            frames += 1;
            experiment.packets.extend(packet);
        }
        experiment.judge_together(*clock);
        experiment.check_summary(*clock);
    });
}

/// A packet of these bytes, in up to four segments, of which some may be empty.
fn in_segments(pool: &Mempool, frame: &[u8], reader: &mut Reader<'_>) -> Packet {
    let mut cuts: Vec<usize> =
        (0..reader.below(4)).map(|_| usize::from(reader.u16()).checked_rem(frame.len() + 1).unwrap_or(0)).collect();
    cuts.extend([0, frame.len()]);
    cuts.sort_unstable();
    let parts = cuts.windows(2).map(|cut| match cut {
        [from, to] => frame.get(*from..*to).unwrap_or_default(),
        _ => &[],
    });
    packet(pool, parts)
}

impl Experiment {
    fn new(reader: &mut Reader<'_>) -> Self {
        let macs = Macs { dst: MacAddr([2, 0, 0, 0, 1, reader.byte()]), src: MacAddr([2, 0, 0, 0, 9, reader.byte()]) };
        let ranges = Ranges {
            src_ip: ip_range(reader),
            dst_ip: ip_range(reader),
            src_udp: port_range(reader),
            dst_udp: port_range(reader),
        };
        let number = reader.u16();
        // Streams have no tag, one or two; every second of the higher numbers has IPv6, every fourth a tunnel.
        let vlans = (0..number / 6000 % 3).map(|place| 1 + (number + place) % 4094).collect();
        let vxlan = (number / 18_000 == 2).then_some(u32::from(number) << 8);
        let ipv6 = (number / 18_000 % 2 == 1).then_some(Ipv6 { src: [number as u8; 16], dst: [!number as u8; 8] });
        let format = Format { vlans, vxlan, ipv6 };
        let least = HEAD_LEN + more_len(&format);
        // Of some streams the fields begin again early.
        let flows = (number % 5 == 4)
            .then_some(u64::from(number).clamp(1, u64::try_from(ranges.combinations()).unwrap_or(u64::MAX)));
        let len = least + usize::from(number % 1500);
        // Every fourth stream is a mixture.
        let lens = if number / 1500 % 4 == 3 { vec![least, len, least, len / 2 + least] } else { vec![len] };
        let stream =
            SentStream { lens, format, macs, session: reader.byte(), stream: reader.byte() % 2, ranges, flows };
        let sent = if reader.below(4) == 0 { NUMBER_MASK } else { u64::from(reader.u16()) };
        let [expected_dst, expected_src] =
            [macs.dst, macs.src].map(|mac| if reader.below(2) == 0 { None } else { Some(mac) });
        let (mixture, template) = stream.templates();
        let expected = ExpectedMacs::new(expected_dst, expected_src);
        let [judge, judge_of_bursts] = [(); 2].map(|()| {
            let latency = LatencyRecorder::new().expect("the bounds are fixed");
            Judge::new(
                template.clone(),
                FieldSequence::new(&ranges).of_flows(flows),
                expected,
                SequenceTracker::new(),
                latency,
            )
            .with_mixture(mixture.clone())
        });
        let (packets, model, last) = (Vec::new(), Model::default(), Vec::new());
        Self { stream, sent, expected_dst, expected_src, judge, judge_of_bursts, packets, model, last }
    }

    /// The frame behind the last one, of the same time.
    fn next_in_order(&self) -> Option<Vec<u8>> {
        let last = Identity::of(&self.last, &self.stream.format)?;
        let SentStream { session, stream, .. } = self.stream;
        Some(self.stream.frame(Identity {
            session,
            stream,
            sequence: (last.sequence + 1) & NUMBER_MASK,
            time: last.time,
        }))
    }

    /// A frame as the stream sends it; the generator and smoltcp make the same.
    fn genuine(&self, reader: &mut Reader<'_>) -> Vec<u8> {
        let sequence = match reader.below(4) {
            0 => reader.u64() & NUMBER_MASK,
            1 => self.sent.wrapping_sub(reader.byte().into()) & NUMBER_MASK,
            _ => u64::from(reader.byte()),
        };
        let time = if reader.below(2) == 0 { reader.u64() } else { u64::from(reader.u16()) };
        let SentStream { session, stream, ranges, flows, .. } = self.stream.clone();
        let probe = if reader.below(4) == 0 { PROBE } else { 0 };
        let bytes = self.stream.frame(Identity { session, stream: stream | probe, sequence, time });
        let (mixture, longest) = self.stream.templates();
        let one = mixture.as_ref().map_or(&longest, |mixture| mixture.template_of(sequence));
        let template = if probe == 0 { one.clone() } else { longest.probe() };
        let mut head = [0; HEAD_LEN];
        let (heads, _) =
            Series::new(template.clone(), FieldSequence::new(&ranges).of_flows(flows)).heads(Stamp { sequence, time });
        heads.write(&mut head);
        assert_eq!(
            [template.before_head(), &head[..], template.pattern()].concat(),
            bytes,
            "the generator and smoltcp differ"
        );
        bytes
    }

    fn next_frame(&self, reader: &mut Reader<'_>) -> Vec<u8> {
        match reader.below(8) {
            0 => self.last.clone(),
            1 => {
                let mut frame = self.genuine(reader);
                let place = usize::from(reader.u16()).checked_rem(frame.len()).unwrap_or(0);
                let change = reader.byte();
                frame.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= change);
                frame
            }
            2 => {
                let mut frame = self.genuine(reader);
                frame.truncate(usize::from(reader.u16()) % (frame.len() + 1));
                frame
            }
            3 => {
                let mut frame = self.genuine(reader);
                frame.extend(reader.bytes(1));
                frame
            }
            4 => {
                let count = usize::from(reader.byte());
                reader.bytes(count).to_vec()
            }
            5 => {
                let mut other = self.stream.clone();
                other.stream ^= 1;
                let identity = Identity { session: reader.byte(), stream: other.stream, sequence: 0, time: 0 };
                other.frame(identity)
            }
            6 => self.next_in_order().unwrap_or_else(|| self.genuine(reader)),
            _ => self.genuine(reader),
        }
    }

    /// Returns the packet if it was judged.
    fn receive(&mut self, packet: Packet, frame: &[u8], reader: &mut Reader<'_>) -> Option<Packet> {
        assert_eq!(packet.len(), frame.len());
        if reader.below(8) == 0 {
            // As before a run, when nothing but probes counts.
            self.judge.note_probe(&packet);
            self.judge_of_bursts.note_probe(&packet);
            self.model.probes += u64::from(self.is_whole_probe(frame));
            return None;
        }
        let time = if self.stream.format == Format::default() {
            self.judge.frame::<false>(&packet, self.sent)
        } else {
            self.judge.frame::<true>(&packet, self.sent)
        };
        assert_eq!(time, self.expect(frame));
        if let Some(time) = time {
            self.judge.latency.record(time, 1 + reader.below(64) as u64);
        }
        Some(packet)
    }

    /// In bursts, where frames in a row are looked at together, all is counted as one by one.
    fn judge_together(&mut self, clock: Clock) {
        for burst in self.packets.chunks(23) {
            self.judge_of_bursts.frames(burst, self.sent, clock.now());
        }
        self.packets.clear();
        let counts = |judge: &Judge| {
            (
                judge.tracker.counts(),
                judge.tracker.next(),
                judge.corrupted,
                judge.foreign,
                judge.wrong_mac,
                judge.probes,
            )
        };
        assert_eq!(counts(&self.judge_of_bursts), counts(&self.judge));
        let whole = self.judge.tracker.counts().frames;
        assert_eq!(self.judge_of_bursts.latency.summary(clock).count, whole);
    }

    /// Counts a frame by comparing it with what must have been sent; its time if it is whole.
    fn expect(&mut self, frame: &[u8]) -> Option<u64> {
        let ours = (self.stream.session, self.stream.stream);
        let identity = Identity::of(frame, &self.stream.format);
        let Some(identity) = identity.filter(|found| (found.session, found.stream) == ours) else {
            if self.is_whole_probe(frame) {
                self.model.probes += 1;
            } else {
                self.model.foreign += 1;
            }
            return None;
        };
        let sent = self.stream.frame(identity);
        // The forwarder writes the addresses.
        if frame.get(12..) != sent.get(12..) {
            self.model.corrupted += 1;
            return None;
        }
        if identity.sequence >= self.sent {
            self.model.foreign += 1;
            return None;
        }
        let is = |mac: Option<MacAddr>, found: Option<&[u8]>| mac.is_none_or(|mac| found == Some(&mac.octets()));
        let right = is(self.expected_dst, frame.get(..6)) && is(self.expected_src, frame.get(6..12));
        self.model.wrong_mac += u64::from(!right);
        self.model.naive.note(identity.sequence);
        Some(identity.time)
    }

    fn is_whole_probe(&self, frame: &[u8]) -> bool {
        let ours = (self.stream.session, self.stream.stream | PROBE);
        let probe = Identity::of(frame, &self.stream.format).filter(|found| (found.session, found.stream) == ours);
        probe.is_some_and(|identity| frame.get(12..) == self.stream.frame(identity).get(12..))
    }

    fn compare(&self) {
        let (judge, model) = (&self.judge, &self.model);
        assert_eq!(judge.tracker.counts(), model.naive.counts);
        let found = (judge.corrupted, judge.foreign, judge.wrong_mac, judge.probes);
        assert_eq!(
            found,
            (model.corrupted, model.foreign, model.wrong_mac, model.probes),
            "corrupted, foreign, MAC, probes"
        );
        assert_eq!(judge.received(), model.naive.counts.frames + model.corrupted);
        assert!(judge.unique() <= judge.received());
    }

    /// The latencies, in figures that a reader can believe.
    fn check_summary(&self, clock: Clock) {
        let summary = self.judge.latency.summary(clock);
        let figures = [summary.min, summary.p50, summary.p90, summary.p99, summary.p99_9, summary.p99_99, summary.max];
        if summary.count == 0 {
            assert_eq!(figures, [None; 7]);
            return;
        }
        let figures = figures.map(|figure| figure.expect("there are latencies"));
        assert!(figures.is_sorted() && figures.iter().all(|figure| figure.is_finite()), "{summary:?}");
        let [min, .., max] = figures;
        let average = summary.avg.expect("there are latencies");
        // Figures are rounded to tenths, and floats to 53 bits.
        assert!((min * 0.999_999 - 0.1..=max * 1.000_001 + 0.1).contains(&average), "{summary:?}");
        assert!(summary.ipdv.is_none_or(|ipdv| (0.0..=max * 1.000_001 + 0.1).contains(&ipdv)), "{summary:?}");
    }
}

impl SentStream {
    /// What the generator makes of it, and its longest frames.
    fn templates(&self) -> (Option<Mixture>, Template) {
        let longest = self.lens.iter().copied().max().unwrap_or(HEAD_LEN);
        let mixture = Mixture::new(&self.lens, &self.format, self.macs, self.session, self.stream);
        (mixture, Template::new(longest, &self.format, self.macs, self.session, self.stream))
    }
}

/// A single address, some, or many.
fn ip_range(reader: &mut Reader<'_>) -> IpRange {
    let address = u32::from(reader.u16()) << 16 | u32::from(reader.u16());
    match reader.below(4) {
        0 => IpRange { first: address, last: address },
        1 => IpRange { first: address, last: address.saturating_add(reader.byte().into()) },
        _ => IpRange::network(address.to_be_bytes(), reader.below(33) as u32),
    }
}

fn port_range(reader: &mut Reader<'_>) -> PortRange {
    let first = reader.u16();
    PortRange::new(first, first.saturating_add(reader.u16() >> (reader.byte() % 16)))
}
