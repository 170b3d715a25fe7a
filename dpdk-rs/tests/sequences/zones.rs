// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory zones, beside their bytes.

use crate::raw::Usage;
use dpdk_rs::{CreateError, Eal, memory::Memzone};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;

const EINVAL: i32 = 22;
const EEXIST: i32 = 17;
const ENOMEM: i32 = 12;

/// More than there is memory for.
const TOO_LONG: usize = 1 << 40;

/// DPDK rounds lengths up to lines of the cache.
const LINE: usize = 64;

/// Names under which libraries and drivers of DPDK keep zones of their own, or adopt others.
const OWN: [&str; 5] = ["rte_eth_dev_data", "rte_timer_mz", "mbuf_user_pool_ops", "port1_vq0", "rte_mbuf_dyn"];

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct ZonePlan {
    #[proptest(strategy = "vec(any::<ZoneDeed>(), 0..30)")]
    deeds: Vec<ZoneDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum ZoneDeed {
    #[proptest(weight = 4)]
    Reserve {
        #[proptest(strategy = "0_u8..10")]
        name: u8,
        #[proptest(
            strategy = "prop_oneof![12 => 1_usize..300, 4 => 300_usize..70_000, 1 => Just(0), 1 => Just(TOO_LONG)]"
        )]
        len: usize,
        #[proptest(strategy = "prop_oneof![8 => prop::sample::select(&[0_u32, 1, 64, 128, 4096]), 1 => Just(3_u32)]")]
        align: u32,
        contiguous: bool,
    },
    #[proptest(weight = 4)]
    Write {
        place: u8,
        byte: u8,
        at: u16,
    },
    Fill {
        place: u8,
        byte: u8,
    },
    #[proptest(weight = 2)]
    Find {
        #[proptest(strategy = "0_u8..10")]
        name: u8,
    },
    #[proptest(weight = 2)]
    Free {
        place: u8,
    },
}

struct Held {
    name: String,
    zone: Memzone,
    bytes: Vec<u8>,
}

/// Does with zones what is planned, and frees what is left.
pub(crate) fn run(eal: &Eal, number: u64, plan: &ZonePlan) {
    let before = Usage::now();
    let name = |name: u8| match OWN.get(usize::from(name)) {
        Some(own) => (*own).to_owned(),
        None => format!("zone{number}x{name}"),
    };
    let theirs = OWN.map(|own| Memzone::lookup(eal, own));
    let found = |zones: &[Held], which: u8| {
        let ours = zones.iter().find(|held| held.name == name(which)).map(|held| held.zone.info());
        ours.or_else(|| *theirs.get(usize::from(which))?)
    };
    let mut zones: Vec<Held> = Vec::new();
    for deed in &plan.deeds {
        match *deed {
            ZoneDeed::Reserve { name: which, len, align, contiguous } => {
                let name = name(which);
                let taken = zones.iter().any(|held| held.name == name);
                reserve(eal, &mut zones, name, (len, align, contiguous), taken);
            }
            ZoneDeed::Write { place, byte, at } => {
                if let Some(Held { zone, bytes, .. }) = chosen(&mut zones, place) {
                    let at = usize::from(at) % bytes.len();
                    zone.bytes_mut()[at] = byte;
                    bytes[at] = byte;
                }
            }
            ZoneDeed::Fill { place, byte } => {
                if let Some(Held { zone, bytes, .. }) = chosen(&mut zones, place) {
                    zone.bytes_mut().fill(byte);
                    bytes.fill(byte);
                }
            }
            ZoneDeed::Find { name: which } => {
                assert_eq!(Memzone::lookup(eal, &name(which)), found(&zones, which));
            }
            ZoneDeed::Free { place } => {
                if let Some(place) = usize::from(place).checked_rem(zones.len()) {
                    drop(zones.swap_remove(place));
                }
            }
        }
        for Held { name, zone, bytes } in &zones {
            assert!(zone.bytes() == bytes, "the bytes of {name} have changed");
        }
    }
    drop(zones);
    assert_eq!(Usage::now(), before, "zones that are gone hold memory");
}

fn chosen(zones: &mut [Held], place: u8) -> Option<&mut Held> {
    let place = usize::from(place).checked_rem(zones.len())?;
    zones.get_mut(place)
}

fn reserve(eal: &Eal, zones: &mut Vec<Held>, name: String, asked: (usize, u32, bool), taken: bool) {
    let (len, align, contiguous) = asked;
    let builder = Memzone::builder(name.as_str(), len).align(align);
    let builder = if contiguous { builder.contiguous() } else { builder };
    let expected = match asked {
        (0, ..) => Some(EINVAL),
        _ if taken => Some(EEXIST),
        (_, 3, _) => Some(EINVAL),
        (TOO_LONG, ..) => Some(ENOMEM),
        _ => None,
    };
    match builder.build(eal) {
        Ok(zone) => {
            assert_eq!(expected, None, "{name} of {asked:?} was reserved");
            let info = zone.info();
            assert!((len..len + LINE).contains(&info.len) && info.len == zone.bytes().len(), "{info:?}");
            assert_eq!((info.addr, info.addr.addr() % (align.max(1) as usize)), (zone.bytes().as_ptr(), 0));
            let bytes = vec![0; info.len];
            assert!(zone.bytes() == bytes, "a new zone is not of zeros");
            zones.push(Held { name, zone, bytes });
        }
        Err(CreateError::Create { errno, .. }) => assert_eq!(Some(errno.get()), expected, "{name} of {asked:?}"),
        Err(error) => panic!("{error}"),
    }
}
