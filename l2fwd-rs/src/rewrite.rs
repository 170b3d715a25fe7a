// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! `--rewrite`, only with the feature of that name: a packet parser writes the addresses of every frame, which shows the
//! parser's cost in a forwarder. The twin has no such option.
//!
//! The kernel of parsing-bench is selected once per burst and inlined in the loop over the burst.

use crate::error::UsageError;
use dpdk_rs::Packet;
use parsing_bench::{
    contract::{Library, Rejected, Rule, Workload},
    impls::{EtherparseHeaderSlices, Pnet, Smoltcp, UnsafeRust, Zerocopy},
};
use std::{
    io::Write,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// The IPv4 destination of rewritten frames, from the network for benchmarks (RFC 2544).
const ADDRESS: [u8; 4] = [198, 19, 0, 1];

/// The parsers by name, each with its kernels for W1 to W3. etherparse uses its header slices, which copy least. raw is not
/// a parser: it writes the bytes through pointers, as the limit.
const PARSERS: [(&str, [Kernel; 3]); 5] = [
    ("smoltcp", kernels::<Smoltcp>()),
    ("pnet", kernels::<Pnet>()),
    ("etherparse", kernels::<EtherparseHeaderSlices>()),
    ("zerocopy", kernels::<Zerocopy>()),
    ("raw", kernels::<UnsafeRust>()),
];
const WORKLOADS: [Workload; 3] = [Workload::W1, Workload::W2, Workload::W3];
const DEFAULT_WORKLOAD: Workload = Workload::W2;

/// Writes into each frame, and returns how many frames it rejected.
type Kernel = fn(&mut [Packet], &Rule) -> usize;

const fn kernels<L: Library>() -> [Kernel; 3] {
    [w1::<L>, w2::<L>, w3::<L>]
}

fn w1<L: Library>(frames: &mut [Packet], rule: &Rule) -> usize {
    burst(frames, |frame| L::w1(frame, rule))
}

fn w2<L: Library>(frames: &mut [Packet], rule: &Rule) -> usize {
    burst(frames, |frame| L::w2(frame, rule))
}

fn w3<L: Library>(frames: &mut [Packet], rule: &Rule) -> usize {
    burst(frames, |frame| L::w3(frame, rule))
}

#[inline(always)]
fn burst(frames: &mut [Packet], write: impl Fn(&mut [u8]) -> Result<(), Rejected>) -> usize {
    let mut rejected = 0;
    for frame in frames {
        let written = frame.data_mut().is_ok_and(|bytes| write(bytes).is_ok());
        rejected += usize::from(!written);
    }
    rejected
}

/// A parser and a workload, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    parser: &'static str,
    workload: Workload,
}

impl Rewrite {
    /// Reads `PARSER` or `PARSER:WORKLOAD`.
    pub(crate) fn parse(text: String) -> Result<Self, UsageError> {
        let (name, workload) = text.split_once(':').unwrap_or((&text, DEFAULT_WORKLOAD.symbol()));
        let parser = PARSERS.iter().find(|(parser, _)| *parser == name);
        let workload = WORKLOADS.into_iter().find(|each| each.symbol() == workload);
        match (parser, workload) {
            (Some((parser, _)), Some(workload)) => Ok(Self { parser, workload }),
            _ => Err(UsageError::Rewrite(text)),
        }
    }
}

/// Frames that the parser has rejected, on all lcores.
static REJECTED: AtomicU64 = AtomicU64::new(0);

/// The kernel and the addresses for the frames of one queue pair.
#[derive(Debug)]
pub(crate) struct Rewriter {
    kernel: Kernel,
    rule: Rule,
}

impl Rewriter {
    /// The kernel for frames that leave with these MAC addresses; `None` without `--rewrite`.
    pub(crate) fn new(rewrite: Option<Rewrite>, macs: [u8; 12]) -> Option<Self> {
        let rewrite = rewrite?;
        let [destination @ .., _, _, _, _, _, _] = macs;
        let [_, _, _, _, _, _, source @ ..] = macs;
        let (_, kernels) = PARSERS.iter().find(|(parser, _)| *parser == rewrite.parser)?;
        let (kernel, _) = kernels.iter().zip(WORKLOADS).find(|(_, workload)| *workload == rewrite.workload)?;
        Some(Self { kernel: *kernel, rule: Rule { destination, source, address: ADDRESS } })
    }

    /// Rewrites the frames that the parser accepts. Rejected frames stay unchanged and are counted. Returns `None` if a frame
    /// was rejected: it may be too short.
    #[inline(always)]
    pub(crate) fn rewrite(&self, frames: &mut [Packet]) -> Option<()> {
        let rejected = (self.kernel)(frames, &self.rule);
        if rejected == 0 {
            return Some(());
        }
        REJECTED.fetch_add(rejected as u64, Relaxed);
        None
    }
}

/// Prints how many frames the parser has rejected, if there is one.
pub(crate) fn print_rejected(out: &mut impl Write, rewrite: Option<Rewrite>) {
    if rewrite.is_some() {
        let rejected = REJECTED.load(Relaxed);
        let _ = writeln!(
            out,
            "l2fwd: rewriting rejected {rejected} frames, which were forwarded unchanged, or dropped if too short"
        );
    }
}

/// The lines of the help text.
pub(crate) const USAGE: &str = "
  --rewrite PARSER[:WORKLOAD]
                      write the MAC addresses and the IPv4 destination
                      198.19.0.1 with smoltcp, pnet, etherparse, zerocopy or
                      raw: w1 only writes, w2 (default) is NAT, w3 computes
                      new checksums; rejected frames leave unchanged
";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{PARSERS, Rewrite, Rewriter};
    use parsing_bench::contract::Workload;

    #[test]
    fn every_parser_with_every_workload() {
        for (parser, _) in PARSERS {
            for (suffix, workload) in
                [("", Workload::W2), (":w1", Workload::W1), (":w2", Workload::W2), (":w3", Workload::W3)]
            {
                let rewrite = Rewrite::parse(format!("{parser}{suffix}")).unwrap();
                assert_eq!(rewrite, Rewrite { parser, workload });
                assert!(Rewriter::new(Some(rewrite), [0; 12]).is_some());
            }
        }
        assert!(Rewriter::new(None, [0; 12]).is_none());
    }

    #[test]
    fn errors_name_the_value() {
        for text in ["", "smoltcp:", "smoltcp:w4", "smolltcp", ":w1", "raw:w1:w2"] {
            let message = Rewrite::parse(text.to_owned()).unwrap_err().to_string();
            let expected = format!(
                "invalid value '{text}' for --rewrite: give smoltcp, pnet, etherparse, zerocopy or raw, \
                 then :w1, :w2 or :w3 if wanted"
            );
            assert_eq!(message, expected);
        }
    }
}
