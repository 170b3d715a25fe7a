// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The differences between the drivers of configured ports that matter for safety.

use super::{DeviceInfo, driver};
use dpdk_sys as sys;

/// Drivers that send frames of any number of segments in any configuration. Others may rely on one segment only, and
/// then lose the rest of a chain.
const CHAIN_SENDERS: &[&str] =
    &["net_af_packet", "net_memif", "net_null", "net_pcap", "net_ring", "net_vhost", "net_virtio", "net_virtio_user"];

/// `net_tap` sends frames of any number of segments, but passes them to the kernel in an array on the stack, which
/// overflows a small stack. The kernel takes 1,024 pieces at once (`IOV_MAX`), two of which are the driver's own: its
/// header and, for frames whose checksum it writes, a copy of theirs.
const TAP_SEGMENTS: u16 = 1022;

/// `net_tap` cuts TCP segments itself, and copies their headers into mbufs with this many bytes of room, without
/// checking the length. It also copies the flags: if they say that the data is in another buffer, the driver frees a
/// buffer that the new mbuf does not have.
const TAP_HEADERS: u16 = 128;

/// `net_pcap` counts in 16 bits the bytes that it copies of a captured frame, but in 32 bits the length of the frame.
/// For more than 65,535 bytes it loses a multiple of 65,536, and its own transmit function searches for them after the
/// last segment.
///
/// Some releases of `net_memif` from 23.03 on (DPDK bug 1609) write each piece of a chain to the start of the same
/// mbuf, and add up the lengths: the sum exceeds the mbuf's room.
///
/// `net_vhost` counts the segments of a frame in 16 bits, and its guest chooses how many there are: the descriptors of
/// a chain may name the same memory many times.
const MISCOUNTERS: &[&str] = &["net_memif", "net_pcap", "net_vhost"];

/// `net_memif` from 23.03 on takes the data room from the pool of a frame's first mbuf. If its peer's buffers are as
/// large, it copies each segment into one buffer, even a longer segment: from another pool, with bytes in the headroom,
/// or with the data of another mbuf.
const TRUSTERS: &[&str] = &["net_memif"];

/// `net_vhost` removes VLAN tags from frames without checking the length: a frame of less than four bytes, which its
/// peer can send, makes it write to address 0.
const BLIND_STRIPPERS: &[&str] = &["net_vhost"];

/// Drivers that read headers of a sent frame without checking its length, and how many bytes from its start: the
/// destination address, for statistics; in `net_bonding` the headers up to the ports, with two VLAN tags and IPv6. Behind
/// a buffer of the program there may be nothing to read. `net_virtio_user` sends no such buffer. `net_tun`, which has the
/// driver of `net_tap`, reads the version of IP.
const BLIND_READERS: &[(&str, u16)] =
    &[("net_bonding", 66), ("net_netvsc", 6), ("net_tap", 1), ("net_vhost", 6), ("net_virtio", 6)];

/// `net_vhost` frees what it knows of its peer as soon as the peer has gone, on a thread that waits for receive and
/// transmit calls, but not for a count of waiting frames, for extended counters, or for a switch of RX interrupts.
const PEER_LOSERS: &[&str] = &["net_vhost"];

/// `net_failsafe` has a service core wait for the interrupts of its parts. When the port is stopped, the driver frees what
/// the core waits with, and does not wait for the core.
const INTERRUPT_PROXIES: &[&str] = &["net_failsafe"];

/// `net_af_packet` compares the length of a frame with its ring before it inserts a VLAN tag, and then writes up to four
/// bytes past the frame's place in the ring: into the next one, or past the ring.
const LATE_TAGGERS: &[&str] = &["net_af_packet"];

/// `net_af_packet` closes its sockets when it is stopped, and opens none when it is started. It then receives nothing,
/// and once its ring is full it waits for ever for room to send.
const STOPPED_FOR_GOOD: &[&str] = &["net_af_packet"];

/// Drivers whose devices receive the same mbufs that were sent, by any process. A process only knows of its own packets
/// whether their data is shared: see `references::ANY_SHARED`.
const PASSERS: &[&str] = &["net_ring"];

/// The quirks of a port's driver. The device computes them once, when it is configured; its queues have copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// The maximum number of segments of a frame that the driver sends correctly, as the device is configured.
    pub(crate) most_segments: u16,
    /// The maximum length of the headers of a frame that the driver cuts into TCP segments correctly, in bytes.
    pub(crate) most_headers: u16,
    /// The driver reads so many bytes from the start of a sent frame, however long the frame is.
    pub(crate) reads: u16,
    /// The driver sends a segment correctly only if it fits in an mbuf of the first segment's pool.
    pub(crate) trusts_lengths: bool,
    /// Another process may receive the sent mbufs, and does not know that this process shares their data.
    pub(crate) passes_mbufs: bool,
    /// Received frames may have other lengths, or another number of segments, than their first mbuf says.
    pub(crate) miscounts: bool,
    /// The driver overwrites the flag of received mbufs whose buffers are in memory of the program, and such mbufs may
    /// exist.
    pub(crate) loses_marks: bool,
    /// The driver must be asked for nothing that it reads from its peer's state, which another thread may be freeing.
    pub(crate) loses_peers: bool,
    /// The driver must not remove VLAN tags from frames.
    pub(crate) strips_blindly: bool,
    /// The driver must not insert VLAN tags into frames.
    pub(crate) tags_late: bool,
    /// The driver cannot restart a stopped device.
    pub(crate) stops_for_good: bool,
}

impl Default for Quirks {
    /// The quirks of an unknown driver.
    fn default() -> Self {
        Self { most_segments: 1, most_headers: 0, ..Self::NONE }
    }
}

