// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The addresses of a stack: those of its configuration, and those that the network gives.

use super::{Stack, trace};
use crate::link::Routes;
use crate::wire::Wire;
use ipnet::IpNet;

impl<W: Wire> Stack<W> {
    /// The addresses that the stack has now, link-local ones included: those of [`Config::addresses`](crate::Config::addresses),
    /// and those that the network has given. An [`Event::Addresses`](crate::Event::Addresses) says that they are others.
    #[must_use]
    pub fn addresses(&self) -> &[IpNet] {
        self.link.routes().own()
    }

    /// Hands a frame to whoever asks for addresses. Returns whether it is for nobody else.
    pub(super) fn give(&mut self, bytes: &[u8]) -> bool {
        self.automatic.as_mut().is_some_and(|automatic| automatic.receive(bytes, &mut self.link))
    }

    /// Asks for addresses when it is time, and takes over those that have come.
    pub(super) fn maintain_addresses(&mut self) {
        let Some(automatic) = &mut self.automatic else { return };
        for address in self.link.take_duplicates() {
            trace::duplicate(address);
            automatic.exclude(address);
        }
        let Some(used) = automatic.maintain(&mut self.link) else { return };
        let own = [&self.config.all_addresses()[..], &used.addresses].concat();
        let routes = [&self.config.routes[..], &used.routes].concat();
        if self.link.routes().own() != own {
            trace::addresses(&own);
            self.has_other_addresses = true;
        }
        self.link.set_routes(Routes::new(own, routes));
    }
}
