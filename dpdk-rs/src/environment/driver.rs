// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device's driver reveals before the device is configured: its name, its arguments, and the arguments that
//! would be unsafe.

use super::{
    DeviceInfo,
    device_args::{self, DeviceArgs},
};
use core::ffi::CStr;
use dpdk_sys as sys;

/// `net_virtio_user` registers an interrupt handler when its peer leaves or returns, but removes it on close only if
/// link interrupts were enabled. Without them, the EAL's interrupt thread finds a closed file and ends the process.
const LINK_INTERRUPTERS: &[&str] = &["net_virtio_user"];

/// Drivers that read the data to send with the processor, at its virtual address in this process. NICs, and the peer of
/// `net_virtio_user`, can access only DPDK's memory, which is registered with them.
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

/// Drivers whose devices combine others. Such a device handles frames as its parts do.
const COMBINERS: &[&str] = &[BONDING, FAILSAFE, NETVSC];

pub(crate) fn combines(driver: &str) -> bool {
    COMBINERS.contains(&driver)
}

/// The driver that combines devices which it mostly creates itself.
pub(crate) const FAILSAFE: &str = "net_failsafe";

/// The driver that combines a synthetic device with the one of the same MAC address.
pub(crate) const NETVSC: &str = "net_netvsc";

/// The driver that combines ports which exist already.
pub(crate) const BONDING: &str = "net_bonding";

/// Whether `net_bonding` has taken a device to combine it with others.
pub(crate) fn is_member(info: &DeviceInfo<'_>) -> bool {
    // SAFETY: the flags of a device that are not null live as long as the device, and so as long as the information.
    !info.dev_flags.is_null() && unsafe { *info.dev_flags & sys::DPDK_SYS_ETH_DEV_MEMBER != 0 }
}

/// Has `net_bonding` believe that it has taken a device, or that it has not.
///
/// # Safety
/// The control plane is locked.
pub(crate) unsafe fn set_member(info: &DeviceInfo<'_>, member: bool) {
    let flags = info.dev_flags.cast_mut();
    if flags.is_null() {
        return;
    }
    // SAFETY: flags that are not null live as long as the device, and so as long as the information, in memory that drivers
    // write to while the control plane is locked.
    let flags = unsafe { &mut *flags };
    *flags = if member { *flags | sys::DPDK_SYS_ETH_DEV_MEMBER } else { *flags & !sys::DPDK_SYS_ETH_DEV_MEMBER };
}

/// The names, addresses or numbers of the devices that a device of `net_bonding` combines according to its arguments,
/// once it is configured. The driver may understand them otherwise: [`Bonding`](super::Bonding) has what it has taken.
pub(crate) fn members(info: &DeviceInfo<'_>) -> Vec<String> {
    if name(info) != BONDING {
        return Vec::new();
    }
    let args = DeviceArgs::of(info);
    ["slave", "member"].iter().flat_map(|key| args.texts(key)).map(str::to_owned).collect()
}

/// The maximum number of devices that a device of `net_failsafe` combines according to its arguments, in each of which
/// it opens a bracket. `None` if it finds out later what these devices are.
pub(crate) fn failsafe_parts(info: &DeviceInfo<'_>) -> Option<usize> {
    let args = device_args::text(info).unwrap_or_default().to_string_lossy();
    let later = ["exec(", "fd("].iter().any(|kind| args.contains(kind));
    (!later).then(|| args.matches('(').count())
}

/// Whether an argument refers to the port with this number and these names.
pub(crate) fn is_called(text: &str, id: u16, mut names: impl Iterator<Item = String>) -> bool {
    text.parse::<u16>() == Ok(id)
        || names
            .any(|name| name == text || pci_address(&name).is_some_and(|address| pci_address(text) == Some(address)))
}

/// Whether a device's name is a PCI address.
pub(crate) fn is_pci_address(name: &str) -> bool {
    pci_address(name).is_some()
}

