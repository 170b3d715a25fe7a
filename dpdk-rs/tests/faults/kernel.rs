// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernel's end of an interface: frames as a packet socket sends and receives them.

use nix::{
    libc,
    net::if_::if_nametoindex,
    sys::{
        socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, setsockopt, socket, sockopt},
        time::{TimeVal, TimeValLike},
    },
};
use std::os::fd::{AsRawFd, OwnedFd};

/// A local experimental EtherType: frames of the tests, and not the kernel's own.
pub(crate) const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];

/// Bytes of the Ethernet header.
pub(crate) const HEADER: usize = 14;

/// Broadcast, from a local address, of the tests' own type.
const HEADER_BYTES: [u8; HEADER] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, ETHER_TYPE[0], ETHER_TYPE[1]];

/// A frame of `len` bytes, at least of a header's length.
pub(crate) fn ours(number: usize, len: usize) -> Vec<u8> {
    let mut bytes = crate::frames::frame(number, len);
    bytes[..HEADER].copy_from_slice(&HEADER_BYTES);
    bytes
}

pub(crate) fn is_ours(bytes: &[u8]) -> bool {
    bytes.get(12..HEADER) == Some(&ETHER_TYPE)
}

/// A packet socket on one interface.
pub(crate) struct Interface(OwnedFd);

impl Interface {
    pub(crate) fn open(name: &str) -> Self {
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::empty(), SockProtocol::EthAll).unwrap();
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
            sll_ifindex: if_nametoindex(name).unwrap().cast_signed(),
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let len = size_of_val(&address) as u32;
        // SAFETY: the socket is open, and the address is one of the size given.
        let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) };
        assert_eq!(result, 0, "cannot bind to {name}: {}", std::io::Error::last_os_error());
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::seconds(20)).unwrap();
        // Frames of all sizes wait until they are read.
        setsockopt(&socket, sockopt::RcvBufForce, &(8 << 20))
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &(1 << 20)))
            .unwrap();
        Self(socket)
    }

    /// Sends a frame through the interface.
    pub(crate) fn send(&self, bytes: &[u8]) {
        assert_eq!(send(self.0.as_raw_fd(), bytes, MsgFlags::empty()), Ok(bytes.len()));
    }

    /// The next frame of the tests' own type that came in by the interface.
    pub(crate) fn receive(&self) -> Vec<u8> {
        let mut bytes = vec![0; 70_000];
        loop {
            let len = recv(self.0.as_raw_fd(), &mut bytes, MsgFlags::empty()).expect("a frame arrives");
            if is_ours(&bytes[..len]) {
                bytes.truncate(len);
                return bytes;
            }
        }
    }
}
