// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The contract that every library is put to: four workloads, what they are given and what they say.
//!
//! A workload either does its work on a frame or says [`Rejected`] and leaves the frame as it was. Which frames are to
//! be accepted, and what they are to be like afterwards, is written down in [`crate::reference`].

use core::{
    error::Error,
    fmt,
    net::{IpAddr, SocketAddr},
};

/// What is written: both MAC addresses and the IPv4 destination address.
///
/// It comes from memory and alternates in benchmarks, so that no compiler can make constants of it.
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

/// The frame is not what the workload accepts; it was left as it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rejected;

impl fmt::Display for Rejected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the frame is not what the workload accepts")
    }
}

impl Error for Rejected {}

/// What is done to a frame.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Workload {
    /// The article's: addresses are written into untagged IPv4, no checksum is touched.
    W1,
    /// NAT: validate, write the addresses, update the checksums of the IPv4 header and of UDP incrementally.
    W2,
    /// NAT with both checksums computed anew over the header and the datagram.
    W3,
    /// Read the 5-tuple of a frame of any kind.
    W4,
}

impl Workload {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::W1, Self::W2, Self::W3, Self::W4];

    /// A few words for headings.
    pub const fn title(self) -> &'static str {
        match self {
            Self::W1 => "article",
            Self::W2 => "NAT",
            Self::W3 => "NAT with full recompute",
            Self::W4 => "5-tuple",
        }
    }

    /// As in the names of the unmangled symbols: `w1` to `w4`.
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

/// What a flow table looks up.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct FiveTuple {
    /// The source address.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The protocol above IP, behind all extension headers.
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

/// How a library lets a frame be rewritten.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Way {
    /// It has views of a frame, or structs over it, that are written to.
    Setters,
    /// It only reads: the user writes to the frame where it says.
    Offsets,
    /// Headers are copied out of the frame, changed, and written back.
    Copies,
    /// A new packet is built.
    Builds,
    /// There is no library.
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

/// What is to be known of a library besides its speed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct About {
    /// The package, as in `Cargo.lock`; empty for our own code and for C.
    pub package: &'static str,
    /// The licence, in SPDX's words.
    pub licence: &'static str,
    /// Whether it can be used without the standard library.
    pub no_std: bool,
    /// How it is used here, or what a user must know.
    pub note: &'static str,
}

/// One library, or one of the ways to use it.
///
/// The functions are associated ones without a receiver, so that a benchmark can be generic over the library and the
/// kernel is inlined into it.
pub trait Library {
    /// On the command line and in tables: `smoltcp`, `etherparse-cursor`.
    const NAME: &'static str;
    /// How it lets a frame be rewritten.
    const WAY: Way = Way::Setters;
    /// What is to be known of it.
    const ABOUT: About;
    /// The workloads that it cannot do, each with the reason that tables show.
    const CANNOT: &'static [(Workload, &'static str)] = &[];

    /// [`Workload::W1`].
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the frame is not untagged IPv4; it is then unchanged. This goes for the other workloads too.
    #[inline(always)]
    fn w1(_frame: &mut [u8], _rule: &Rule) -> Result<(), Rejected> {
        Err(Rejected)
    }

    /// [`Workload::W2`].
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the frame is not a well-formed one.
    #[inline(always)]
    fn w2(_frame: &mut [u8], _rule: &Rule) -> Result<(), Rejected> {
        Err(Rejected)
    }

    /// [`Workload::W3`].
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the frame is not a well-formed one, or a fragment.
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
