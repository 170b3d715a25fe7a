// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Datagrams that are taken apart and put together, beside a count of who refers to what.

use crate::raw::Usage;
use dpdk_rs::{
    Burst, Eal, Mempool, Packet, PacketError, Tsc,
    fragment::{FragmentError, FragmentTable, Fragmenter},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::time::Duration;

const L2: usize = 14;
const SIZE: u32 = 63;

/// As many fragments as a table takes of one datagram.
const MOST: usize = 8;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct FragmentPlan {
    #[proptest(strategy = "vec(any::<FragmentDeed>(), 0..40)")]
    deeds: Vec<FragmentDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum FragmentDeed {
    /// Makes a datagram and its fragments.
    #[proptest(weight = 4)]
    Cut {
        #[proptest(strategy = "1_u16..1_900")]
        len: u16,
        six: bool,
        #[proptest(strategy = "prop::sample::select(&[60_u16, 68, 300, 700, 1_280])")]
        mtu: u16,
    },
    /// Gives a fragment to the table.
    #[proptest(weight = 10)]
    Give { which: u8 },
    /// A fragment is lost.
    Lose { which: u8 },
    /// The datagram itself is dropped; its fragments keep the data.
    Drop { which: u8 },
    /// The datagram is written to, if nobody refers to it any more.
    Write { which: u8 },
    /// Seconds pass.
    Wait {
        #[proptest(strategy = "0_u8..5")]
        seconds: u8,
    },
    /// The table is dropped with what is in it.
    Replace,
}

struct Datagram {
    bytes: Vec<u8>,
    six: bool,
    packet: Option<Packet>,
    pieces: usize,
    /// Fragments that were not lost, in the program's hands or in the table.
    live: usize,
    /// Those in the table, and since when.
    waiting: usize,
    since: u64,
}

/// In the order of the drops: pools that are not full would be freed later.
struct Laboratory {
    datagrams: Vec<Datagram>,
    fragments: Vec<(usize, Packet)>,
    table: Option<FragmentTable>,
    fragmenter: Fragmenter,
    pools: [Mempool; 3],
    now: u64,
}

/// Does what is planned, and frees what is left.
pub(crate) fn run(eal: &Eal, number: u64, plan: &FragmentPlan) {
    let before = Usage::now();
    let pools = [("data", 2_176), ("headers", 256), ("references", 0)].map(|(name, room)| {
        let pool = Mempool::builder(format!("{name}{number}")).size(SIZE).cache(0).data_room(room);
        pool.build(eal).expect("the pool can be made")
    });
    let [_, headers, references] = &pools;
    let fragmenter = Fragmenter::new(headers, references).expect("the pool has room for headers");
    let (datagrams, fragments) = (Vec::new(), Vec::new());
    let mut laboratory = Laboratory { pools, fragmenter, table: None, now: 1, datagrams, fragments };
    for deed in &plan.deeds {
        laboratory.act(eal, *deed);
        laboratory.compare();
    }
    drop(laboratory);
    assert_eq!(Usage::now(), before, "fragments that are gone hold memory");
}

fn bytes(packet: &Packet) -> Vec<u8> {
    packet.segments().collect::<Vec<_>>().concat()
}

/// A frame without anything that would have to change when it was put together again.
fn datagram(id: usize, six: bool, len: usize) -> Vec<u8> {
    let payload = (0..len).map(|place| (place * 3 + id) as u8);
    let header = if six {
        let len = (len as u16).to_be_bytes();
        [&[0x60, 0, 0, 0, len[0], len[1], 17, 64][..], &[1; 32]].concat()
    } else {
        let (len, id) = ((len as u16 + 20).to_be_bytes(), (id as u16).to_be_bytes());
        let mut header = vec![0x45, 0, len[0], len[1], id[0], id[1], 0, 0, 64, 17, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9];
        let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        header
    };
    [0xaa; L2].into_iter().chain(header).chain(payload).collect()
}

impl Laboratory {
    fn act(&mut self, eal: &Eal, deed: FragmentDeed) {
        match deed {
            FragmentDeed::Cut { len, six, mtu } => self.cut(usize::from(len), six, mtu),
            FragmentDeed::Give { which } => self.give(eal, which),
            FragmentDeed::Lose { which } => {
                if let Some(place) = usize::from(which).checked_rem(self.fragments.len()) {
                    let (id, _fragment) = self.fragments.swap_remove(place);
                    self.datagrams[id].live -= 1;
                }
            }
            FragmentDeed::Drop { which } => {
                if let Some(id) = usize::from(which).checked_rem(self.datagrams.len()) {
                    self.datagrams[id].packet = None;
                }
            }
            FragmentDeed::Write { which } => self.write(which),
            FragmentDeed::Wait { seconds } => {
                self.now += u64::from(seconds);
                let now = Tsc::from_cycles(self.now * eal.clock().hz());
                let over = |datagram: &&mut Datagram| datagram.waiting > 0 && datagram.since + 2 < self.now;
                let mut dropped = 0;
                for datagram in self.datagrams.iter_mut().filter(over) {
                    dropped += datagram.waiting as u64;
                    datagram.live -= datagram.waiting;
                    datagram.waiting = 0;
                }
                assert_eq!(self.table.as_mut().map_or(0, |table| table.expire(now)), dropped);
            }
            FragmentDeed::Replace => {
                self.table = None;
                for datagram in &mut self.datagrams {
                    datagram.live -= datagram.waiting;
                    datagram.waiting = 0;
                }
            }
        }
    }

    fn cut(&mut self, len: usize, six: bool, mtu: u16) {
        let id = self.datagrams.len();
        let all = datagram(id, six, len);
        let Some(mut packet) = self.pools[0].alloc() else { return };
        packet.append(all.len()).expect("the frame fits").copy_from_slice(&all);
        let mut burst = Burst::<(), MOST>::new();
        let (least, header) = if six { (1_280, 48) } else { (68, 20) };
        let result = if six {
            self.fragmenter.ipv6(&mut packet, L2, mtu, id as u32, &mut burst)
        } else {
            self.fragmenter.ipv4(&mut packet, L2, mtu, &mut burst)
        };
        let needed = len.div_ceil((usize::from(mtu) - header.min(usize::from(mtu))).max(8) & !7).max(1);
        let free = self.pools[1].available().min(self.pools[2].available());
        let pieces = burst.len();
        match result {
            Ok(count) => assert!(count == needed && count == pieces && mtu >= least),
            Err(FragmentError::Mtu { .. }) => assert!(mtu < least),
            Err(FragmentError::NoRoom { .. }) => assert!(needed > MOST),
            Err(FragmentError::NoMbuf) => assert!(needed > free),
            Err(error) => panic!("{error}"),
        }
        self.fragments.extend(burst.drain().map(|fragment| (id, fragment)));
        let since = self.now;
        self.datagrams.push(Datagram {
            bytes: all,
            six,
            packet: Some(packet),
            pieces,
            live: pieces,
            waiting: 0,
            since,
        });
    }

    fn give(&mut self, eal: &Eal, which: u8) {
        let Some(place) = usize::from(which).checked_rem(self.fragments.len()) else { return };
        let (id, fragment) = self.fragments.swap_remove(place);
        let build = || FragmentTable::builder().datagrams(64).timeout(Duration::from_secs(2)).build(eal);
        let table = self.table.get_or_insert_with(|| build().expect("the table can be made"));
        let now = Tsc::from_cycles(self.now * eal.clock().hz());
        let datagram = &mut self.datagrams[id];
        let whole = if datagram.six { table.ipv6(fragment, L2, now) } else { table.ipv4(fragment, L2, now) };
        if datagram.waiting == 0 {
            datagram.since = self.now;
        }
        datagram.waiting += 1;
        let expected = (datagram.waiting == datagram.pieces).then_some(&datagram.bytes);
        assert_eq!(whole.expect("the fragment is right").map(|whole| bytes(&whole)).as_ref(), expected);
        if expected.is_some() {
            datagram.live -= datagram.waiting;
            datagram.waiting = 0;
        }
    }

    fn write(&mut self, which: u8) {
        let Some(id) = usize::from(which).checked_rem(self.datagrams.len()) else { return };
        let datagram = &mut self.datagrams[id];
        let Some(packet) = &mut datagram.packet else { return };
        match packet.data_mut() {
            Ok(data) => {
                assert_eq!(datagram.live, 0);
                data.fill(0);
                datagram.bytes.fill(0);
            }
            Err(error) => assert!(error == PacketError::Shared && datagram.live > 0),
        }
    }

    /// Who refers to what: a fragment to an mbuf of each pool, of which those of one datagram refer to the same data.
    fn compare(&self) {
        let live: usize = self.datagrams.iter().map(|datagram| datagram.live).sum();
        let data = self.datagrams.iter().filter(|datagram| datagram.packet.is_some() || datagram.live > 0).count();
        let out = self.pools.each_ref().map(|pool| pool.size() - pool.available());
        assert_eq!(out, [data, live, live]);
        for datagram in &self.datagrams {
            if let Some(packet) = &datagram.packet {
                assert_eq!((bytes(packet) == datagram.bytes, packet.is_shared()), (true, datagram.live > 0));
            }
        }
    }
}
