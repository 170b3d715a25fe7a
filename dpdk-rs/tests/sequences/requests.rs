// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames with which a device is asked to do something. None of the devices here offers anything: what asks for something
//! is refused, the rest is sent.

use crate::{
    queues::{Sent, send},
    shelf::{Kind, PacketHeld, Shelf, TxHeld, pick},
};
use dpdk_rs::{RequestError, TxRequest, port::TxOffloads};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;

/// A burst for a queue.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Preparation {
    queue: u8,
    #[proptest(strategy = "vec(any::<(u8, Wish)>(), 0..8)")]
    packets: Vec<(u8, Wish)>,
    /// How often it is sent before it is dropped.
    #[proptest(strategy = "0_u8..3")]
    sent: u8,
    /// It is emptied before that.
    clear: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Wish {
    #[proptest(weight = 8)]
    Nothing,
    /// The lengths of headers, and nothing to be done with them.
    #[proptest(weight = 2)]
    Headers {
        l2_len: u8,
        l3_len: u16,
        v6: bool,
    },
    Vlan {
        tci: u16,
    },
    Checksums {
        l3_len: u16,
        tcp: Option<u8>,
    },
    Segments {
        v6: bool,
        l4_len: u8,
        segment_len: u16,
    },
}

impl Wish {
    /// The request, and what a device needs for it.
    fn request(self) -> (TxRequest, TxOffloads) {
        let v4_or_v6 = |v6, l2_len, l3_len| {
            if v6 { TxRequest::ipv6(l2_len, l3_len) } else { TxRequest::ipv4(l2_len, l3_len) }
        };
        match self {
            Self::Nothing => (TxRequest::new(), TxOffloads::NONE),
            Self::Headers { l2_len, l3_len, v6 } => (v4_or_v6(v6, l2_len, l3_len), TxOffloads::NONE),
            Self::Vlan { tci } => (TxRequest::new().insert_vlan(tci), TxOffloads::VLAN_INSERT),
            Self::Checksums { l3_len, tcp } => {
                let request = TxRequest::ipv4(14, l3_len).ip_checksum();
                match tcp {
                    Some(len) => (request.tcp_checksum(len), TxOffloads::IPV4_CHECKSUM | TxOffloads::TCP_CHECKSUM),
                    None => (request.udp_checksum(), TxOffloads::IPV4_CHECKSUM | TxOffloads::UDP_CHECKSUM),
                }
            }
            Self::Segments { v6, l4_len, segment_len } => {
                let request = v4_or_v6(v6, 14, if v6 { 40 } else { 20 }).tcp_segments(l4_len, segment_len);
                (request, TxOffloads::TCP_SEGMENTS)
            }
        }
    }
}

/// How many packets a burst holds.
const ROOM: usize = 4;

impl<P: Kind> Shelf<P> {
    pub(crate) fn prepare(&mut self, plan: &Preparation) -> Option<()> {
        let place = pick(&self.tx, plan.queue)?;
        let Self { tx, packets, .. } = self;
        let TxHeld { queue, token } = &mut tx[place];
        let number = queue.id();
        let mut burst = queue.prepare::<P, ROOM>();
        let mut frames = Vec::new();
        for (packet, wish) in &plan.packets {
            let Some(place) = pick(packets, *packet) else { break };
            let PacketHeld { packet, frame } = packets.remove(place);
            let (request, needs) = wish.request();
            let refusal = match (needs, frames.len()) {
                (TxOffloads::NONE, ROOM) => Some(RequestError::Full),
                (TxOffloads::NONE, _) => None,
                (needs, _) => Some(RequestError::Lacks(needs)),
            };
            match burst.push(packet, &request) {
                Ok(()) => {
                    assert_eq!(refusal, None, "{request:?} was accepted");
                    frames.push(frame);
                }
                Err((error, packet)) => {
                    assert_eq!(Some(error), refusal, "{request:?}");
                    frame.verify(&packet, false);
                    packets.push(PacketHeld { packet, frame });
                }
            }
        }
        for _ in 0..plan.sent {
            assert_eq!((burst.len(), burst.is_empty()), (frames.len(), frames.is_empty()));
            send(token, number, &mut frames, || {
                let offered = burst.len();
                Sent { offered, taken: burst.send(), dropped: 0 }
            });
        }
        assert_eq!((burst.len(), burst.rejected()), (frames.len(), 0));
        if plan.clear {
            burst.clear();
        }
        drop(burst);
        // The model of what was not sent goes right behind it.
        drop(frames);
        Some(())
    }
}
