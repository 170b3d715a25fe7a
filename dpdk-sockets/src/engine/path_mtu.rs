// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The maximum length of a packet on the way to a host (RFC 1191, RFC 8201).

/// The lengths that are used, longest first: those of common networks and tunnels, so that there are few
/// ([RFC 1191, section 7.1](https://www.rfc-editor.org/rfc/rfc1191#section-7.1)).
const PLATEAUS: [usize; 8] = [8_166, 4_352, 2_002, 1_492, 1_400, 1_280, 1_006, 576];

/// The maximum length of an IP packet in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathMtu(pub(super) usize);

impl PathMtu {
    /// In bytes. [`Config::mtu`](crate::Config::mtu) is the largest one.
    pub(crate) const fn bytes(self) -> usize {
        self.0
    }

    /// The next shorter one that is not longer than `said`, or the next shorter one at all if that is 0. `None` if there is
    /// none, or if `said` is not shorter. Every host takes packets of 576 bytes in IPv4 (RFC 791) and of 1,280 in IPv6
    /// (RFC 8200), and whoever says less is not believed.
    pub(crate) fn shorter(self, said: usize, is_ipv4: bool) -> Option<Self> {
        if said >= self.0 {
            return None;
        }
        let shortest = if is_ipv4 { 576 } else { 1_280 };
        let most = if said == 0 { self.0 - 1 } else { said.max(shortest) };
        let shorter = PLATEAUS.into_iter().find(|plateau| *plateau <= most && *plateau < self.0);
        shorter.filter(|shorter| *shorter >= shortest).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_down_to_a_plateau() {
        for (now, said, then) in [
            (1_500, 1_499, Some(1_492)),
            (1_500, 1_492, Some(1_492)),
            (1_500, 1_420, Some(1_400)),
            (1_500, 0, Some(1_492)),
            (1_492, 0, Some(1_400)),
            (9_000, 1_500, Some(1_492)),
            (1_500, 600, Some(576)),
            (1_500, 68, Some(576)),
            (1_500, 1_500, None),
            (1_500, 9_000, None),
            (576, 0, None),
            (576, 68, None),
        ] {
            assert_eq!(PathMtu(now).shorter(said, true), then.map(PathMtu), "{said} of {now}");
        }
    }

    #[test]
    fn ipv6_has_longer_packets() {
        for (now, said, then) in [
            (1_500, 1_420, Some(1_400)),
            (1_500, 1_280, Some(1_280)),
            (1_500, 576, Some(1_280)),
            (1_400, 0, Some(1_280)),
            (1_280, 0, None),
            (1_280, 576, None),
        ] {
            assert_eq!(PathMtu(now).shorter(said, false), then.map(PathMtu), "{said} of {now}");
        }
    }
}
