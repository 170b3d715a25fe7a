// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What single drivers do that the others do not, as far as safety hangs on it.

use core::ffi::CStr;
use dpdk_sys as sys;

/// Drivers that send frames of any number of segments without having been configured for it. Others may be told to
/// expect one segment only, and then forget the rest of a chain.
const CHAIN_SENDERS: &[&str] =
    &["net_af_packet", "net_memif", "net_null", "net_pcap", "net_ring", "net_vhost", "net_virtio", "net_virtio_user"];

/// `net_tap` sends frames of any number of segments, but hands them to the kernel as an array on the stack, which overflows a
/// small one. The kernel takes 1,024 pieces at once (`IOV_MAX`), of which one is the driver's own.
const TAP_SEGMENTS: u16 = 1023;

/// `net_tap` cuts TCP segments itself, and copies their headers into mbufs with so many bytes of room, without a look at it.
const TAP_HEADERS: usize = 128;

/// `net_pcap` counts in 16 bits what it copies of a captured frame, and in 32 bits what there was: of more than 65,535 bytes it
/// loses a multiple of 65,536, and its own transmit function looks for them behind the last segment.
///
/// `net_memif` of some releases from 23.03 on (DPDK's bug 1609) writes each piece of a chain to the start of the same mbuf,
/// and adds up their lengths: more than there is room for.
const MISCOUNTERS: &[&str] = &["net_memif", "net_pcap"];

/// `net_memif` from 23.03 on takes the room for data in the mbufs of the pool that a frame's first mbuf is from, and if a buffer
/// of its peer has as much, copies each segment into one, however long it is: of another pool, with bytes in the headroom, or
/// with the data of another mbuf.
const TRUSTERS: &[&str] = &["net_memif"];

/// `net_virtio_user` registers a handler for interrupts when its peer goes or comes back, and takes it away on close only
/// if link interrupts were asked for: without, the EAL's interrupt thread finds a closed file and ends the process.
const LINK_INTERRUPTERS: &[&str] = &["net_virtio_user"];

/// `net_vhost` takes VLAN tags off frames without a look at their length: a frame of less than four bytes, which its peer can
/// send, makes it write to address 0.
const BLIND_STRIPPERS: &[&str] = &["net_vhost"];

/// `net_vhost` counts the frames that its peer has left for it in memory that another thread may be freeing, since the peer has
/// gone: while it receives or sends that thread waits, here it does not.
const BLIND_COUNTERS: &[&str] = &["net_vhost"];

/// `net_af_packet` closes its sockets when it is stopped, and opens none when it is started: it then receives nothing, and
/// once its ring is full waits without end for room to send.
const STOPPED_FOR_GOOD: &[&str] = &["net_af_packet"];

/// Drivers that read what they send with the processor, at its virtual address in this process. NICs, and the peer of
/// `net_virtio_user`, reach DPDK's memory only, which they were told of.
const PROCESSOR_READERS: &[&str] = &[
    "net_af_packet",
    "net_bonding",
    "net_failsafe",
    "net_memif",
    "net_null",
    "net_pcap",
    "net_ring",
    "net_tap",
    "net_vhost",
];

/// Drivers whose devices receive the very mbufs that were sent, by whatever process. Whether data is shared a process knows only of
/// its own packets: see `share::ANY_SHARED`.
const PASSERS: &[&str] = &["net_ring"];

/// Drivers whose devices combine others. What these do with frames they do too.
const COMBINERS: &[&str] = &["net_bonding", "net_failsafe", "net_netvsc"];

pub(super) fn combines(driver: &str) -> bool {
    COMBINERS.contains(&driver)
}

pub(super) fn passes_mbufs(driver: &str) -> bool {
    PASSERS.contains(&driver)
}

/// Whether `net_bonding` has taken a device to combine it with others.
pub(super) fn is_member(info: &sys::rte_eth_dev_info) -> bool {
    // SAFETY: the flags of a device that are not null live as long as the device, which the caller has just asked.
    unsafe { sys::dpdk_sys_eth_is_member(info) != 0 }
}

/// What a device of `net_bonding` is told to combine, once it is configured: names, addresses or numbers.
pub(super) fn members(info: &sys::rte_eth_dev_info) -> Vec<String> {
    if name(info) != "net_bonding" {
        return Vec::new();
    }
    let args = args(info).unwrap_or_default();
    let pairs = args.split(',').filter_map(|pair| pair.split_once('='));
    let members = pairs.filter(|(key, _)| ["slave", "member"].contains(&key.trim()));
    members.map(|(_, value)| value.trim().to_owned()).collect()
}

