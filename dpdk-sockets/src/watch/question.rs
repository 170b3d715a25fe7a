// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What another thread asks a stack, which answers when it is polled.

use super::{ConnectionInfo, Counters, TcpState};
use core::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

/// The most connections in one answer.
pub(crate) const PAGE: usize = 16;

/// The stack looks at no more connections for one answer, so that its other work does not wait for long.
pub(crate) const MOST_LOOKED_AT: usize = 1_000;

/// A question, and where the answer goes.
#[derive(Debug)]
pub(crate) enum Question {
    Counters(SyncSender<Sums>),
    Connections(Query, SyncSender<Page>),
}

/// A stack's end of the way to it.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) questions: Receiver<Question>,
    /// The other end sees by it that the stack has gone.
    pub(crate) _alive: Arc<()>,
}

/// What is said of a stack as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) counters: Counters,
    pub(crate) connections: usize,
    pub(crate) time_waits: usize,
}

/// Which connections are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// How many connections are passed over, whatever they are.
    pub(crate) from: usize,
    pub(crate) local_port: Option<u16>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) state: Option<TcpState>,
}

/// Some of the connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// How many there are in all.
    pub(crate) total: usize,
    /// The connections with their places in the list.
    pub(crate) connections: Vec<(usize, ConnectionInfo)>,
    /// From where the list goes on, if it does.
    pub(crate) next: Option<usize>,
}

impl Query {
    pub(crate) fn wants(&self, connection: &ConnectionInfo) -> bool {
        self.local_port.is_none_or(|port| port == connection.local.port())
            && self.peer.is_none_or(|peer| peer == connection.peer.ip())
            && self.state.is_none_or(|state| state == connection.state)
    }

    /// Reads `from=16,peer=192.0.2.7`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        for condition in text.split(',').filter(|condition| !condition.is_empty()) {
            let is_set = condition.split_once('=').and_then(|(name, value)| query.set(name, value)).is_some();
            if !is_set {
                return Err(format!("'{condition}' is no condition: give from=N, port=N, peer=IP or state=STATE"));
            }
        }
        Ok(query)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "from" => self.from = value.parse().ok()?,
            "port" => self.local_port = Some(value.parse().ok()?),
            "peer" => self.peer = Some(value.parse().ok()?),
            "state" => self.state = Some(TcpState::ALL.into_iter().find(|state| state.to_string() == value)?),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn conditions_are_read() {
        let peer = Some(Ipv4Addr::new(192, 0, 2, 7).into());
        for (text, query) in [
            ("", Query::default()),
            ("from=16", Query { from: 16, ..Query::default() }),
            ("port=80,peer=192.0.2.7", Query { local_port: Some(80), peer, ..Query::default() }),
            ("state=FIN-WAIT-1", Query { state: Some(TcpState::FinWait1), ..Query::default() }),
        ] {
            assert_eq!(Query::parse(text), Ok(query), "{text}");
        }
        for bad in ["from", "from=-1", "port=65536", "peer=here", "state=open", "what=1"] {
            assert!(Query::parse(&format!("from=1,{bad}")).is_err_and(|why| why.contains(&format!("'{bad}'"))));
        }
    }
}
