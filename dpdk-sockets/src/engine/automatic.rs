// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Addresses that the network gives: DHCP (RFC 2131) and stateless autoconfiguration (RFC 4862). For each, smoltcp has an
//! interface of its own, which is handed nothing but what concerns it.

use super::instant;
use crate::config::{self, Route};
use crate::ethernet::Ethernet;
use crate::link::Link;
use crate::wire::Wire;
use ahash::RandomState;
use core::net::{IpAddr, Ipv6Addr};
use ipnet::{IpNet, Ipv6Net};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Checksum, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::dhcpv4;
use smoltcp::time::Instant;
use smoltcp::wire::{
    ArpOperation, ArpPacket, DHCP_CLIENT_PORT, ETHERNET_HEADER_LEN, EthernetAddress, EthernetProtocol, HardwareAddress,
    Icmpv6Message, Icmpv6Packet, IpCidr, IpProtocol, Ipv4Packet, Ipv6Packet, UdpPacket,
};

/// What the network has given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Given {
    pub(crate) addresses: Vec<IpNet>,
    pub(crate) routes: Vec<Route>,
}

/// Who asks for addresses.
pub(crate) struct Automatic {
    dhcp: Option<Dhcp>,
    slaac: Option<Interface>,
    none: SocketSet<'static>,
    mtu: usize,
    given: Given,
    /// Addresses of it that another host has.
    duplicate: Vec<Ipv6Addr>,
    /// What of it is used.
    used: Given,
}

struct Dhcp {
    interface: Interface,
    set: SocketSet<'static>,
    handle: SocketHandle,
    given: Given,
}

/// What a frame is about.
enum Subject {
    /// A message of DHCP.
    Dhcp,
    /// Who has an address: perhaps the DHCP server.
    Arp,
    /// The advertisement of a router.
    Router,
}

impl Automatic {
    /// `None` if the network is not to be asked.
    pub(crate) fn new<W: Wire>(config: &config::Config, link: &mut Link<W>) -> Option<Self> {
        if !config.dhcp && !config.slaac {
            return None;
        }
        let dhcp = config.dhcp.then(|| {
            let mut set = SocketSet::new(Vec::new());
            let handle = set.add(dhcpv4::Socket::new());
            Dhcp { interface: interface(config, link, false), set, handle, given: Given::default() }
        });
        let slaac = config.slaac.then(|| {
            let mut interface = interface(config, link, true);
            let own = Ipv6Net::new_assert(config::link_local(config.mac), 64);
            interface.update_ip_addrs(|addresses| addresses.extend([cidr(own.into())]));
            interface
        });
        Some(Self {
            dhcp,
            slaac,
            none: SocketSet::new(Vec::new()),
            mtu: config.mtu,
            given: Given::default(),
            duplicate: Vec::new(),
            used: Given::default(),
        })
    }

    /// Takes what concerns it. Returns whether nobody else is to see the frame.
    pub(crate) fn receive<W: Wire>(&mut self, bytes: &[u8], link: &mut Link<W>) -> bool {
        let Some(header) = Ethernet::parse(bytes, link.vlan()) else { return false };
        let payload = &bytes[Ethernet::len(link.vlan())..];
        let Some(subject) = subject(header.ethertype, payload) else { return false };
        let mut frame = vec![0; ETHERNET_HEADER_LEN];
        header.emit(&mut frame, None);
        frame.extend_from_slice(payload);
        let now = instant(link.now());
        let mut device = Frames { frame: Some(frame), link, mtu: self.mtu };
        match (&subject, &mut self.dhcp, &mut self.slaac) {
            (Subject::Dhcp | Subject::Arp, Some(dhcp), _) => {
                dhcp.interface.poll_ingress_single(now, &mut device, &mut dhcp.set);
            }
            (Subject::Router, _, Some(slaac)) => {
                slaac.poll_ingress_single(now, &mut device, &mut self.none);
            }
            _ => return false,
        }
        !matches!(subject, Subject::Arp)
    }

    /// Another host has this address.
    pub(crate) fn exclude(&mut self, address: Ipv6Addr) {
        self.duplicate.push(address);
    }

    /// Asks and renews when it is time. Returns what of the network's the stack is to use, if that has changed.
    pub(crate) fn maintain<W: Wire>(&mut self, link: &mut Link<W>) -> Option<&Given> {
        let given = self.ask(link);
        for net in &given.addresses {
            if let IpAddr::V6(address) = net.addr()
                && !self.given.has(address)
            {
                link.ask_for_duplicates(address);
            }
        }
        self.duplicate.retain(|address| given.has(*address));
        let is_used = |net: &&IpNet| match net.addr() {
            IpAddr::V4(_) => true,
            IpAddr::V6(address) => !link.is_tentative(address) && !self.duplicate.contains(&address),
        };
        let addresses = given.addresses.iter().filter(is_used).copied().collect();
        let used = Given { addresses, routes: given.routes.clone() };
        self.given = given;
        if used == self.used {
            return None;
        }
        self.used = used;
        Some(&self.used)
    }