impl Quirks {
    /// Whether the driver itself cuts frames into TCP segments.
    pub(crate) const fn cuts_segments(self) -> bool {
        self.most_headers != u16::MAX
    }

    const NONE: Self = Self {
        most_segments: u16::MAX,
        most_headers: u16::MAX,
        reads: 0,
        trusts_lengths: false,
        passes_mbufs: false,
        miscounts: false,
        loses_marks: false,
        loses_peers: false,
        strips_blindly: false,
        tags_late: false,
        stops_for_good: false,
    };

    /// The quirks of a device of this process with these TX offloads: all quirks of its drivers, if it combines several
    /// devices. `outside`: mbufs exist whose buffers are in memory of the program.
    pub(crate) fn of_own(drivers: &[(String, DeviceInfo<'_>)], tx_offloads: u64, outside: bool) -> Self {
        let mut quirks = if drivers.is_empty() { Self::default() } else { Self::NONE };
        for (driver, info) in drivers {
            quirks.add(driver, info, tx_offloads);
            quirks.loses_marks |= outside && driver::loses_marks(driver);
        }
        quirks
    }

    /// The quirks of a device that another process has configured. Its TX offloads and its parts are unknown.
    pub(crate) fn of_foreign(driver: &str, info: &DeviceInfo<'_>) -> Self {
        let mut quirks = Self::NONE;
        quirks.add(driver, info, 0);
        // This process knows what it shares itself, but not what the other process shares.
        quirks.passes_mbufs = PASSERS.contains(&driver) || driver::combines(driver);
        quirks
    }

    /// Whether RX interrupts are safe with all of these drivers, which are those of a device and of its parts.
    pub(crate) fn may_interrupt(drivers: &[(String, DeviceInfo<'_>)]) -> bool {
        let unsafe_with = |driver: &str| PEER_LOSERS.contains(&driver) || INTERRUPT_PROXIES.contains(&driver);
        !drivers.iter().any(|(driver, _)| unsafe_with(driver))
    }

    fn add(&mut self, driver: &str, info: &DeviceInfo<'_>, tx_offloads: u64) {
        let is_one_of = |drivers: &[&str]| drivers.contains(&driver);
        self.most_segments = self.most_segments.min(most_segments(driver, info, tx_offloads));
        self.most_headers = self.most_headers.min(if driver == "net_tap" { TAP_HEADERS } else { u16::MAX });
        let reads = BLIND_READERS.iter().find(|(reader, _)| *reader == driver);
        self.reads = self.reads.max(reads.map_or(0, |(_, bytes)| *bytes));
        self.trusts_lengths |= sys::DPDK_SYS_MEMIF_TRUSTS_LENGTHS != 0 && is_one_of(TRUSTERS);
        self.miscounts |= is_one_of(MISCOUNTERS);
        self.loses_peers |= is_one_of(PEER_LOSERS);
        self.strips_blindly |= is_one_of(BLIND_STRIPPERS);
        self.tags_late |= is_one_of(LATE_TAGGERS);
        self.stops_for_good |= is_one_of(STOPPED_FOR_GOOD);
    }
}

/// The maximum number of segments of a frame that a driver sends correctly with these TX offloads.
fn most_segments(driver: &str, info: &DeviceInfo<'_>, offloads: u64) -> u16 {
    if CHAIN_SENDERS.contains(&driver) {
        return u16::MAX;
    }
    if driver == "net_tap" {
        return TAP_SEGMENTS;
    }
    if offloads & sys::DPDK_SYS_TX_OFFLOAD_MULTI_SEGS == 0 {
        return 1;
    }
    // Drivers without a limit report 0.
    match info.tx_desc_lim.nb_seg_max {
        0 => u16::MAX,
        most => most,
    }
}

#[cfg(test)]
mod tests {
    use super::{Quirks, TAP_HEADERS, TAP_SEGMENTS};
    use dpdk_sys as sys;

    fn own(drivers: &[&str], tx_offloads: u64, outside: bool) -> Quirks {
        let drivers: Vec<_> = drivers.iter().map(|driver| ((*driver).to_owned(), <_>::default())).collect();
        Quirks::of_own(&drivers, tx_offloads, outside)
    }

    #[test]
    fn most_drivers_send_chains_if_they_are_configured_for_it() {
        let none = Quirks::NONE;
        assert_eq!(own(&["net_ixgbe"], 0, true), Quirks { most_segments: 1, ..none });
        assert_eq!(own(&["net_ixgbe"], sys::DPDK_SYS_TX_OFFLOAD_MULTI_SEGS, true), none);
        assert_eq!(own(&["net_null"], 0, true), none);
    }

    #[test]
    fn a_device_has_the_quirks_of_all_that_it_combines() {
        let quirks = own(&["net_bonding", "net_tap", "net_vhost"], sys::DPDK_SYS_TX_OFFLOAD_MULTI_SEGS, false);
        assert_eq!((quirks.most_segments, quirks.most_headers), (TAP_SEGMENTS, TAP_HEADERS));
        assert_eq!(quirks.reads, 66);
        assert!(quirks.loses_peers && quirks.strips_blindly && quirks.miscounts && !quirks.stops_for_good);
    }

    #[test]
    fn marks_matter_where_buffers_lie_in_memory_of_the_program() {
        assert!(own(&["net_e1000_em"], 0, true).loses_marks);
        assert!(!own(&["net_e1000_em"], 0, false).loses_marks);
    }

    #[test]
    fn mbufs_are_passed_on_by_other_processes_only() {
        assert!(!own(&["net_ring"], 0, true).passes_mbufs);
        for (driver, passes) in [("net_ring", true), ("net_failsafe", true), ("net_null", false)] {
            assert_eq!(Quirks::of_foreign(driver, &<_>::default()).passes_mbufs, passes, "{driver}");
        }
    }
}
