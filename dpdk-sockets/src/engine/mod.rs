// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What of smoltcp runs the protocol: a connection is a set of one socket, so that a segment costs the same however many
//! connections there are. Another engine would take the place of this module.

mod automatic;
mod device;
mod path_mtu;
mod seed;
mod socket;

use crate::config::CongestionControl;
use crate::demux::Packet;
use crate::link::{Hop, Link};
use crate::time::Time;
use crate::wire::Wire;
pub(crate) use automatic::Automatic;
use core::net::{IpAddr, SocketAddr};
use core::num::NonZeroUsize;
pub(crate) use device::Sent;
use device::{OneFrame, Silent};
pub(crate) use path_mtu::PathMtu;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpCidr, IpListenEndpoint, TcpSeqNumber};
pub(crate) use socket::{Buffers, Socket, State};

/// When a socket has something to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Now,
    At(Time),
    /// When a segment arrives, or when the program does something.
    Never,
}

/// An address of the stack, and the maximum length of packets from there to some hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path(usize);

/// What a [`Path`] stands for.
struct Way {
    from: IpAddr,
    mtu: PathMtu,
    /// The maximum length of a packet that the device cuts.
    uncut: Option<NonZeroUsize>,
    interface: Interface,
}

/// What all connections of a stack share.
pub(crate) struct Engine {
    /// Of each [`Path`].
    ways: Vec<Way>,
    mtu: usize,
    /// The maximum length of an IPv4 packet with a TCP segment that the device cuts into packets of the MTU.
    uncut: Option<NonZeroUsize>,
    keep_alive: Option<Duration>,
    congestion: Option<CongestionControl>,
    none: SocketSet<'static>,
}

impl Engine {
    /// `mtu` is the maximum length of an IP packet, and `uncut` that of a packet that the device cuts. Peers that are silent for
    /// `keep_alive` are asked for a sign.
    pub(crate) fn new(
        mtu: usize,
        uncut: usize,
        keep_alive: Option<Time>,
        congestion: Option<CongestionControl>,
    ) -> Self {
        let uncut = NonZeroUsize::new(uncut).filter(|uncut| uncut.get() > mtu);
        let keep_alive = keep_alive.map(|time| Duration::from_micros(time.as_micros()));
        Self { ways: Vec::new(), mtu, uncut, keep_alive, congestion, none: SocketSet::new(Vec::new()) }
    }

    /// The path from an address of the stack to hosts that packets of this length reach. There are as many as [`PathMtu`] has
    /// values, and one more for hosts that take segments as long as the device cuts them, if it does.
    pub(crate) fn path(&mut self, from: IpAddr, mtu: PathMtu, takes_cut: bool) -> Path {
        let uncut = self.uncut.filter(|_| takes_cut && from.is_ipv4() && mtu == self.longest());
        let found = self.ways.iter().position(|way| (way.from, way.mtu, way.uncut) == (from, mtu, uncut));
        Path(found.unwrap_or_else(|| {
            let interface = interface(from, mtu.0, uncut, 1, Time::ZERO);
            self.ways.push(Way { from, mtu, uncut, interface });
            self.ways.len() - 1
        }))
    }

    /// The maximum length of packets on a path.
    pub(crate) fn path_mtu(&self, path: Path) -> PathMtu {
        self.ways[path.0].mtu
    }

    /// The longest path MTU.
    pub(crate) const fn longest(&self) -> PathMtu {
        PathMtu(self.mtu)
    }

    /// A socket that begins to connect, with this initial sequence number.
    pub(crate) fn connect(
        &self,
        local: SocketAddr,
        remote: SocketAddr,
        initial: TcpSeqNumber,
        buffers: Buffers,
        now: Time,
    ) -> Option<Socket> {
        let mut socket = Socket::new(buffers, self.keep_alive, self.congestion);
        let mut interface = interface(local.ip(), self.mtu, None, seed::seed(initial), now);
        socket.tcp_mut().connect(interface.context(), remote, local).ok()?;
        Some(socket)
    }

    /// A socket that has received `packet`, which is a SYN for `local`, and answers it with this initial sequence number.
    /// `None` if the segment is damaged.
    pub(crate) fn accept<W: Wire>(
        &self,
        packet: &[u8],
        local: SocketAddr,
        initial: TcpSeqNumber,
        buffers: Buffers,
        link: &mut Link<W>,
        hop: Hop,
    ) -> Option<Socket> {
        let now = link.now();
        let mut socket = Socket::new(buffers, self.keep_alive, self.congestion);
        let endpoint = IpListenEndpoint { addr: Some(local.ip().into()), port: local.port() };
        socket.tcp_mut().listen(endpoint).ok()?;
        let mut interface = interface(local.ip(), self.mtu, None, seed::seed(initial), now);
        let mut device = OneFrame::new(Some(packet), link, hop, self.mtu);
        interface.poll_ingress_single(instant(now), &mut device, &mut socket.set);
        (socket.state() == State::SynReceived).then_some(socket)
    }