/// Whether an argument means the port of this number, of which the names are these.
pub(super) fn is_called(text: &str, id: u16, mut names: impl Iterator<Item = String>) -> bool {
    text.parse::<u16>() == Ok(id)
        || names
            .any(|name| name == text || pci_address(&name).is_some_and(|address| pci_address(text) == Some(address)))
}

/// Whether a device's name is a PCI address.
pub(crate) fn is_pci_address(name: &str) -> bool {
    pci_address(name).is_some()
}

/// A PCI address, of which the domain may be missing.
pub(super) fn pci_address(text: &str) -> Option<[u32; 4]> {
    let (place, function) = text.rsplit_once('.')?;
    let mut parts = place.rsplit(':');
    let (device, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
    parts.next().is_none().then_some([number(domain)?, number(bus)?, number(device)?, number(function)?])
}

/// Whether a device sends what lies outside DPDK's memory too. With some arguments drivers of the list do not: `net_memif` then
/// passes on where its peer finds the data, `net_vhost` has another device copy it.
pub(super) fn reads_by_processor(info: &sys::rte_eth_dev_info) -> bool {
    let told = |args: String| has_one_of(&args, &["dmas", "zero-copy"]);
    PROCESSOR_READERS.contains(&name(info).as_str()) && !args(info).is_some_and(told)
}

/// Drivers that receive into mbufs whose buffers lie in memory of the program, and leave both the buffers and the mark that says so
/// as they are. Others write over the mark (many of NICs, whose mbufs are then taken for such as hold their data themselves), attach
/// buffers of their own, or look for the data behind the mbuf.
const BUFFER_KEEPERS: &[&str] = &[
    "mlx5_pci",
    "net_af_packet",
    "net_bonding",
    "net_failsafe",
    "net_memif",
    "net_null",
    "net_pcap",
    "net_ring",
    "net_tap",
    "net_vhost",
];

/// Drivers of NICs that leave the buffers as they are, and write over the mark of no mbuf but the first of each frame that they hand
/// out: it is put back then ([`RxQueue`](crate::RxQueue)). What lies outside DPDK's memory they reach if it is registered.
const MARK_LOSERS: &[&str] = &["net_e1000_em"];

/// With these arguments drivers of that list attach other buffers, or have another device write to them.
const BUFFER_CHANGERS: &[&str] = &["dmas", "ext-buffer", "mprq_en", "zero-copy"];

/// Whether a device receives into mbufs whose buffers lie in memory of the program; `outside`: that memory is not DPDK's either.
/// `alone`: it is not part of another device.
pub(super) fn keeps_buffers(info: &sys::rte_eth_dev_info, outside: bool, alone: bool) -> bool {
    let name = name(info);
    (BUFFER_KEEPERS.contains(&name.as_str()) || alone && loses_marks(&name))
        && !args(info).is_some_and(|args| has_one_of(&args, BUFFER_CHANGERS))
        && (!outside || reads_by_processor(info))
}

/// Whether received mbufs may lack the mark that their buffers lie in memory of the program.
pub(super) fn loses_marks(driver: &str) -> bool {
    MARK_LOSERS.contains(&driver)
}

/// Whether a device was made with one of these arguments.
fn has_one_of(args: &str, keys: &[&str]) -> bool {
    let pairs = args.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, _)| key.trim()).any(|key| keys.contains(&key))
}

/// The name of a device's driver.
pub(super) fn name(info: &sys::rte_eth_dev_info) -> String {
    if info.driver_name.is_null() {
        return String::new();
    }
    // SAFETY: a driver's name that is not null is a static string of DPDK's.
    unsafe { CStr::from_ptr(info.driver_name) }.to_string_lossy().into_owned()
}

/// Drivers that do with ports, pools and frames what this crate cannot see beforehand. `net_softnic` runs a script whenever it is
/// started, which builds and loads machine code, has a service core poll the queues of any port that it names, whoever else does,
/// writes to frames that have a second owner, and makes pools that are freed when the device is stopped, while the program may
/// still have packets of them.
const UNBOUND: &[&str] = &["net_softnic"];

pub(super) fn is_unbound(driver: &str) -> bool {
    UNBOUND.contains(&driver)
}

pub(super) fn needs_link_interrupts(driver: &str) -> bool {
    LINK_INTERRUPTERS.contains(&driver)
}

/// Whether a device works again that was stopped and started.
pub(super) fn restarts(driver: &str) -> bool {
    !STOPPED_FOR_GOOD.contains(&driver)
}