/// Parses a PCI address, whose domain may be missing.
pub(crate) fn pci_address(text: &str) -> Option<[u32; 4]> {
    let (place, function) = text.rsplit_once('.')?;
    let mut parts = place.rsplit(':');
    let (device, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
    parts.next().is_none().then_some([number(domain)?, number(bus)?, number(device)?, number(function)?])
}

/// Whether a device can send data outside DPDK's memory. With some arguments, drivers of the list cannot: `net_memif`
/// then tells its peer where the data is, and `net_vhost` lets another device copy it.
pub(crate) fn reads_by_processor(info: &DeviceInfo<'_>) -> bool {
    PROCESSOR_READERS.contains(&name(info).as_str()) && !DeviceArgs::of(info).has_one_of(&["dmas", "zero-copy"])
}

/// Drivers that receive into mbufs whose buffers are in memory of the program, and change neither the buffers nor the
/// flag that marks them. Others overwrite the flag (many drivers of NICs, whose mbufs then seem to contain their data),
/// attach buffers of their own, or expect the data after the mbuf.
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

/// Drivers of NICs that do not change the buffers, and overwrite the flag only of the first mbuf of each frame that
/// they return: [`RxQueue`](crate::RxQueue) restores it. They can access memory outside DPDK's if it is registered.
const MARK_LOSERS: &[&str] = &["net_e1000_em"];

/// With these arguments, drivers of that list attach other buffers, or let another device write to them.
const BUFFER_CHANGERS: &[&str] = &["dmas", "ext-buffer", "mprq_en", "zero-copy"];

/// Whether a device can receive into mbufs whose buffers are in memory of the program. `outside`: that memory is not
/// DPDK's. `alone`: the device is not part of another device.
pub(crate) fn keeps_buffers(info: &DeviceInfo<'_>, outside: bool, alone: bool) -> bool {
    let name = name(info);
    (BUFFER_KEEPERS.contains(&name.as_str()) || alone && loses_marks(&name))
        && !DeviceArgs::of(info).has_one_of(BUFFER_CHANGERS)
        && (!outside || reads_by_processor(info))
}

/// Whether received mbufs may lack the flag that their buffers are in memory of the program.
pub(crate) fn loses_marks(driver: &str) -> bool {
    MARK_LOSERS.contains(&driver)
}

/// The name of a device's driver. `net_tun` is `net_tap` under another name.
pub(crate) fn name(info: &DeviceInfo<'_>) -> String {
    if info.driver_name.is_null() {
        return String::new();
    }
    // SAFETY: a driver's name that is not null is a static string of DPDK's.
    let name = unsafe { CStr::from_ptr(info.driver_name) }.to_string_lossy();
    if name == "net_tun" { "net_tap".to_owned() } else { name.into_owned() }
}

/// Drivers of virtual devices whose use of ports, pools and frames this crate knows: others write past an mbuf, as
/// `net_af_xdp` does with a frame that is longer than its own buffers. `net_softnic` runs a script at each start. The script
/// builds and loads machine code, lets a service core poll the queues of any port, whoever else polls them, writes to
/// frames that have a second owner, and creates pools that are freed when the device is stopped, while the program may
/// still have packets of them.
const KNOWN_VIRTUAL: &[&str] = &[
    BONDING,
    FAILSAFE,
    "net_af_packet",
    "net_memif",
    "net_null",
    "net_pcap",
    "net_ring",
    "net_tap",
    "net_vhost",
    "net_virtio_user",
];

/// Whether a driver is one of NICs, or known.
pub(crate) fn is_known(driver: &str, info: &DeviceInfo<'_>) -> bool {
    // SAFETY: the information is about a device that is there, and a device that is not null has a bus.
    let is_virtual = !info.device.is_null() && unsafe { sys::dpdk_sys_dev_is_virtual(info.device) } != 0;
    !is_virtual || KNOWN_VIRTUAL.contains(&driver)
}

pub(crate) fn needs_link_interrupts(driver: &str) -> bool {
    LINK_INTERRUPTERS.contains(&driver)
}

/// Whether the interface of a device is no longer where its queues were created. `net_tap` opens the interface by name
/// for each queue. If the interface was moved to another network namespace before, the kernel creates a second
/// interface of that name, and the frames of the first are lost.
pub(crate) fn has_lost_interface(driver: &str, info: &DeviceInfo<'_>) -> bool {
    // SAFETY: the call takes a number.
    driver == "net_tap" && info.if_index != 0 && unsafe { sys::dpdk_sys_has_interface(info.if_index) } == 0
}

/// Whether a device must not be closed after it, or a device that it is a part of, has failed to set up a queue or to
/// start: `net_pcap` with `infinite_rx` then frees a ring, keeps its address, and frees the ring again on close.
pub(crate) fn frees_twice(info: &DeviceInfo<'_>) -> bool {
    name(info) == "net_pcap" && DeviceArgs::of(info).numbers("infinite_rx").any(|value| value != 0)
}

/// Whether a device must not be closed: a server of `net_memif` then frees what its listener needs, and goes on to listen.
pub(crate) fn listens_when_closed(info: &DeviceInfo<'_>) -> bool {
    let is_client = |role: &str| ["client", "slave"].contains(&role);
    name(info) == "net_memif" && DeviceArgs::of(info).texts("role").any(|role| !is_client(role))
}

/// An argument of a device that must not be used with it: the argument, its value, and the allowed values.
pub(crate) type Danger = (&'static str, u32, String);

/// An argument with which the driver would access memory outside an mbuf. `room` is the data room of an mbuf after the
/// headroom, `queues` the number of queues in both directions. `owned`: the device is part of another.
pub(crate) fn danger(info: &DeviceInfo<'_>, (room, queues): (u32, u32), owned: bool) -> Option<Danger> {
    if owned && frees_twice(info) {
        // If its set-up fails, `net_failsafe` calls a function that the driver does not have.
        return Some(("argument 'infinite_rx' of net_pcap in another device", 1, "0 only".to_owned()));
    }
    let args = DeviceArgs::of(info);
    match name(info).as_str() {
        "net_null" => null_danger(&args, room),
        "net_vhost" => vhost_danger(&args),
        "net_memif" => memif_danger(&args, queues),
        "net_tap" => tap_danger(queues),
        _ => None,
    }
}

/// `net_null` sets the length of every mbuf to its argument `size`, and with `copy` writes and reads that many bytes,
/// without checking the room.
fn null_danger(args: &DeviceArgs, room: u32) -> Option<Danger> {
    if let Some(copy) = args.numbers("copy").find(|copy| *copy != 0) {
        // On transmission it reads from mbufs of any pool.
        return Some(("argument 'copy' of net_null", copy, "0 only".to_owned()));
    }
    let size = args.numbers("size").find(|size| *size > room)?;
    Some(("argument 'size' of net_null in bytes", size, format!("at most {room}, the room in the pool's mbufs")))
}

/// `net_vhost` with `legacy-ol-flags` marks received frames with the peer's offload requests, as if this process had
/// made them. Another device that sends such a frame would cut it by lengths that the peer has invented.
fn vhost_danger(args: &DeviceArgs) -> Option<Danger> {
    let legacy = args.numbers("legacy-ol-flags").find(|legacy| *legacy != 0)?;
    Some(("argument 'legacy-ol-flags' of net_vhost", legacy, "0 only".to_owned()))
}

/// `net_memif` numbers the buffers of all its queues in 16 bits, computes their bytes in a signed number of 32 bits, and
/// maps as many. Numbers that wrap lead it past the end of that memory, or to the buffer of another frame.
fn memif_danger(args: &DeviceArgs, queues: u32) -> Option<Danger> {
    let largest = |key, default| {
        let numbers = args.texts(key).map(|text| text.parse().unwrap_or(u32::MAX));
        numbers.max().unwrap_or(default)
    };
    let (bytes, log2) = (largest("bsize", 2048), largest("rsize", 10));
    let buffers = 1_u32.checked_shl(log2).map_or(u64::MAX, u64::from);
    let most = (1 << 16) / buffers.max(1);
    let most = most.min(i32::MAX as u64 / u64::from(bytes.max(1)).saturating_mul(buffers).max(1));
    let limits = format!("at most {most} with 'bsize' {bytes} and 'rsize' {log2}");
    (u64::from(queues) > most).then_some(("queues of net_memif in both directions", queues, limits))
}

/// `net_tap` sends the files of its queues to secondary processes at each start. It writes their numbers to a message of
/// its own, which has room for 8 until 24.07, without counting them.
fn tap_danger(queues: u32) -> Option<Danger> {
    let most = sys::RTE_MP_MAX_FD_NUM;
    (queues > most).then(|| ("queues of net_tap in both directions", queues, format!("at most {most}")))
}

#[cfg(test)]
mod tests {
    use super::{BUFFER_CHANGERS, DeviceArgs, is_called, memif_danger, null_danger, vhost_danger};

    #[test]
    fn arguments_that_change_buffers_are_found() {
        for harmless in ["", "iface=/tmp/dmas", "iface=/tmp/sock,queues=2", "ext-buffers=1"] {
            assert!(!DeviceArgs::from_text(harmless).has_one_of(BUFFER_CHANGERS), "{harmless}");
        }
        for text in ["ext-buffer=1", "role=client,zero-copy=yes", "queues=2,dmas=[txq0@0000:00:01.0]", "mprq_en=1"] {
            assert!(DeviceArgs::from_text(text).has_one_of(BUFFER_CHANGERS), "{text}");
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
    fn null_device_may_not_go_beyond_the_room() {
        for harmless in ["", "size=2048", "no-rx=1", "size=0x800,copy=0", "copy=0"] {
            assert_eq!(null_danger(&DeviceArgs::from_text(harmless), 2048), None, "{harmless}");
        }
        for (text, what, value) in [
            ("size=2049", "argument 'size' of net_null in bytes", 2049),
            ("copy=0,size=65535", "argument 'size' of net_null in bytes", 65_535),
            ("size=64,size=70000", "argument 'size' of net_null in bytes", 70_000),
            ("size=-1", "argument 'size' of net_null in bytes", u32::MAX),
            ("size=64,copy=1", "argument 'copy' of net_null", 1),
        ] {
            let found = null_danger(&DeviceArgs::from_text(text), 2048).map(|(what, value, _)| (what, value));
            assert_eq!(found, Some((what, value)), "{text}");
        }
    }

    #[test]
    fn buffers_of_memif_can_be_counted() {
        for (text, most) in [
            ("", 64),
            ("bsize=2048,rsize=10", 64),
            ("rsize=14", 4),
            ("rsize=014,bsize=32767", 4),
            ("rsize=14,bsize=32768", 3),
            ("rsize=1,rsize=14,bsize=65535", 2),
            ("rsize=64", 0),
            ("rsize=0x1", 0),
        ] {
            assert_eq!(memif_danger(&DeviceArgs::from_text(text), most), None, "{text}");
            assert!(memif_danger(&DeviceArgs::from_text(text), most + 1).is_some(), "{text}");
        }
    }

    #[test]
    fn vhost_may_not_pass_on_its_peers_wishes() {
        for harmless in ["", "iface=/tmp/sock,queues=1", "legacy-ol-flags=0"] {
            assert_eq!(vhost_danger(&DeviceArgs::from_text(harmless)), None, "{harmless}");
        }
        let found =
            vhost_danger(&DeviceArgs::from_text("iface=/tmp/sock,legacy-ol-flags=1")).map(|(_, value, _)| value);
        assert_eq!(found, Some(1));
    }
}
