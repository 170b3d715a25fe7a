// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A run: sends and receives in one loop, so that neither starves the other, then waits for the frames still in flight.

use crate::{
    addresses::FieldSequence,
    args::{Length, Options, Then},
    error::{Error, warn},
    frame::{ExpectedMacs, FCS_LEN, Macs, Mixture, Series, Template},
    gaps::{GapWatch, Gaps},
    latency::LatencyRecorder,
    live::Live,
    neighbours::{Hosts, Neighbour},
    outage::OutageWatch,
    pacing::{Lateness, Pacer},
    ports::GeneratorPort,
    queues::Queues,
    receive::{Judge, Receiver},
    sequence::SequenceTracker,
    stream::{Stream, send_answers},
    transmit::{Mixed, Pacing, Sender},
};
use core::{mem, time::Duration};
use dpdk_rs::{Burst, Clock, MacAddr, Tsc};
use nix::time::{ClockId, clock_gettime};
use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

/// Frame numbers have 48 bits.
const FRAMES_MAX: u64 = 1 << 48;
/// A run by count stops if the device takes no frame for this long.
const STALL: Duration = Duration::from_secs(5);
/// A receiver that gets a full burst polls again, at most this many times in all, before the sender's turn.
const RX_POLLS: usize = 4;
const RX_BURST_MIN: usize = 64;
/// A paced run may exceed its duration by this fraction to send its last frames: within the tolerance of the rate.
const OVERTIME_DIVISOR: u64 = 2000;

/// The times of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub(crate) start: Tsc,
    /// When sending ended.
    pub(crate) end: Tsc,
    /// Frames that had come back by then, of all streams.
    pub(crate) received: u64,
    pub(crate) interrupted: bool,
    /// When the second load began, if there was one.
    pub(crate) then: Option<Tsc>,
    /// How long the loop had a CPU, from start to end.
    pub(crate) cpu: Duration,
    /// Between two polls, from start to end.
    pub(crate) gaps: Gaps,
}

impl Course {
    /// The times of a run that was interrupted before it began.
    pub(crate) fn interrupted_at(now: Tsc) -> Self {
        let (cpu, gaps) = (Duration::ZERO, Gaps::default());
        Self { start: now, end: now, received: 0, interrupted: true, then: None, cpu, gaps }
    }
}

/// Takes the queues out of the ports and makes streams of them.
pub(crate) fn make_streams(options: &Options, ports: &mut [GeneratorPort], clock: Clock) -> Result<Vec<Stream>, Error> {
    // Random for each process: a late frame of an earlier run must not count.
    let session = RandomState::new().hash_one("session") as u8;
    let receiving = options.receiving();
    let mut streams = Vec::new();
    for (number, (tx, rx)) in options.streams().into_iter().enumerate() {
        // Streams are numbered in the order of their sending ports.
        let receiver_number = receiving.iter().position(|port| *port == rx).unwrap_or(0);
        let no_queue = || Error::Failed("a port started without its queues".to_owned());
        let sending = ports.get_mut(tx).ok_or_else(no_queue)?;
        let tx_queues = Queues::new(mem::take(&mut sending.tx)).ok_or_else(no_queue)?;
        let (pool, src, tx_port) = (sending.pool.clone(), sending.mac, sending.port.id().get());
        let receiving = ports.get_mut(rx).ok_or_else(no_queue)?;
        let rx_queues = Queues::new(mem::take(&mut receiving.rx)).ok_or_else(no_queue)?;
        let rx_port = receiving.port.id().get();
        // Those of a port that sends are the sender's.
        let spare =
            if options.streams().iter().any(|(tx, _)| *tx == rx) { Vec::new() } else { mem::take(&mut receiving.tx) };
        let hosts = Hosts::new(options.ranges, options.format.clone());
        let neighbour = Neighbour::new(hosts, receiving.mac, receiving.pool.clone(), Queues::new(spare));

        let share = options.share(tx);
        let dst = options.dst_macs.get(number).copied().unwrap_or(default_destination(tx_port));
        let (macs, number) = (Macs { dst, src }, number as u8);
        let mixture = Mixture::new(&options.lens(), &options.format, macs, session, number);
        let template = mixture.as_ref().map_or_else(
            || Template::new(usize::from(options.longest()) - FCS_LEN, &options.format, macs, session, number),
            |mixture| mixture.longest().clone(),
        );
        let expected = ExpectedMacs::new(
            options.expect_dst.get(receiver_number).copied(),
            options.expect_src.get(receiver_number).copied(),
        );
        let fields = FieldSequence::new(&options.ranges).of_flows(options.flows);
        let judge = Judge::new(
            template.clone(),
            fields.clone(),
            expected,
            SequenceTracker::new(),
            LatencyRecorder::new().map_err(Error::failed)?,
        )
        .with_mixture(mixture.clone());
        let sender = Sender {
            queues: tx_queues,
            pool,
            series: Series::new(template, fields.clone()),
            mixed: mixture.map(|mixture| Mixed { mixture, fields }),
            pacing: pacing(options, share, clock),
            most: options.burst,
            waiting: Burst::new(),
            sent: 0,
            failed: 0,
            earlier: Lateness::default(),
            last_failed: None,
            probes: 0,
        };
        let most = options.burst.max(RX_BURST_MIN);
        let receiver = Receiver {
            queues: rx_queues,
            burst: Burst::new(),
            most,
            judge,
            neighbour,
            last: None,
            outage: OutageWatch::default(),
        };
        streams.push(Stream { tx_port, rx_port, share, sender, receiver, before_then: (0, 0) });
    }
    Ok(streams)
}

