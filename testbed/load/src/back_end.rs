// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What stands behind a proxy: it answers each request by the same page, as fast as the proxy's window allows, and ends the
//! connection after the one that asks for it.

use crate::addresses::BACK_END;
use crate::page::{ANSWER, CLOSE, END_OF_HEAD, LAST_ANSWER};
use crate::segment::{FIN, RST, SYN, Segment, Template};
use smoltcp::wire::TcpControl;

/// The most in one segment.
const SEGMENT_LEN: usize = 1_460;
const PORTS: usize = u16::MAX as usize + 1;
/// The first sequence number of each connection.
const FIRST: u32 = 1_000_000;

/// A segment of the back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Which one of the templates.
    template: usize,
    to_port: u16,
    seq: u32,
    ack: u32,
}

/// The answer to a proxy's port that is on its way.
#[derive(Clone, Copy, Debug)]
struct Sending {
    /// Its first sequence number.
    seq: u32,
    /// What was received.
    ack: u32,
    /// So many of its segments are sent.
    sent: usize,
    /// So many of its bytes are acknowledged.
    acknowledged: usize,
    /// Whether the end of the connection follows it, as a segment and a byte of the sequence.
    is_last: bool,
}

impl Sending {
    /// Everything is sent and acknowledged.
    const DONE: Self = Self { seq: 0, ack: 0, sent: SEGMENTS, acknowledged: ANSWER.len(), is_last: false };

    const fn segments(self) -> usize {
        SEGMENTS + self.is_last as usize
    }

    /// Without the end.
    const fn data_len(self) -> usize {
        if self.is_last { LAST_ANSWER.len() } else { ANSWER.len() }
    }

    const fn len(self) -> usize {
        self.data_len() + self.is_last as usize
    }
}

/// The back end's segments, of which only numbers change.
#[derive(Debug)]
pub(crate) struct BackEnd {
    /// To a SYN, to a FIN, to one after the back end's own, the answer, and the last one with the end of the connection.
    templates: Vec<Template>,
    /// By the proxy's ports, as soon as there is a proxy.
    sending: Vec<Sending>,
}

const TO_SYN: usize = 0;
const TO_FIN: usize = 1;
const TO_LAST_FIN: usize = 2;
const FIRST_OF_ANSWER: usize = 3;
const FIRST_OF_LAST_ANSWER: usize = FIRST_OF_ANSWER + SEGMENTS;
/// Of both answers.
const SEGMENTS: usize = ANSWER.len().div_ceil(SEGMENT_LEN);
const _: () = assert!(SEGMENTS == LAST_ANSWER.len().div_ceil(SEGMENT_LEN));

impl BackEnd {
    pub(crate) fn new() -> Self {
        let empty = |control| Template::new(BACK_END, control, &[]);
        let first = [TcpControl::Syn, TcpControl::Fin, TcpControl::None].map(empty);
        let answers = ANSWER.chunks(SEGMENT_LEN).chain(LAST_ANSWER.chunks(SEGMENT_LEN));
        let answers = answers.map(|data| Template::new(BACK_END, TcpControl::Psh, data));
        let templates = first.into_iter().chain(answers).chain([empty(TcpControl::Fin)]).collect();
        Self { templates, sending: Vec::new() }
    }

    /// What answers a segment.
    pub(crate) fn take(&mut self, segment: &Segment<'_>) -> impl Iterator<Item = Reply> + use<> {
        let to_port = segment.from_port;
        let ack = segment.seq.wrapping_add(segment.data.len() as u32);
        if self.sending.is_empty() {
            self.sending = vec![Sending::DONE; PORTS];
        }
        let sending = &mut self.sending[usize::from(to_port)];
        let ends = segment.flags & (SYN | FIN | RST);
        let to_end = match ends {
            SYN => Some((TO_SYN, FIRST)),
            FIN if sending.is_last => Some((TO_LAST_FIN, segment.ack)),
            FIN => Some((TO_FIN, segment.ack)),
            _ => None,
        };
        if ends == 0 && segment.data.ends_with(END_OF_HEAD) {
            let is_last = segment.data.ends_with(CLOSE);
            *sending = Sending { seq: segment.ack, ack, sent: 0, acknowledged: 0, is_last };
        } else if ends == FIN {
            (sending.sent, sending.acknowledged) = (sending.segments(), sending.len());
        } else if ends != 0 {
            *sending = Sending::DONE;
        } else {
            // One of an earlier answer is far away.
            let acknowledged = segment.ack.wrapping_sub(sending.seq) as usize;
            sending.acknowledged =
                sending.acknowledged.max(if acknowledged > sending.len() { 0 } else { acknowledged });
        }
        let room = sending.acknowledged + usize::from(segment.window);
        let may_be_sent = if room >= sending.data_len() { sending.segments() } else { room / SEGMENT_LEN };
        let first = sending.sent;
        sending.sent = first.max(may_be_sent);
        let answer = of_answer(*sending, to_port, first);
        answer.chain(to_end.map(|(template, seq)| Reply { template, to_port, seq, ack: ack.wrapping_add(1) }))
    }

    /// What was lost of answers, perhaps: all that was sent and is not acknowledged.
    pub(crate) fn missing(&self) -> impl Iterator<Item = Reply> + '_ {
        self.sending.iter().enumerate().filter(|(_, sending)| sending.acknowledged < sending.len()).flat_map(
            |(port, sending)| {
                let is_end = sending.acknowledged >= sending.data_len();
                let first = if is_end { SEGMENTS } else { sending.acknowledged / SEGMENT_LEN };
                of_answer(*sending, port as u16, first)
            },
        )
    }

    /// The length of a reply's frame.
    pub(crate) fn len(&self, reply: Reply) -> usize {
        self.templates[reply.template].len()
    }

    /// Writes the frame of a reply, which has that length.
    #[inline]
    pub(crate) fn write(&self, reply: Reply, frame: &mut [u8]) {
        self.templates[reply.template].write(frame, reply.to_port, reply.seq, reply.ack);
    }
}

