// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The sending side of a stream.

use crate::{
    addresses::FieldSequence,
    frame::{HEAD_LEN, Mixture, Series, Stamp, Template},
    pacing::{Lateness, Pacer},
    queues::Queues,
};
use dpdk_rs::{Burst, Clock, Mempool, Packet, Tsc, TxQueue};

/// The maximum number of frames in one transmit call.
pub(crate) const BURST_MAX: usize = 512;

/// How many bytes of the pattern an mbuf of the sender's pool already holds, and 1 for the bytes before a head that does not
/// begin with the frame. They are not written again for each frame.
/// This relies on devices not changing mbufs after they were sent.
pub(crate) type Written = u64;

/// When frames are sent.
#[derive(Debug)]
pub(crate) enum Pacing {
    /// As fast as the queue takes frames, this many in all. Refused frames are offered again.
    Max(u64),
    /// When they are due. Refused frames are dropped and counted as failed.
    Paced(Pacer),
}

/// The frames of a stream with several lengths, one by one.
#[derive(Debug)]
pub(crate) struct Mixed {
    pub(crate) mixture: Mixture,
    pub(crate) fields: FieldSequence,
}

/// Sends the frames of one stream, numbered from 0 as the queue takes them.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) queues: Queues<TxQueue>,
    pub(crate) pool: Mempool<Written>,
    pub(crate) series: Series,
    /// Used instead of the series in a stream with several lengths.
    pub(crate) mixed: Option<Mixed>,
    pub(crate) pacing: Pacing,
    /// The maximum number of frames to send at once.
    pub(crate) most: usize,
    /// Frames that the queue has refused and that will be offered again.
    pub(crate) waiting: Burst<Written, BURST_MAX>,
    pub(crate) sent: u64,
    pub(crate) failed: u64,
    /// How far loads before this one fell behind.
    pub(crate) earlier: Lateness,
    /// When a frame was last dropped because the queue refused it.
    pub(crate) last_failed: Option<Tsc>,
    pub(crate) probes: u64,
}

impl Sender {
    /// Sending begins at `start`.
    pub(crate) const fn begin(&mut self, start: Tsc) {
        if let Pacing::Paced(pacer) = &mut self.pacing {
            pacer.begin(start);
        }
    }

    /// Sends the frames that are due, at most `room`, in at most one call.
    #[inline]
    pub(crate) fn poll(&mut self, clock: Clock, now: Tsc, room: usize) {
        let most = self.most.min(room);
        match &mut self.pacing {
            Pacing::Max(total) => {
                let left = total.saturating_sub(self.sent);
                let count = usize::try_from(left).unwrap_or(usize::MAX).min(most);
                if count == 0 {
                    return;
                }
                if self.waiting.is_empty() {
                    self.fill(count, clock.now());
                } else {
                    self.stamp_again(clock.now());
                }
                // Without mbufs there are no frames to offer: these count as refused too.
                let offered = if self.waiting.is_empty() { count } else { self.waiting.len() };
                self.send(offered);
            }
            Pacing::Paced(pacer) => {
                let count = pacer.take(now, most);
                if count == 0 {
                    return;
                }
                self.fill(count, clock.now());
                let failed = self.failed;
                self.send(count);
                if self.failed != failed {
                    self.last_failed = Some(now);
                }
                self.waiting.clear();
            }
        }
    }

    /// Whether all frames have been sent.
    #[inline]
    pub(crate) const fn is_done(&self) -> bool {
        match &self.pacing {
            Pacing::Max(total) => self.sent >= *total,
            Pacing::Paced(pacer) => pacer.is_done(),
        }
    }

    /// How far it fell behind its schedule; `None` if it has none.
    pub(crate) fn lateness(&self) -> Option<Lateness> {
        match &self.pacing {
            Pacing::Max(_) => None,
            Pacing::Paced(pacer) => Some(pacer.lateness().and(self.earlier)),
        }
    }

    /// Frees the frames that still wait.
    pub(crate) fn stop(&mut self) {
        self.waiting.clear();
    }

    /// Offers the waiting frames, which should number `count`.
    #[inline]
    fn send(&mut self, count: usize) {
        let taken = self.queues.take_turn().map_or(0, |queue| queue.tx(&mut self.waiting));
        self.sent += taken as u64;
        self.failed += (count - taken) as u64;
    }