    /// A socket after a handshake of which the peer hears nothing: it has received the packets `syn` and `ack`, and its first
    /// number is `initial`. `None` if they are no handshake.
    pub(crate) fn shake<W: Wire>(
        &mut self,
        [syn, ack]: [&[u8]; 2],
        (local, path): (SocketAddr, Path),
        initial: TcpSeqNumber,
        buffers: Buffers,
        link: &mut Link<W>,
    ) -> Option<Socket> {
        let mut socket = self.accept(syn, local, initial, buffers, link, Hop::Nowhere)?;
        self.transmit(&mut socket, link, Hop::Nowhere, path, initial);
        self.receive(ack, &mut socket, link, Hop::Nowhere, path, initial + 1);
        matches!(socket.state(), State::Established | State::CloseWait).then_some(socket)
    }

    /// Hands a segment to its socket, which has sent all numbers before `next`. Returns what the socket answered at once.
    pub(crate) fn receive<W: Wire>(
        &mut self,
        packet: &[u8],
        socket: &mut Socket,
        link: &mut Link<W>,
        hop: Hop,
        path: Path,
        next: TcpSeqNumber,
    ) -> Option<Sent> {
        let now = instant(link.now());
        let mut device = OneFrame::new(Some(packet), link, hop, self.mtu).after(next);
        self.ways[path.0].interface.poll_ingress_single(now, &mut device, &mut socket.set);
        device.sent
    }

    /// Sends at most one segment of a socket that has sent all numbers before `next`, in a packet that is not longer than the path
    /// takes.
    pub(crate) fn transmit<W: Wire>(
        &mut self,
        socket: &mut Socket,
        link: &mut Link<W>,
        hop: Hop,
        path: Path,
        next: TcpSeqNumber,
    ) -> Option<Sent> {
        let now = link.now();
        self.transmit_at(socket, link, hop, path, next, now)
    }

    /// As [`transmit`](Self::transmit), with another time: at the one of [`next`](Self::next), the socket repeats what the peer
    /// has not acknowledged.
    pub(crate) fn transmit_at<W: Wire>(
        &mut self,
        socket: &mut Socket,
        link: &mut Link<W>,
        hop: Hop,
        path: Path,
        next: TcpSeqNumber,
        now: Time,
    ) -> Option<Sent> {
        let now = instant(now);
        let mut device = OneFrame::new(None, link, hop, self.mtu).after(next);
        self.ways[path.0].interface.poll_egress(now, &mut device, &mut socket.set);
        device.sent
    }

    /// When a socket has something to send next.
    pub(crate) fn next(&mut self, socket: &Socket, path: Path, now: Time) -> Next {
        match self.ways[path.0].interface.poll_at(instant(now), &socket.set) {
            None => Next::Never,
            Some(at) if at <= instant(now) => Next::Now,
            Some(at) => Next::At(Time::from_micros(at.total_micros().cast_unsigned())),
        }
    }

    /// Answers a packet that is not TCP: echo requests (RFC 792, RFC 4443), and in IPv6 datagrams that nobody serves.
    pub(crate) fn answer<W: Wire>(&mut self, packet: Packet<'_>, link: &mut Link<W>) {
        let now = instant(link.now());
        let path = self.path(packet.to, PathMtu(self.mtu), false);
        let mut device = OneFrame::new(Some(packet.bytes), link, Hop::Mac(packet.from), self.mtu);
        self.ways[path.0].interface.poll_ingress_single(now, &mut device, &mut self.none);
    }
}

/// The numbers that an interface draws depend on its seed.
fn interface(address: IpAddr, mtu: usize, uncut: Option<NonZeroUsize>, seed: u64, now: Time) -> Interface {
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = seed;
    let mut interface = Interface::new(config, &mut Silent { mtu, uncut }, instant(now));
    // Which host is reached how is the link's business: for the engine, all are on one network.
    interface.update_ip_addrs(|addresses| addresses.extend([IpCidr::new(address.into(), 0)]));
    interface
}

fn instant(now: Time) -> Instant {
    Instant::from_micros(now.as_micros().cast_signed())
}