/// The segments that are sent, from this one on.
fn of_answer(sending: Sending, to_port: u16, first: usize) -> impl Iterator<Item = Reply> {
    (first..sending.sent).map(move |number| Reply {
        template: number + if sending.is_last { FIRST_OF_LAST_ANSWER } else { FIRST_OF_ANSWER },
        to_port,
        seq: sending.seq.wrapping_add((number * SEGMENT_LEN).min(sending.data_len()) as u32),
        ack: sending.ack,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        BackEnd, FIRST, FIRST_OF_ANSWER, FIRST_OF_LAST_ANSWER, Reply, SEGMENT_LEN, SEGMENTS, TO_FIN, TO_LAST_FIN,
        TO_SYN,
    };
    use crate::page::{ANSWER, LAST_ANSWER};
    use crate::segment::{FIN, SYN, Segment};

    const PORT: u16 = 40_000;
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

    fn take(back_end: &mut BackEnd, flags: u8, seq: u32, ack: u32, data: &[u8], window: u16) -> Vec<Reply> {
        let (to, to_port) = crate::addresses::BACK_END;
        back_end.take(&Segment { to, to_port, from_port: PORT, seq, ack, flags, window, data }).collect()
    }

    const fn reply(template: usize, seq: u32, ack: u32) -> Reply {
        Reply { template, to_port: PORT, seq, ack }
    }

    const WIDE: u16 = 60_000;

    #[test]
    fn a_connection_opens_gets_pages_and_closes() {
        let mut back_end = BackEnd::new();
        assert_eq!(take(&mut back_end, SYN, 7, 0, b"", WIDE), [reply(TO_SYN, FIRST, 8)]);
        assert_eq!(take(&mut back_end, 0, 8, FIRST + 1, b"", WIDE), []);
        let after = 8 + REQUEST.len() as u32;
        for number in 0..2 {
            let seq = FIRST + 1 + number * ANSWER.len() as u32;
            let answer = take(&mut back_end, 0, 8, seq, REQUEST, WIDE);
            assert_eq!((answer.len(), answer[1]), (8, reply(FIRST_OF_ANSWER + 1, seq + SEGMENT_LEN as u32, after)));
        }
        let seq = FIRST + 1 + 2 * ANSWER.len() as u32;
        assert_eq!(take(&mut back_end, FIN, after, seq, b"", WIDE), [reply(TO_FIN, seq, after + 1)]);
        assert_eq!(back_end.missing().count(), 0);
    }

    #[test]
    fn the_last_page_is_followed_by_the_end() {
        let mut back_end = BackEnd::new();
        let request = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
        let (seq, after) = (FIRST + 1, 8 + request.len() as u32);
        let end = reply(FIRST_OF_LAST_ANSWER + SEGMENTS, seq + LAST_ANSWER.len() as u32, after);
        let answer = take(&mut back_end, 0, 8, seq, request, WIDE);
        assert_eq!((answer.len(), answer[SEGMENTS]), (SEGMENTS + 1, end));
        assert_eq!(take(&mut back_end, 0, after, seq + LAST_ANSWER.len() as u32, b"", WIDE), []);
        assert_eq!(back_end.missing().collect::<Vec<_>>(), [end]);
        let last = seq + LAST_ANSWER.len() as u32 + 1;
        assert_eq!(take(&mut back_end, FIN, after, last, b"", WIDE), [reply(TO_LAST_FIN, last, after + 1)]);
        assert_eq!(back_end.missing().count(), 0);
        assert_eq!(take(&mut back_end, SYN, 7, 0, b"", WIDE), [reply(TO_SYN, FIRST, 8)]);
        assert_eq!(take(&mut back_end, FIN, 8, FIRST + 1, b"", WIDE), [reply(TO_FIN, FIRST + 1, 9)]);
    }

    #[test]
    fn what_is_not_acknowledged_is_sent_again() {
        let mut back_end = BackEnd::new();
        take(&mut back_end, 0, 8, FIRST + 1, REQUEST, WIDE);
        let after = 8 + REQUEST.len() as u32;
        let acknowledged = FIRST + 1 + 6 * SEGMENT_LEN as u32;
        assert_eq!(take(&mut back_end, 0, after, acknowledged, b"", WIDE), []);
        let again: Vec<_> = back_end.missing().collect();
        let wanted = |number| reply(FIRST_OF_ANSWER + number, FIRST + 1 + (number * SEGMENT_LEN) as u32, after);
        assert_eq!(again, [6, 7].map(wanted));
        take(&mut back_end, 0, after, FIRST + 1 + ANSWER.len() as u32, b"", WIDE);
        assert_eq!(back_end.missing().count(), 0);
    }

    #[test]
    fn no_more_is_sent_than_the_window_takes() {
        let mut back_end = BackEnd::new();
        let acknowledged = |segments: usize| FIRST + 1 + (segments * SEGMENT_LEN) as u32;
        assert_eq!(take(&mut back_end, 0, 8, acknowledged(0), REQUEST, 4_096).len(), 2);
        assert_eq!(take(&mut back_end, 0, 8, acknowledged(1), b"", 2_636).len(), 0);
        assert_eq!(take(&mut back_end, 0, 8, acknowledged(2), b"", 0).len(), 0);
        assert_eq!(take(&mut back_end, 0, 8, acknowledged(2), b"", 5_000).len(), 3);
        assert_eq!(take(&mut back_end, 0, 8, acknowledged(5), b"", 4_096).len(), 3);
    }
}