/// Whether no segment may be longer than the room for data in the mbufs of the first one's pool.
pub(super) fn trusts_lengths(driver: &str) -> bool {
    sys::DPDK_SYS_MEMIF_TRUSTS_LENGTHS != 0 && TRUSTERS.contains(&driver)
}

pub(super) fn counts_blindly(driver: &str) -> bool {
    BLIND_COUNTERS.contains(&driver)
}

pub(super) fn strips_blindly(driver: &str) -> bool {
    BLIND_STRIPPERS.contains(&driver)
}

/// The longest headers of a frame that the driver cuts into TCP segments right, in bytes.
pub(super) fn most_headers(driver: &str) -> usize {
    if driver == "net_tap" { TAP_HEADERS } else { usize::from(u16::MAX) }
}

pub(super) fn miscounts(driver: &str) -> bool {
    MISCOUNTERS.contains(&driver)
}

/// The most segments of a frame that a device sends right with these TX offloads.
pub(super) fn most_segments(driver: &str, info: &sys::rte_eth_dev_info, offloads: u64) -> u16 {
    if CHAIN_SENDERS.contains(&driver) {
        return u16::MAX;
    }
    if driver == "net_tap" {
        return TAP_SEGMENTS;
    }
    if offloads & sys::DPDK_SYS_TX_OFFLOAD_MULTI_SEGS == 0 {
        return 1;
    }
    // Drivers that have no limit say 0.
    match info.tx_desc_lim.nb_seg_max {
        0 => u16::MAX,
        most => most,
    }
}

/// Whether a device must not be closed once it, or a device that it is a part of, has refused to set up a queue or to start.
/// `net_pcap` with `infinite_rx` then frees a ring, keeps its address, and frees it again on close.
pub(super) fn frees_twice(info: &sys::rte_eth_dev_info) -> bool {
    name(info) == "net_pcap" && args(info).is_some_and(|args| values(&args, "infinite_rx").any(|value| value != 0))
}

/// What a device was asked to do that its driver would do to memory that is not the mbuf's: what it is, the value, and
/// what is allowed. `room` is the room for data in an mbuf, behind the headroom; `owned`: the device is part of another.
pub(super) fn danger(info: &sys::rte_eth_dev_info, room: u32, owned: bool) -> Option<(&'static str, u32, String)> {
    if owned && frees_twice(info) {
        // When it refuses to be set up, `net_failsafe` calls a function that it does not have.
        return Some(("as argument 'infinite_rx' of net_pcap in another device", 1, "0 only".to_owned()));
    }
    let look = match name(info).as_str() {
        "net_null" => null_danger,
        "net_bonding" => bonding_danger,
        "net_vhost" => vhost_danger,
        _ => return None,
    };
    look(&args(info)?, room)
}

/// The arguments that a device was made with, if it has any.
fn args(info: &sys::rte_eth_dev_info) -> Option<String> {
    if info.device.is_null() {
        return None;
    }
    // SAFETY: the device of an ethdev lives as long as the ethdev, which the caller has just asked.
    let args = unsafe { sys::dpdk_sys_dev_args(info.device) };
    if args.is_null() {
        return None;
    }
    // SAFETY: arguments that are not null are a string that lives as long as the device.
    Some(unsafe { CStr::from_ptr(args) }.to_string_lossy().into_owned())
}

/// `net_null` gives every mbuf the length of its argument `size`, and with `copy` writes and reads as many bytes, without a
/// look at the room.
fn null_danger(args: &str, room: u32) -> Option<(&'static str, u32, String)> {
    if let Some(copy) = values(args, "copy").find(|copy| *copy != 0) {
        // On transmit it reads from mbufs of any pool.
        return Some(("as argument 'copy' of net_null", copy, "0 only".to_owned()));
    }
    let size = values(args, "size").find(|size| *size > room)?;
    Some(("bytes as argument 'size' of net_null", size, format!("at most {room}, the room in the pool's mbufs")))
}

/// `net_bonding` sends in broadcast mode one mbuf through several devices at once, and a ring under it receives it as often:
/// packets that are one.
fn bonding_danger(args: &str, _room: u32) -> Option<(&'static str, u32, String)> {
    const BROADCAST: u32 = 3;
    let mode = values(args, "mode").find(|mode| *mode == BROADCAST || *mode == u32::MAX)?;
    Some(("as argument 'mode' of net_bonding", mode, "any other than broadcast, 3".to_owned()))
}

