// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Which port sends the frames that another receives, and which lcore forwards them.

use crate::error::{Error, UsageError, warn};
use std::collections::{BTreeMap, BTreeSet};

/// Forwarding pairs as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortMap {
    pub(crate) text: String,
    pairs: Vec<(u16, u16)>,
}

/// A port in use. Its peer sends the frames that it receives; peers are a permutation of the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortPair {
    pub(crate) port: u16,
    pub(crate) peer: u16,
}

/// One RX queue with the TX queue of the same number on the peer port, and the lcore that owns both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueAssignment {
    pub(crate) lcore: u32,
    pub(crate) port: u16,
    pub(crate) peer: u16,
    pub(crate) queue: u16,
}

/// Whether a port is in a mask, which has 64 bits.
pub(crate) fn in_mask(port_mask: u64, port: u16) -> bool {
    port_mask.checked_shr(u32::from(port)).is_some_and(|mask| mask & 1 == 1)
}

fn read_port(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Reads `a,b`, of `(a,b)[,(c,d)]…` without blanks.
fn read_pair(text: &str) -> Option<(u16, u16)> {
    let (a, b) = text.split_once(',')?;
    Some((read_port(a)?, read_port(b)?))
}

/// Checks only the grammar: the port mask may come later on the command line.
pub(crate) fn parse_port_map(text: String) -> Result<PortMap, UsageError> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    match inner.and_then(|inner| inner.split("),(").map(read_pair).collect()) {
        Some(pairs) => Ok(PortMap { text, pairs }),
        None => Err(UsageError::PortMap(text)),
    }
}

/// Checks the ports of a map against each other and the mask.
pub(crate) fn check_port_map(map: &PortMap, port_mask: u64) -> Result<(), UsageError> {
    let mut seen = BTreeSet::new();
    for &(a, b) in &map.pairs {
        for port in if a == b { vec![a] } else { vec![a, b] } {
            if !seen.insert(port) {
                return Err(UsageError::PortTwice { map: map.text.clone(), port });
            }
        }
    }
    for port in map.pairs.iter().flat_map(|&(a, b)| [a, b]) {
        if !in_mask(port_mask, port) {
            return Err(UsageError::PortOutside { map: map.text.clone(), port, mask: port_mask });
        }
    }
    Ok(())
}

/// The ports in use, in ascending order.
pub(crate) fn pair_ports(port_mask: u64, map: Option<&PortMap>) -> Vec<PortPair> {
    if let Some(map) = map {
        let peers: BTreeMap<u16, u16> = map.pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        return peers.into_iter().map(|(port, peer)| PortPair { port, peer }).collect();
    }
    let ports: Vec<u16> = (0..64).filter(|port| in_mask(port_mask, *port)).collect();
    let mut pairs = Vec::with_capacity(ports.len());
    for neighbours in ports.chunks(2) {
        match *neighbours {
            [a, b] => pairs.extend([PortPair { port: a, peer: b }, PortPair { port: b, peer: a }]),
            [last] => {
                warn(format_args!("odd number of ports, port {last} forwards to itself"));
                pairs.push(PortPair { port: last, peer: last });
            }
            _ => {}
        }
    }
    pairs
}

/// Assigns the queue pairs in order, up to `per_lcore` to each lcore.
pub(crate) fn assign_queues(
    pairs: &[PortPair],
    queues: u16,
    lcores: &[u32],
    per_lcore: u16,
) -> Result<Vec<QueueAssignment>, Error> {
    let count = pairs.len() * usize::from(queues);
    let needed = count.div_ceil(usize::from(per_lcore));
    if needed > lcores.len() {
        return Err(Error::Failed(format!(
            "too few lcores: {count} queue pairs at {per_lcore} per lcore need {needed} lcores (available: {}): \
             give more with -l, or raise -q",
            lcores.len()
        )));
    }
    let all = pairs.iter().flat_map(|pair| (0..queues).map(move |queue| (pair, queue)));
    let owners = lcores.iter().flat_map(|lcore| std::iter::repeat_n(*lcore, usize::from(per_lcore)));
    let assigned = all.zip(owners);
    Ok(assigned
        .map(|((pair, queue), lcore)| QueueAssignment { lcore, port: pair.port, peer: pair.peer, queue })
        .collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{PortPair, assign_queues, check_port_map, in_mask, pair_ports, parse_port_map};

    fn peers(pairs: &[PortPair]) -> Vec<(u16, u16)> {
        pairs.iter().map(|pair| (pair.port, pair.peer)).collect()
    }

    #[test]
    fn neighbours_are_paired() {
        assert_eq!(peers(&pair_ports(0b1111, None)), [(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert_eq!(peers(&pair_ports(0b10_1001, None)), [(0, 3), (3, 0), (5, 5)]);
        assert_eq!(peers(&pair_ports(1 << 63, None)), [(63, 63)]);
    }

    #[test]
    fn a_map_chooses_ports_and_peers() {
        let map = parse_port_map("(3,0),(2,2)".into()).unwrap();
        assert_eq!(check_port_map(&map, 0b1111), Ok(()));
        assert_eq!(peers(&pair_ports(0b1111, Some(&map))), [(0, 3), (2, 2), (3, 0)]);
    }

    #[test]
    fn maps_that_are_wrong() {
        for text in
            ["", "()", "(0,1", "0,1", "(0,1)(2,3)", "(0,1),", "(0, 1)", "(+0,1)", "(0,65536)", "((0,1))", "(0,1,2)"]
        {
            let message = format!("invalid port map '{text}': give pairs of port numbers, for example (0,1),(2,3)");
            assert_eq!(parse_port_map(text.into()).unwrap_err().to_string(), message);
        }
        for (text, message) in [
            ("(0,1),(1,2)", "port map '(0,1),(1,2)' uses port 1 twice"),
            ("(1,1),(1,1)", "port map '(1,1),(1,1)' uses port 1 twice"),
            ("(0,5)", "port map '(0,5)' names port 5, which is not in port mask 0x3"),
            ("(0,64)", "port map '(0,64)' names port 64, which is not in port mask 0x3"),
        ] {
            let map = parse_port_map(text.into()).unwrap();
            assert_eq!(check_port_map(&map, 3).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn queue_pairs_go_to_lcores_in_order() {
        let pairs = pair_ports(0b11, None);
        let assigned = assign_queues(&pairs, 2, &[4, 7, 9], 3).unwrap();
        let owners: Vec<_> = assigned.iter().map(|queue| (queue.lcore, queue.port, queue.queue, queue.peer)).collect();
        assert_eq!(owners, [(4, 0, 0, 1), (4, 0, 1, 1), (4, 1, 0, 0), (7, 1, 1, 0)]);
    }

    #[test]
    fn lcores_may_not_suffice() {
        let error = assign_queues(&pair_ports(0b11, None), 2, &[0, 1], 1).unwrap_err();
        let message = "too few lcores: 4 queue pairs at 1 per lcore need 4 lcores (available: 2): \
                       give more with -l, or raise -q";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn a_mask_ends_at_port_63() {
        assert!(in_mask(u64::MAX, 63));
        assert!(!in_mask(u64::MAX, 64));
        assert!(!in_mask(u64::MAX, u16::MAX));
    }
}
