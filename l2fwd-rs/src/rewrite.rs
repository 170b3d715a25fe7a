// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! `--rewrite`, with the feature of that name only: a packet parser writes the addresses of every frame, so that its
//! cost can be seen in a forwarder. The twin has no such thing.
//!
//! Which kernel of parsing-bench is called is decided once for each burst; within the burst it is inlined.

use crate::error::UsageError;
use dpdk_rs::Packet;
use parsing_bench::{
    contract::{Library, Rejected, Rule, Workload},
    impls::{EtherparseHeaderSlices, Pnet, Smoltcp, UnsafeRust, Zerocopy},
};

/// The IPv4 destination that frames leave with, of the network for benchmarks (RFC 2544).
const ADDRESS: [u8; 4] = [198, 19, 0, 1];

/// The parsers by name, and the kernels of W1 to W3 of each. etherparse is that with header slices, which copies least;
/// raw is none, but bytes written through pointers, the limit.
const PARSERS: [(&str, [Kernel; 3]); 5] = [
    ("smoltcp", kernels::<Smoltcp>()),
    ("pnet", kernels::<Pnet>()),
    ("etherparse", kernels::<EtherparseHeaderSlices>()),
    ("zerocopy", kernels::<Zerocopy>()),
    ("raw", kernels::<UnsafeRust>()),
];
const WORKLOADS: [Workload; 3] = [Workload::W1, Workload::W2, Workload::W3];
const DEFAULT_WORKLOAD: Workload = Workload::W2;

/// Writes into each frame, and says how many it has rejected.
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

/// What is done to the frames of one queue pair, and how often it could not be done.
#[derive(Debug)]
pub(crate) struct Rewriter {
    kernel: Kernel,
    rule: Rule,
    rejected: u64,
}

impl Rewriter {
    /// The kernel, for frames that leave with these MAC addresses. `None` if nothing is to be rewritten.
    pub(crate) fn new(rewrite: Option<Rewrite>, destination: [u8; 6], source: [u8; 6]) -> Option<Self> {
        let rewrite = rewrite?;
        let (_, kernels) = PARSERS.iter().find(|(parser, _)| *parser == rewrite.parser)?;
        let (kernel, _) = kernels.iter().zip(WORKLOADS).find(|(_, workload)| *workload == rewrite.workload)?;
        Some(Self { kernel: *kernel, rule: Rule { destination, source, address: ADDRESS }, rejected: 0 })
    }

    /// Rewrites what the parser accepts. What it rejects stays as it is, and is counted; `None` if there was any.
    #[inline(always)]
    pub(crate) fn rewrite(&mut self, frames: &mut [Packet]) -> Option<()> {
        let rejected = (self.kernel)(frames, &self.rule);
        self.rejected += rejected as u64;
        (rejected == 0).then_some(())
    }

    /// Frames that the parser has rejected.
    pub(crate) fn rejected(&self) -> u64 {
        self.rejected
    }
}

/// The lines of the help.
pub(crate) const USAGE: &str = "
  --rewrite PARSER[:WORKLOAD]
                      let smoltcp, pnet, etherparse, zerocopy or raw write
                      the MACs and the IPv4 destination 198.19.0.1: w1 just
                      so, w2 (default) as NAT, w3 with new checksums; frames
                      that it rejects leave unchanged
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
                assert!(Rewriter::new(Some(rewrite), [0; 6], [0; 6]).is_some());
            }
        }
        assert!(Rewriter::new(None, [0; 6], [0; 6]).is_none());
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