    /// Makes the next `count` frames, or no frame if the device holds all mbufs of the pool.
    #[inline]
    fn fill(&mut self, count: usize, now: Tsc) {
        self.pool.alloc_bulk_up_to(&mut self.waiting, count);
        let (len, head_at) = (self.series.template().len(), self.series.template().head_at());
        if self.mixed.is_some() {
            if head_at > 0 {
                self.write_mixed::<true>(now, true)
            } else {
                self.write_mixed::<false>(now, true)
            }
            return;
        }
        // An mbuf of this pool is long enough, and has no other owner.
        if head_at > 0 {
            self.write_heads(now, |packet| packet.append(len).ok()?.get_mut(head_at..));
            let template = self.series.template();
            self.waiting.iter_mut().for_each(|packet| write_rest(packet, template));
            return;
        }
        self.write_heads(now, |packet| packet.append(len).ok());
        let pattern = self.series.template().pattern();
        if !pattern.is_empty() {
            self.waiting.iter_mut().for_each(|packet| write_pattern(packet, pattern));
        }
    }

    /// Renews the time stamps of the waiting frames.
    fn stamp_again(&mut self, now: Tsc) {
        let head_at = self.series.template().head_at();
        match (self.mixed.is_some(), head_at > 0) {
            (false, false) => self.write_heads(now, |packet| packet.data_mut().ok()),
            (false, true) => self.write_heads(now, |packet| packet.data_mut().ok()?.get_mut(head_at..)),
            (true, false) => self.write_mixed::<false>(now, false),
            (true, true) => self.write_mixed::<true>(now, false),
        }
    }

    /// Writes the waiting frames of several lengths: whole frames into empty mbufs, otherwise only the heads, since a waiting
    /// frame keeps its number. `MORE`: whether their heads may begin later than they.
    #[inline(never)]
    fn write_mixed<const MORE: bool>(&mut self, now: Tsc, empty: bool) {
        let Some(Mixed { mixture, fields }) = &mut self.mixed else { return };
        for (packet, sequence) in self.waiting.iter_mut().zip(self.sent..) {
            let template = mixture.template_of(sequence);
            // An mbuf of this pool is long enough for the longest frame, and has no other owner.
            let data = if empty { packet.append(template.len()) } else { packet.data_mut() };
            let head_at = if MORE { template.head_at() } else { 0 };
            let head = data.ok().and_then(|data| data.get_mut(head_at..)?.first_chunk_mut());
            if let Some(head) = head {
                template.write_head::<MORE>(head, fields.fields_of(sequence), Stamp { sequence, time: now.cycles() });
            }
            if empty && MORE {
                write_rest(packet, template);
            } else if empty {
                write_pattern(packet, template.pattern());
            }
        }
    }

    /// Writes the heads of the waiting frames into their data.
    #[inline(always)]
    fn write_heads(&mut self, now: Tsc, data: impl Fn(&mut Packet<Written>) -> Option<&mut [u8]>) {
        let mut sequence = self.sent;
        let mut packets = &mut *self.waiting;
        while !packets.is_empty() {
            let (mut heads, most) = self.series.heads(Stamp { sequence, time: now.cycles() });
            let count = usize::try_from(most).unwrap_or(usize::MAX).min(packets.len());
            let (part, rest) = packets.split_at_mut(count);
            for packet in part {
                if let Some(head) = data(packet).and_then(<[u8]>::first_chunk_mut) {
                    heads.write(head);
                }
                heads.step();
            }
            sequence += count as u64;
            packets = rest;
        }
    }
}

/// Writes all but the head, unless the mbuf holds it from an earlier frame. The bytes before the head depend on the length.
#[inline]
pub(crate) fn write_rest(packet: &mut Packet<Written>, template: &Template) {
    let (head_at, pattern) = (template.head_at(), template.pattern());
    let (held, due) = (*packet.private(), pattern.len() as u64 + 1);
    if head_at == 0 {
        write_pattern(packet, pattern);
    } else if held != due
        && let Ok(data) = packet.data_mut()
    {
        let (before, rest) = data.split_at_mut(head_at.min(data.len()));
        before.copy_from_slice(template.before_head());
        if let Some(rest) = rest.get_mut(HEAD_LEN..) {
            rest.copy_from_slice(pattern);
        }
        *packet.private_mut() = due;
    }
}

/// Writes the pattern after a head at the beginning, unless the mbuf holds it from an earlier frame: patterns of all lengths
/// begin alike.
#[inline]
fn write_pattern(packet: &mut Packet<Written>, pattern: &[u8]) {
    if *packet.private() >= pattern.len() as u64 {
        return;
    }
    if let Some(rest) = packet.data_mut().ok().and_then(|data| data.get_mut(HEAD_LEN..)) {
        rest.copy_from_slice(pattern);
        *packet.private_mut() = pattern.len() as u64;
    }
}
