// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device's program, in safe Rust: it receives what the guest sends, looks at every byte, cuts, shares, joins and keeps
//! frames, and sends them back.

use crate::{
    frames::bytes,
    process::{eal_args, folder, init},
    random::Random,
};
use dpdk_rs::{Burst, Eal, Mempool, Packet, Port, PortConfig, RxQueue, TxQueue, port::Started};
use std::path::PathBuf;

/// Frames in one burst.
const BURST: usize = 32;

/// The device keeps this many frames for a while, beyond the connection that they came through.
const MOST_KEPT: usize = 64;

/// A port for guests, and its pool.
pub(crate) struct Device {
    port: Port<Started>,
    rx: RxQueue,
    tx: TxQueue,
    pub(crate) pool: Mempool,
    /// The room for data in an mbuf.
    pub(crate) room: usize,
    kept: Vec<(Packet, Vec<u8>)>,
    /// Frames that the driver returned.
    pub(crate) received: u64,
    sent: u64,
}

/// Mbufs that refer to the data of others.
pub(crate) type References = Mempool;

fn socket(number: usize) -> PathBuf {
    folder().join(format!("{number}.sock"))
}

/// The devices for guests: with mbufs of the usual length, the same with buffers of their own for long frames, and with
/// mbufs for one byte each, of which there are more than an mbuf can count.
pub(crate) fn devices() -> (Eal, References, Vec<Device>) {
    let kinds: [(&str, u32, u16); 3] = [(",tso=1", 1023, 2048), (",ext-buffer=1", 511, 256), ("", 66_000, 1)];
    let args: Vec<String> = kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| format!("net_vhost{number},iface={}{}", socket(number).display(), kind.0))
        .collect();
    let mut args = eal_args(&args.iter().map(String::as_str).collect::<Vec<_>>());
    // The driver reports each message of a front-end, and each frame for which there is no mbuf.
    args.push("--log-level=critical".to_owned());
    let (eal, _) = init(args).expect("the EAL starts");
    let references = Mempool::builder("references").size(1023).cache(0).data_room(0).build(&eal).expect("a pool");
    let devices = eal.ports().into_iter().zip(kinds).map(|(port, (_, size, room))| {
        let pool = Mempool::builder(port.name()).size(size).cache(0).data_room(128 + room).build(&eal);
        let pool: Mempool = pool.expect("there is memory");
        let port = port.configure(&PortConfig::default(), &pool).expect("the port can be configured");
        let (port, mut rx, mut tx) = port.start().expect("the port can be started");
        let (rx, tx, room) = (rx.remove(0), tx.remove(0), usize::from(room));
        Device { port, rx, tx, pool, room, kept: Vec::new(), received: 0, sent: 0 }
    });
    let devices = devices.collect();
    (eal, references, devices)
}

impl Device {
    /// Where a front-end connects.
    pub(crate) fn socket(&self) -> PathBuf {
        socket(usize::from(self.port.id().get()))
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.port.link().expect("the driver knows").up
    }

    /// The frames that were dropped, since they are not what they claim to be.
    pub(crate) fn dropped(&self) -> u64 {
        self.rx.foreign()
    }

    pub(crate) const fn sent(&self) -> u64 {
        self.sent
    }

    /// Receives what is there, up to a burst.
    pub(crate) fn receive(&mut self) -> Burst<(), BURST> {
        let mut burst = Burst::new();
        let before = self.rx.foreign();
        self.rx.rx(&mut burst);
        self.received += burst.len() as u64 + (self.rx.foreign() - before);
        for packet in &burst {
            check(packet, self.room.max(65_535 * usize::from(self.room == 256)));
        }
        burst
    }

    /// Does with the frames what programs do, and sends some of them back. Returns how many.
    pub(crate) fn work(&mut self, random: &mut Random, references: &References, burst: &mut Burst<(), BURST>) -> usize {
        let mut back = Burst::<(), BURST>::new();
        for mut packet in burst.drain() {
            let rest = self.change(random, references, &mut packet);
            for packet in [Some(packet), rest].into_iter().flatten() {
                check(&packet, usize::MAX);
                // What is too much is dropped.
                match random.below(8) {
                    0 => (),
                    1 if self.kept.len() < MOST_KEPT && packet.len() < 10_000 => {
                        let bytes = bytes(&packet);
                        self.kept.push((packet, bytes));
                    }
                    _ => drop(back.push(packet)),
                }
            }
        }
        let sent = self.tx.tx(&mut back);
        self.sent += sent as u64;
        sent
    }

    /// Changes a frame, or cuts it, joins it with another, or makes a second one of it.
    fn change(&mut self, random: &mut Random, references: &References, packet: &mut Packet) -> Option<Packet> {
        let at = random.below(packet.len() as u64 + 1) as usize;
        match random.below(12) {
            0 => return packet.split_off(at, references).ok(),
            1 => return packet.share(references),
            2 => return packet.copy(&self.pool),
            3 => drop(packet.linearize()),
            4 => drop(packet.adj(at.min(packet.data().len()))),
            5 => drop(packet.trim(at)),
            6 => drop(packet.append(at.min(packet.tailroom())).map(|bytes| bytes.fill(7))),
            7 => drop(packet.prepend(at.min(packet.headroom())).map(|bytes| bytes.fill(8))),
            8 => {
                if let Some((kept, _)) = self.kept.pop() {
                    drop(packet.chain(kept));
                }
            }
            9 => {
                let _ = (packet.headers(), packet.packet_type(), packet.ip_checksum(), packet.l4_checksum());
                let _ = (packet.lro_segment_len(), packet.stripped_vlan(), packet.rss_hash(), packet.kept_crc());
            }
            _ => (),
        }
        None
    }

    /// Gives back the frames that were kept, which are as they were.
    pub(crate) fn give_back(&mut self) {
        for (packet, before) in self.kept.drain(..) {
            assert!(bytes(&packet) == before, "a frame that the device keeps has changed");
        }
    }
}

/// What holds for every frame that safe code has.
fn check(packet: &Packet, room: usize) {
    let lens = packet.segments().map(|segment| {
        // Each byte is read.
        assert!(segment.iter().fold(0_u64, |sum, byte| sum + u64::from(*byte)) <= 255 * segment.len() as u64);
        segment.len()
    });
    let (count, sum, longest) =
        lens.fold((0, 0, 0), |(count, sum, longest), len| (count + 1, sum + len, len.max(longest)));
    assert_eq!((count, sum), (packet.segment_count(), packet.len()), "segments and bytes");
    assert!(count <= 32_766 && longest <= room, "{count} segments of up to {longest} bytes");
}
