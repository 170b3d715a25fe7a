// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The addresses of the stack, and who is reached how.

use crate::config::{Route, is_for_all, is_link_local, is_unicast};
use core::net::IpAddr;
use ipnet::IpNet;

pub(crate) struct Routes {
    own: Vec<IpNet>,
    /// Those with the longest prefix first.
    routes: Vec<Route>,
}

impl Routes {
    pub(crate) fn new(own: Vec<IpNet>, mut routes: Vec<Route>) -> Self {
        routes.sort_by_key(|route| core::cmp::Reverse(route.to.prefix_len()));
        Self { own, routes }
    }

    /// The stack's addresses.
    pub(crate) fn own(&self) -> &[IpNet] {
        &self.own
    }

    /// Whether the stack has this address.
    #[inline]
    pub(crate) fn is_own(&self, address: IpAddr) -> bool {
        self.own.iter().any(|net| net.addr() == address)
    }

    /// Whether another host can have this address, as far as the stack knows.
    pub(crate) fn is_other_host(&self, address: IpAddr) -> bool {
        is_unicast(address) && self.own.iter().all(|net| net.addr() != address && !is_for_all(net, address))
    }

    /// The host to which packets for `address` go first, if there is a way.
    pub(crate) fn hop(&self, address: IpAddr) -> Option<IpAddr> {
        if self.own.iter().any(|net| net.contains(&address)) {
            return Some(address);
        }
        if is_link_local(address) {
            return None;
        }
        self.routes.iter().find(|route| route.to.contains(&address)).map(|route| route.gateway)
    }

    /// The stack's address for packets to `address`: one of its network, or else of the network of its gateway, or else the
    /// first one. A link-local address is for link-local addresses alone (RFC 6724, section 5, rule 2).
    pub(crate) fn source(&self, address: IpAddr) -> Option<IpAddr> {
        let hop = self.hop(address)?;
        let candidates = || {
            self.own.iter().filter(|net| {
                net.addr().is_ipv4() == address.is_ipv4() && is_link_local(net.addr()) == is_link_local(address)
            })
        };
        let nearest = candidates().find(|net| net.contains(&address) || net.contains(&hop));
        nearest.or_else(|| candidates().next()).map(IpNet::addr)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Config;
    use dpdk_rs::MacAddr;

    fn routes() -> Routes {
        let mut config = Config::new(MacAddr([2, 0, 0, 0, 0, 1]), "192.0.2.1/24".parse().unwrap());
        config.addresses.push("10.0.0.1/8".parse().unwrap());
        config.addresses.push("2001:db8::1/64".parse().unwrap());
        config.addresses.push("2001:db8:0:1::1/64".parse().unwrap());
        config.routes.push(Route::default_via("192.0.2.254".parse().unwrap()));
        config.routes.push(Route { to: "203.0.113.0/24".parse().unwrap(), gateway: "10.0.0.9".parse().unwrap() });
        config.routes.push(Route::default_via("fe80::9".parse().unwrap()));
        Routes::new(config.all_addresses(), config.routes)
    }

    #[test]
    fn each_host_has_a_way_and_a_source() {
        let routes = routes();
        for (to, hop, source) in [
            ("192.0.2.7", "192.0.2.7", "192.0.2.1"),
            ("10.1.1.1", "10.1.1.1", "10.0.0.1"),
            ("198.51.100.1", "192.0.2.254", "192.0.2.1"),
            ("203.0.113.7", "10.0.0.9", "10.0.0.1"),
            ("2001:db8::7", "2001:db8::7", "2001:db8::1"),
            ("2001:db8:0:1::7", "2001:db8:0:1::7", "2001:db8:0:1::1"),
            ("2001:db8:ffff::7", "fe80::9", "2001:db8::1"),
            ("fe80::7", "fe80::7", "fe80::ff:fe00:1"),
        ] {
            let to = to.parse().unwrap();
            assert_eq!(routes.hop(to), hop.parse().ok(), "{to}");
            assert_eq!(routes.source(to), source.parse().ok(), "{to}");
        }
    }

    #[test]
    fn without_a_route_there_is_no_way() {
        let config = Config::new(MacAddr([2, 0, 0, 0, 0, 1]), "fe80::1/64".parse().unwrap());
        let routes = Routes::new(config.all_addresses(), config.routes);
        for to in ["192.0.2.7", "2001:db8::7", "fe80:0:0:1::7"] {
            let to = to.parse().unwrap();
            assert_eq!((routes.hop(to), routes.source(to)), (None, None), "{to}");
        }
    }
}