/// `net_vhost` with `legacy-ol-flags` marks received frames as if this process wanted its peer's wishes done: another device
/// that they are sent to would cut them by lengths that the peer has made up.
fn vhost_danger(args: &str, _room: u32) -> Option<(&'static str, u32, String)> {
    let legacy = values(args, "legacy-ol-flags").find(|legacy| *legacy != 0)?;
    Some(("as argument 'legacy-ol-flags' of net_vhost", legacy, "0 only".to_owned()))
}

/// The values of one of a device's arguments.
fn values<'a>(args: &'a str, key: &'a str) -> impl Iterator<Item = u32> + 'a {
    let pairs = args.split(',').filter_map(|pair| pair.split_once('='));
    pairs.filter(move |(name, _)| name.trim() == key).map(|(_, value)| number(value))
}

/// A number as C's `strtoul` takes it; the largest one for everything that is not plainly a number.
fn number(text: &str) -> u32 {
    let text = text.trim();
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8),
        None => text.parse(),
    };
    parsed.unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{BUFFER_CHANGERS, bonding_danger, has_one_of, is_called, null_danger, number, vhost_danger};

    #[test]
    fn arguments_that_change_buffers_are_found() {
        for harmless in ["", "iface=/tmp/dmas", "iface=/tmp/sock,queues=2", "ext-buffers=1", "zero-copy"] {
            assert!(!has_one_of(harmless, BUFFER_CHANGERS), "{harmless}");
        }
        for args in ["ext-buffer=1", "role=client,zero-copy=yes", "queues=2, dmas=[txq0@0000:00:01.0]", "mprq_en=1"] {
            assert!(has_one_of(args, BUFFER_CHANGERS), "{args}");
        }
    }

    #[test]
    fn ports_are_called_by_name_number_and_address() {
        let is = |text: &str, name: &str| is_called(text, 3, [name.to_owned()].into_iter());
        for (text, name) in [
            ("net_ring0", "net_ring0"),
            ("3", "net_ring0"),
            ("0000:04:0a.1", "0000:04:0a.1"),
            ("04:0A.1", "0000:04:0a.1"),
            ("4:a.1", "0000:04:0a.1"),
        ] {
            assert!(is(text, name), "{text} {name}");
        }
        for (text, name) in [("net_ring1", "net_ring0"), ("30", "net_ring0"), ("1:04:0a.1", "0000:04:0a.1"), ("", "x")]
        {
            assert!(!is(text, name), "{text} {name}");
        }
    }

    #[test]
    fn numbers_are_those_of_strtoul() {
        for (text, value) in [("64", 64), ("0x40", 64), ("0X40", 64), ("0100", 64), ("0", 0), (" 64 ", 64)] {
            assert_eq!(number(text), value, "{text}");
        }
        for text in ["", "-1", "64x", "0x", "09", "4294967296", "[64]"] {
            assert_eq!(number(text), u32::MAX, "{text}");
        }
    }

    #[test]
    fn null_device_may_not_go_beyond_the_room() {
        for harmless in ["", "size=2048", "no-rx=1", "size=0x800,copy=0", "copy=0"] {
            assert_eq!(null_danger(harmless, 2048), None, "{harmless}");
        }
        for (args, what, value) in [
            ("size=2049", "bytes as argument 'size' of net_null", 2049),
            ("copy=0,size=65535", "bytes as argument 'size' of net_null", 65_535),
            ("size=64,size=70000", "bytes as argument 'size' of net_null", 70_000),
            ("size=-1", "bytes as argument 'size' of net_null", u32::MAX),
            ("size=64,copy=1", "as argument 'copy' of net_null", 1),
        ] {
            let found = null_danger(args, 2048).map(|(what, value, _)| (what, value));
            assert_eq!(found, Some((what, value)), "{args}");
        }
    }

    #[test]
    fn bonding_may_not_broadcast() {
        for harmless in ["", "mode=0,slave=net_ring0", "slave=net_ring0,mode=4"] {
            assert_eq!(bonding_danger(harmless, 2048), None, "{harmless}");
        }
        assert!(bonding_danger("slave=net_ring0,mode=3", 2048).is_some());
    }
    #[test]
    fn vhost_may_not_pass_on_its_peers_wishes() {
        for harmless in ["", "iface=/tmp/sock,queues=1", "legacy-ol-flags=0"] {
            assert_eq!(vhost_danger(harmless, 2048), None, "{harmless}");
        }
        let found = vhost_danger("iface=/tmp/sock,legacy-ol-flags=1", 2048).map(|(_, value, _)| value);
        assert_eq!(found, Some(1));
    }
}