    /// What the network has given.
    fn ask<W: Wire>(&mut self, link: &mut Link<W>) -> Given {
        let now = instant(link.now());
        let mut given = Given::default();
        let mut device = Frames { frame: None, link, mtu: self.mtu };
        if let Some(dhcp) = &mut self.dhcp {
            dhcp.interface.poll(now, &mut device, &mut dhcp.set);
            dhcp.take();
            given.addresses.clone_from(&dhcp.given.addresses);
            given.routes.clone_from(&dhcp.given.routes);
        }
        if let Some(slaac) = &mut self.slaac {
            slaac.poll(now, &mut device, &mut self.none);
            let made = slaac.ip_addrs().iter().filter_map(|cidr| net(*cidr));
            given.addresses.extend(made.filter(|net| !config::is_link_local(net.addr())));
            slaac.routes_mut().update(|routes| {
                given.routes.extend(
                    routes
                        .iter()
                        .filter_map(|route| Some(Route { to: net(route.cidr)?, gateway: route.via_router.into() })),
                );
            });
        }
        given
    }
}

impl Given {
    fn has(&self, address: Ipv6Addr) -> bool {
        self.addresses.iter().any(|net| net.addr() == IpAddr::V6(address))
    }
}

impl Dhcp {
    /// Takes over what the server has said.
    fn take(&mut self) {
        let Some(event) = self.set.get_mut::<dhcpv4::Socket<'_>>(self.handle).poll() else { return };
        self.given = Given::default();
        let mut router = None;
        if let dhcpv4::Event::Configured(lease) = event
            && let Some(address) = net(IpCidr::Ipv4(lease.address))
        {
            self.given.addresses.push(address);
            // One outside the network could not be reached.
            router = lease.router.filter(|router| address.contains(&IpAddr::V4(*router)));
        }
        self.given.routes.extend(router.map(|router| Route::default_via(router.into())));
        let own: Vec<IpCidr> = self.given.addresses.iter().copied().map(cidr).collect();
        self.interface.update_ip_addrs(|addresses| {
            addresses.clear();
            addresses.extend(own);
        });
        // The server that renews the lease may be elsewhere.
        let routes = self.interface.routes_mut();
        routes.remove_default_ipv4_route();
        if let Some(router) = router {
            let _ = routes.add_default_ipv4_route(router); // there is room for one
        }
    }
}

fn subject(ethertype: EthernetProtocol, payload: &[u8]) -> Option<Subject> {
    match ethertype {
        EthernetProtocol::Arp => {
            let packet = ArpPacket::new_checked(payload).ok()?;
            (packet.operation() == ArpOperation::Reply).then_some(Subject::Arp)
        }
        EthernetProtocol::Ipv4 => {
            let packet = Ipv4Packet::new_checked(payload).ok().filter(|ip| ip.next_header() == IpProtocol::Udp)?;
            let datagram = UdpPacket::new_checked(packet.payload()).ok()?;
            (datagram.dst_port() == DHCP_CLIENT_PORT).then_some(Subject::Dhcp)
        }
        EthernetProtocol::Ipv6 => {
            let packet = Ipv6Packet::new_checked(payload).ok().filter(|ip| ip.next_header() == IpProtocol::Icmpv6)?;
            let message = Icmpv6Packet::new_checked(packet.payload()).ok()?;
            (message.msg_type() == Icmpv6Message::RouterAdvert).then_some(Subject::Router)
        }
        EthernetProtocol::Unknown(_) => None,
    }
}

fn interface<W: Wire>(config: &config::Config, link: &mut Link<W>, slaac: bool) -> Interface {
    let mut host = Config::new(HardwareAddress::Ethernet(EthernetAddress(config.mac.0)));
    host.slaac = slaac;
    // Transactions of DHCP have numbers that nobody else knows.
    host.random_seed = RandomState::new().hash_one(config.mac.0);
    let now = instant(link.now());
    Interface::new(host, &mut Frames { frame: None, link, mtu: config.mtu }, now)
}

fn net(cidr: IpCidr) -> Option<IpNet> {
    IpNet::new(cidr.address().into(), cidr.prefix_len()).ok()
}

fn cidr(net: IpNet) -> IpCidr {
    IpCidr::new(net.addr().into(), net.prefix_len())
}

/// A device of smoltcp that hands out one Ethernet frame, and sends to the link.
struct Frames<'d, W: Wire> {
    frame: Option<Vec<u8>>,
    link: &'d mut Link<W>,
    mtu: usize,
}

impl<W: Wire> Device for Frames<'_, W> {
    type RxToken<'t>
        = Frame
    where
        Self: 't;
    type TxToken<'t>
        = Transmission<'t, W>
    where
        Self: 't;

    fn receive(&mut self, _: Instant) -> Option<(Frame, Transmission<'_, W>)> {
        Some((Frame(self.frame.take()?), Transmission(self.link)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Transmission<'_, W>> {
        self.link.wire.has_room().then_some(Transmission(self.link))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = ETHERNET_HEADER_LEN + self.mtu;
        // The link, or the device, writes them.
        capabilities.checksum.ipv4 = Checksum::Rx;
        capabilities.checksum.udp = Checksum::Rx;
        capabilities
    }
}

/// A frame that smoltcp reads.
struct Frame(Vec<u8>);

impl RxToken for Frame {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

/// Room for a frame that smoltcp writes.
struct Transmission<'t, W: Wire>(&'t mut Link<W>);

impl<W: Wire> TxToken for Transmission<'_, W> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let mut frame = vec![0; len];
        let result = write(&mut frame);
        if let Some(header) = Ethernet::parse(&frame, None) {
            self.0.transmit_frame(header, &frame[Ethernet::len(None)..]);
        }
        result
    }
}
