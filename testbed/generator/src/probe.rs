// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Probes before a run, like the learning frames of RFC 2544, section 23: a link that is up does not mean that the device
//! under test forwards. Each stream sends a frame at intervals until one has come back; then there is a pause.

use crate::{
    args::Options,
    error::Error,
    frame::Stamp,
    receive::Receiver,
    stream::{Stream, send_answers},
    transmit::{Sender, Written, write_rest},
};
use core::time::Duration;
use dpdk_rs::{Burst, Clock, Tsc};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const INTERVAL: Duration = Duration::from_millis(10);

/// Sends probes until one has come back on each stream, then waits for the time of `--before`. Other frames that arrive
/// meanwhile belong to earlier runs and do not count.
///
/// Returns false if `stop` was set first.
pub(crate) fn open_paths(
    options: &Options,
    streams: &mut [Stream],
    clock: Clock,
    stop: &AtomicBool,
) -> Result<bool, Error> {
    if !options.probe.is_zero() && !open_each(options, streams, clock, stop)? {
        return Ok(false);
    }
    // Frames that arrive meanwhile are received and dropped, as during the probes.
    let (start, pause) = (clock.now(), clock.cycles(options.before));
    while clock.now().since(start) < pause {
        if stop.load(Relaxed) {
            return Ok(false);
        }
        streams.iter_mut().for_each(|stream| stream.receiver.look_for_probes());
        send_answers(streams);
    }
    Ok(true)
}

fn open_each(options: &Options, streams: &mut [Stream], clock: Clock, stop: &AtomicBool) -> Result<bool, Error> {
    let (limit, interval) = (clock.cycles(options.probe), clock.cycles(INTERVAL));
    let start = clock.now();
    let mut next = start;
    let mut number = 0;
    while let Some(closed) = streams.iter().find(|stream| stream.receiver.judge.probes == 0) {
        let now = clock.now();
        if stop.load(Relaxed) {
            return Ok(false);
        }
        if now.since(start) >= limit {
            return Err(Error::Failed(format!(
                "no frame came back from port {} to port {} within {} s: check whether the device under test forwards, \
                 wait longer with --probe, or start without a check with --probe 0",
                closed.tx_port,
                closed.rx_port,
                options.probe.as_secs_f64(),
            )));
        }
        let due = now >= next;
        if due {
            next = now.after(interval);
            number += 1;
        }
        for stream in &mut *streams {
            if due {
                stream.sender.send_probe(number, now);
            }
            stream.receiver.look_for_probes();
        }
        send_answers(streams);
    }
    Ok(true)
}

impl Sender {
    fn send_probe(&mut self, number: u64, now: Tsc) {
        let Some(mut packet) = self.pool.alloc() else { return };
        let mut probe = self.series.probe();
        let (heads, _) = probe.heads(Stamp { sequence: number, time: now.cycles() });
        // An mbuf of this pool is long enough, and has no other owner.
        let Ok(data) = packet.append(probe.template().len()) else { return };
        let Some(head) = data.get_mut(probe.template().head_at()..).and_then(<[u8]>::first_chunk_mut) else { return };
        heads.write(head);
        write_rest(&mut packet, probe.template());
        let mut burst = Burst::<Written, 1>::new();
        if burst.push(packet).is_ok() {
            self.probes += self.queues.take_turn().map_or(0, |queue| queue.tx(&mut burst)) as u64;
        }
    }
}

impl Receiver {
    fn look_for_probes(&mut self) {
        let Some(queue) = self.queues.take_turn() else { return };
        queue.rx_up_to(&mut self.burst, self.most);
        for packet in &self.burst {
            self.judge.note_probe(packet);
        }
        self.consider();
        self.burst.clear();
    }
}
