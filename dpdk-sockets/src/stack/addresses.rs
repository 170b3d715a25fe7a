// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The addresses of a stack: those of its configuration, and those that the network gives.

use super::{Stack, trace};
use crate::engine::{Automatic, Given};
use crate::link::Routes;
use crate::time::Time;
use crate::wire::Wire;
use core::net::{IpAddr, Ipv6Addr};
use ipnet::IpNet;

/// For so long, others can say that they have an address (RFC 4862, section 5.4; RFC 4861, section 10: RETRANS_TIMER).
const DUPLICATE_WAIT: Time = Time::from_millis(1_000);

/// What the network gives.
pub(super) struct Addressing {
    automatic: Automatic,
    given: Given,
    /// Addresses of IPv6 that are not used before this time.
    tentative: Vec<(Ipv6Addr, Time)>,
    /// Those that another host has.
    duplicate: Vec<Ipv6Addr>,
    /// Whether the program has to be told.
    pub(super) has_changed: bool,
}

impl Addressing {
    pub(super) const fn new(automatic: Automatic) -> Self {
        let given = Given { addresses: Vec::new(), routes: Vec::new() };
        Self { automatic, given, tentative: Vec::new(), duplicate: Vec::new(), has_changed: false }
    }

    /// Whether packets may come for an address, and from it.
    fn is_usable(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(_) => true,
            IpAddr::V6(address) => {
                !self.duplicate.contains(&address) && self.tentative.iter().all(|(other, _)| *other != address)
            }
        }
    }
}

impl<W: Wire> Stack<W> {
    /// The addresses that the stack has now, link-local ones included: those of [`Config::addresses`](crate::Config::addresses),
    /// and those that the network has given. An [`Event::Addresses`](crate::Event::Addresses) says that they are others.
    #[must_use]
    pub fn addresses(&self) -> &[IpNet] {
        self.link.routes().own()
    }

    /// Hands a frame to whoever asks for addresses. Returns whether it is for nobody else.
    pub(super) fn give(&mut self, bytes: &[u8]) -> bool {
        self.addressing.as_mut().is_some_and(|addressing| addressing.automatic.receive(bytes, &mut self.link))
    }

    /// Asks for addresses when it is time, and takes over those that have come.
    pub(super) fn maintain_addresses(&mut self, now: Time) {
        let Some(addressing) = &mut self.addressing else { return };
        let given = addressing.automatic.maintain(&mut self.link).cloned();
        let mut is_news = given.is_some();
        if let Some(given) = given {
            let before = core::mem::replace(&mut addressing.given, given);
            addressing.tentative.retain(|(address, _)| has(&addressing.given, *address));
            addressing.duplicate.retain(|address| has(&addressing.given, *address));
            for net in &addressing.given.addresses {
                if let IpAddr::V6(address) = net.addr()
                    && !has(&before, address)
                {
                    self.link.ask_for_duplicates(address);
                    addressing.tentative.push((address, now + DUPLICATE_WAIT));
                }
            }
        }
        for address in self.link.take_duplicates() {
            trace::duplicate(address);
            addressing.tentative.retain(|(other, _)| *other != address);
            addressing.duplicate.push(address);
        }
        let waiting = addressing.tentative.len();
        addressing.tentative.retain(|(_, until)| *until > now);
        is_news |= addressing.tentative.len() < waiting;
        if is_news {
            let given = addressing.given.addresses.iter().copied().filter(|net| addressing.is_usable(net.addr()));
            let own: Vec<IpNet> = self.config.all_addresses().into_iter().chain(given).collect();
            let routes = [&self.config.routes[..], &addressing.given.routes].concat();
            if self.link.routes().own() != own {
                trace::addresses(&own);
                addressing.has_changed = true;
            }
            self.link.set_routes(Routes::new(own, routes));
        }
    }
}

fn has(given: &Given, address: Ipv6Addr) -> bool {
    given.addresses.iter().any(|net| net.addr() == IpAddr::V6(address))
}
