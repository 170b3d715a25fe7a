// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernels in C, called from Rust; `parsing-bench/c` holds them, and the build script compiles them with each
//! compiler that is there.
#![allow(unsafe_code)]
// Without a compiler nobody calls anything here.
#![cfg_attr(any(gcc_missing, clang_missing), allow(dead_code, unused_imports, unused_macros))]

use crate::contract::{About, FiveTuple, Library, Rejected, Rule, Way, Workload};
use core::{
    mem::{MaybeUninit, offset_of},
    net::IpAddr,
};

/// What the C kernel of W4 writes: `struct five_tuple` of `kernels.h`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Tuple {
    source: Address,
    destination: Address,
    source_port: u16,
    destination_port: u16,
    protocol: u8,
    version: u8,
}

#[derive(Clone, Copy)]
#[repr(C)]
union Address {
    v4: [u8; 4],
    v6: [u8; 16],
}

const _: () = assert!(size_of::<Rule>() == 16 && align_of::<Rule>() == 1);
const _: () = assert!(offset_of!(Rule, source) == 6 && offset_of!(Rule, address) == 12);
const _: () = assert!(size_of::<Tuple>() == 38 && offset_of!(Tuple, source_port) == 32);
const _: () = assert!(offset_of!(Tuple, protocol) == 36 && offset_of!(Tuple, version) == 37);

impl Tuple {
    #[inline(always)]
    fn read(written: MaybeUninit<Self>) -> FiveTuple {
        // SAFETY: the kernel has accepted the frame, and then it has written all fields, of the addresses at least the
        // first four bytes, which is all that the type asks for.
        let tuple = unsafe { written.assume_init() };
        let (source, destination) = if tuple.version == 4 {
            // SAFETY: four bytes were written, see above.
            let source = unsafe { tuple.source.v4 };
            // SAFETY: likewise.
            let destination = unsafe { tuple.destination.v4 };
            (IpAddr::from(source), IpAddr::from(destination))
        } else {
            // SAFETY: the version is 6, and then the kernel has written all 16 bytes.
            let source = unsafe { tuple.source.v6 };
            // SAFETY: likewise.
            let destination = unsafe { tuple.destination.v6 };
            (IpAddr::from(source), IpAddr::from(destination))
        };
        FiveTuple {
            source,
            destination,
            protocol: tuple.protocol,
            source_port: tuple.source_port,
            destination_port: tuple.destination_port,
        }
    }
}

/// The library of one compiler.
macro_rules! library {
    ($library:ident, $name:literal, $w1:ident, $w2:ident, $w3:ident, $w4:ident) => {
        unsafe extern "C" {
            fn $w1(frame: *mut u8, length: usize, rule: *const Rule) -> bool;
            fn $w2(frame: *mut u8, length: usize, rule: *const Rule) -> bool;
            fn $w3(frame: *mut u8, length: usize, rule: *const Rule) -> bool;
            fn $w4(frame: *const u8, length: usize, tuple: *mut Tuple) -> bool;
        }

        library!($library, $name, &[], {
            library!(w1, $w1);
            library!(w2, $w2);
            library!(w3, $w3);

            #[inline(always)]
            fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
                let mut tuple = MaybeUninit::uninit();
                // SAFETY: the kernel reads no more than the length says, and writes the tuple, which nobody else has.
                let rejected = unsafe { $w4(frame.as_ptr(), frame.len(), tuple.as_mut_ptr()) };
                if rejected { Err(Rejected) } else { Ok(Tuple::read(tuple)) }
            }
        });
    };
    ($kernel:ident, $function:ident) => {
        #[inline(always)]
        fn $kernel(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
            // SAFETY: the kernel reads and writes no more of the frame than the length says, and only reads the rule;
            // both references are held until it returns.
            let rejected = unsafe { $function(frame.as_mut_ptr(), frame.len(), rule) };
            if rejected { Err(Rejected) } else { Ok(()) }
        }
    };
    ($library:ident, $name:literal, missing $reason:expr) => {
        library!(
            $library,
            $name,
            &[(Workload::W1, $reason), (Workload::W2, $reason), (Workload::W3, $reason), (Workload::W4, $reason)],
            {}
        );
    };
    ($library:ident, $name:literal, $cannot:expr, { $($kernels:tt)* }) => {
        #[doc = concat!("C with DPDK's headers: `", $name, "`.")]
        #[derive(Debug)]
        pub struct $library;

        impl Library for $library {
            const NAME: &'static str = $name;
            const WAY: Way = Way::ByHand;
            const ABOUT: About = About {
                package: "",
                licence: "BSD-3-Clause",
                no_std: true,
                note: "rte_ether_hdr, rte_ipv4_hdr and rte_raw_cksum of DPDK; called through a jump, and W4's tuple is copied",
            };
            const CANNOT: &'static [(Workload, &'static str)] = $cannot;

            $($kernels)*
        }
    };
}

#[cfg(all(feature = "c-gcc", not(gcc_missing)))]
library!(CGcc, "c-gcc", c_gcc_w1, c_gcc_w2, c_gcc_w3, c_gcc_w4);
#[cfg(all(feature = "c-gcc", gcc_missing))]
library!(CGcc, "c-gcc", missing env!("PARSING_BENCH_MISSING_GCC"));
#[cfg(all(feature = "c-clang", not(clang_missing)))]
library!(CClang, "c-clang", c_clang_w1, c_clang_w2, c_clang_w3, c_clang_w4);
#[cfg(all(feature = "c-clang", clang_missing))]
library!(CClang, "c-clang", missing env!("PARSING_BENCH_MISSING_CLANG"));