fn default_destination(port: u16) -> MacAddr {
    let [high, low] = port.to_be_bytes();
    MacAddr([2, 0, 0, 0, 1 + high, low])
}

/// When the frames of a stream are due that has this share of the load.
fn pacing(options: &Options, share: f64, clock: Clock) -> Pacing {
    let rate_pps = options.rate_pps.map(|rate| rate * share);
    let total = match (options.length, rate_pps) {
        (Length::Count(count), _) if share < 1.0 => (count as f64 * share).ceil() as u64,
        (Length::Count(count), _) => count,
        (Length::Duration(_), None) => FRAMES_MAX,
        // The frames that are due before the end: frame n is due after n / rate.
        (Length::Duration(duration), Some(rate)) => ((duration.as_secs_f64() * rate).ceil() as u64).min(FRAMES_MAX),
    };
    match rate_pps {
        None => Pacing::Max(total),
        Some(rate) => Pacing::Paced(Pacer::new(clock.hz(), rate, total)),
    }
}

/// Runs the streams to their end.
pub(crate) fn run(options: &Options, streams: &mut [Stream], clock: Clock, stop: &AtomicBool) -> Course {
    let cpu = cpu_time();
    let start = clock.now();
    let mut live = Live::new(clock, start, options.quiet);
    let mut watch = GapWatch::begin(clock, start);
    for stream in &mut *streams {
        stream.sender.begin(start);
    }
    let mut end = send_and_receive(options, streams, start, stop, &mut live, &mut watch);
    let mut then = None;
    if let Some(load) = options.then.filter(|_| !stop.load(Relaxed)) {
        let begin = clock.now();
        let second = second(options, load);
        for Stream { sender, receiver, before_then, share, .. } in &mut *streams {
            *before_then = (sender.sent, sender.failed);
            sender.earlier = sender.lateness().unwrap_or_default();
            (sender.pacing, sender.last_failed) = (pacing(&second, *share, clock), None);
            sender.begin(begin);
            receiver.judge.watch_from(sender.sent);
        }
        end = send_and_receive(&second, streams, begin, stop, &mut live, &mut watch);
        then = Some(begin);
    }
    let cpu = cpu_time().saturating_sub(cpu);
    for stream in &mut *streams {
        stream.sender.stop();
    }
    let interrupted = stop.load(Relaxed);
    let received = streams.iter().map(|stream| stream.receiver.judge.received()).sum();
    // The last second of the load.
    live.tick(end, streams);
    receive_rest(options, streams, clock, &mut live);
    Course { start, end, received, interrupted, then, cpu, gaps: watch.gaps }
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// The options of the second load alone.
fn second(options: &Options, load: Then) -> Options {
    Options { rate_pps: Some(load.rate_pps), length: Length::Duration(load.duration), then: None, ..options.clone() }
}

fn send_and_receive(
    options: &Options,
    streams: &mut [Stream],
    start: Tsc,
    stop: &AtomicBool,
    live: &mut Live,
    watch: &mut GapWatch,
) -> Tsc {
    let clock = watch.clock;
    let mut end = End::new(options, clock, start);
    loop {
        let now = clock.now();
        watch.turn(now);
        if end.is_reached(streams, now) {
            return now;
        }
        if stop.load(Relaxed) {
            return now;
        }
        for stream in &mut *streams {
            let under_way = stream.sender.sent - stream.receiver.judge.unique().min(stream.sender.sent);
            let room = options.window.map_or(u64::MAX, |window| window.saturating_sub(under_way));
            stream.sender.poll(clock, now, usize::try_from(room).unwrap_or(usize::MAX));
        }
        receive(streams, clock);
        live.tick(now, streams);
    }
}

/// When to stop sending.
#[derive(Debug)]
struct End {
    start: Tsc,
    /// Cycles after which a run by duration ends, and before which a paced run does not.
    planned: u64,
    /// Cycles after which a run by duration ends even if some frames that are due have not been sent.
    latest: Option<u64>,
    stall: u64,
    sent: u64,
    progress: Tsc,
}

impl End {
    fn new(options: &Options, clock: Clock, start: Tsc) -> Self {
        let (planned, latest) = match (options.length, options.rate_pps) {
            (Length::Duration(duration), rate) => {
                let planned = clock.cycles(duration);
                let overtime = if rate.is_some() { planned / OVERTIME_DIVISOR } else { 0 };
                (planned, Some(planned + overtime))
            }
            (Length::Count(count), Some(rate)) => ((count as f64 / rate * clock.hz() as f64) as u64, None),
            (Length::Count(_), None) => (0, None),
        };
        Self { start, planned, latest, stall: clock.cycles(STALL), sent: 0, progress: start }
    }

    #[inline]
    fn is_reached(&mut self, streams: &[Stream], now: Tsc) -> bool {
        let elapsed = now.since(self.start);
        if self.latest.is_some_and(|latest| elapsed >= latest) {
            return true;
        }
        if elapsed >= self.planned && streams.iter().all(|stream| stream.sender.is_done()) {
            return true;
        }
        self.latest.is_none() && self.is_stalled(streams, now)
    }

    /// Whether the device has taken no frame for so long that a run by count would not end.
    fn is_stalled(&mut self, streams: &[Stream], now: Tsc) -> bool {
        let sent = streams.iter().map(|stream| stream.sender.sent).sum();
        if sent != self.sent || streams.iter().any(|stream| matches!(stream.sender.pacing, Pacing::Paced(_))) {
            (self.sent, self.progress) = (sent, now);
        }
        let stalled = now.since(self.progress) > self.stall;
        if stalled {
            warn(format!("stopped: the device took no frame for {} s", STALL.as_secs()));
        }
        stalled
    }
}

/// Receives the frames that have arrived for each stream.
#[inline]
fn receive(streams: &mut [Stream], clock: Clock) {
    for Stream { sender, receiver, .. } in &mut *streams {
        for _ in 0..RX_POLLS {
            if receiver.poll(clock, sender.sent, sender.failed) < receiver.most {
                break;
            }
        }
    }
    send_answers(streams);
}

/// Receives until every frame has come back, or until the time of `--wait` is over.
fn receive_rest(options: &Options, streams: &mut [Stream], clock: Clock, live: &mut Live) {
    let start = clock.now();
    let wait = clock.cycles(options.wait);
    loop {
        receive(streams, clock);
        let now = clock.now();
        let complete = streams.iter().all(|stream| stream.receiver.judge.unique() >= stream.sender.sent);
        if complete || now.since(start) >= wait {
            return;
        }
        live.tick(now, streams);
    }
}

#[cfg(test)]
mod tests {
    use super::default_destination;

    #[test]
    fn default_destinations_name_the_port() {
        assert_eq!(default_destination(0).to_string(), "02:00:00:00:01:00");
        assert_eq!(default_destination(31).to_string(), "02:00:00:00:01:1f");
    }
}
