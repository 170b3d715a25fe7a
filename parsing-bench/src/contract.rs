// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The contract of every library: four workloads, their arguments and their results.
//!
//! A workload either does its work on a frame, or returns [`Rejected`] and leaves the frame unchanged. [`crate::reference`]
//! defines which frames it must accept, and their bytes afterwards.

use core::{
    error::Error,
    fmt,
    net::{IpAddr, SocketAddr},
};

/// The addresses to write: both MAC addresses and the IPv4 destination address.
///
/// It comes from memory and alternates in benchmarks, so that no compiler can turn it into constants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C)]
pub struct Rule {
    /// The new destination MAC address.
    pub destination: [u8; 6],
    /// The new source MAC address.
    pub source: [u8; 6],
    /// The new IPv4 destination address.
    pub address: [u8; 4],
}

/// The workload does not accept the frame, and has left it unchanged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rejected;

impl fmt::Display for Rejected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the frame is not what the workload accepts")
    }
}

impl Error for Rejected {}

/// The work on a frame.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Workload {
    /// That of the article: write addresses into untagged IPv4, without checksums.
    W1,
    /// NAT: validate, write the addresses, update the checksums of the IPv4 header and of UDP incrementally.
    W2,
    /// NAT with both checksums recomputed over the header and the datagram.
    W3,
    /// Read the 5-tuple of a frame of any kind.
    W4,
}

impl Workload {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::W1, Self::W2, Self::W3, Self::W4];

    /// A short title.
    pub const fn title(self) -> &'static str {
        match self {
            Self::W1 => "article",
            Self::W2 => "NAT",
            Self::W3 => "NAT with full recompute",
            Self::W4 => "5-tuple",
        }
    }

    /// The name in the unmangled symbols: `w1` to `w4`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::W1 => "w1",
            Self::W2 => "w2",
            Self::W3 => "w3",
            Self::W4 => "w4",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::W1 => "W1",
            Self::W2 => "W2",
            Self::W3 => "W3",
            Self::W4 => "W4",
        })
    }
}

/// The key of a flow table: the 5-tuple.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct FiveTuple {
    /// The source address.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The protocol above IP, after all extension headers.
    pub protocol: u8,
    /// The source port of TCP and UDP; 0 where there is none.
    pub source_port: u16,
    /// The destination port of TCP and UDP; 0 where there is none.
    pub destination_port: u16,
}

impl fmt::Display for FiveTuple {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = SocketAddr::new(self.source, self.source_port);
        let to = SocketAddr::new(self.destination, self.destination_port);
        write!(out, "{from} -> {to} protocol {}", self.protocol)
    }
}

/// How a library rewrites a frame.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Way {
    /// The user writes through views of the frame, or structs over it.
    Setters,
    /// It only reads: the user writes at the offsets that it returns.
    Offsets,
    /// Headers are copied out of the frame, changed, and written back.
    Copies,
    /// A new packet is built.
    Builds,
    /// No library.
    ByHand,
}

impl fmt::Display for Way {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Setters => "setters",
            Self::Offsets => "offsets",
            Self::Copies => "copies",
            Self::Builds => "builds",
            Self::ByHand => "by hand",
        })
    }
}

/// Facts about a library besides its speed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct About {
    /// The package, as in `Cargo.lock`; empty for our own code and for C.
    pub package: &'static str,
    /// The licence, in SPDX's words.
    pub licence: &'static str,
    /// Whether it can be used without the standard library.
    pub no_std: bool,
    /// How it is used here, or a caveat for its user.
    pub note: &'static str,
}

/// One library, or one of the ways to use it.
///
/// The functions have no receiver, so that a benchmark can be generic over the library, with the kernel inlined.
pub trait Library {
    /// The name on the command line and in tables: `smoltcp`, `etherparse-cursor`.
    const NAME: &'static str;
    /// How it rewrites a frame.
    const WAY: Way = Way::Setters;
    /// Facts about it.
    const ABOUT: About;
    /// The workloads that it cannot do, each with the reason that tables show.
    const CANNOT: &'static [(Workload, &'static str)] = &[];

    /// [`Workload::W1`].
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the frame is not untagged IPv4. A rejected frame is unchanged, in all workloads.
    #[inline(always)]
    fn w1(_frame: &mut [u8], _rule: &Rule) -> Result<(), Rejected> {
        Err(Rejected)
    }

    /// [`Workload::W2`].
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the frame is malformed.
    #[inline(always)]
    fn w2(_frame: &mut [u8], _rule: &Rule) -> Result<(), Rejected> {
        Err(Rejected)
    }

    /// [`Workload::W3`].
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the frame is malformed, or a fragment.
    #[inline(always)]
    fn w3(_frame: &mut [u8], _rule: &Rule) -> Result<(), Rejected> {
        Err(Rejected)
    }

    /// [`Workload::W4`].
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the frame has no 5-tuple.
    #[inline(always)]
    fn w4(_frame: &[u8]) -> Result<FiveTuple, Rejected> {
        Err(Rejected)
    }
}
