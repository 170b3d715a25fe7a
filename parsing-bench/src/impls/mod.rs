// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The registry: every library with its kernels, as a table and as unmangled symbols.
//!
//! A library is one file in this folder and one line below: the cargo feature, then the file and the type that
//! implements [`Library`](crate::contract::Library). The file's name, in which `_` stands for `-`, is also what its
//! symbols end in: `pb_w2_safe_rust` is the machine code of the NAT kernel of `safe-rust`, to be looked at with
//! `objdump --disassemble=pb_w2_safe_rust`. For C it is a jump to the C function, `c_gcc_w2` or `c_clang_w2`, unless
//! cross-language LTO inlines that.

use crate::contract::{About, FiveTuple, Rejected, Rule, Way, Workload};

/// A kernel that rewrites a frame in place.
pub type Writer = fn(&mut [u8], &Rule) -> Result<(), Rejected>;
/// A kernel that reads a frame.
pub type Reader = fn(&[u8]) -> Result<FiveTuple, Rejected>;

/// A library of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// [`Library::NAME`](crate::contract::Library::NAME).
    pub name: &'static str,
    /// The cargo feature that it is built with.
    pub feature: &'static str,
    /// What its symbols end in.
    pub symbol: &'static str,
    /// [`Library::WAY`](crate::contract::Library::WAY).
    pub way: Way,
    /// [`Library::ABOUT`](crate::contract::Library::ABOUT).
    pub about: About,
    /// [`Library::CANNOT`](crate::contract::Library::CANNOT).
    pub cannot: &'static [(Workload, &'static str)],
    writers: [Writer; 3],
    reader: Reader,
}

impl Entry {
    /// One without symbols of its own.
    #[cfg(all(test, feature = "gate"))]
    pub(crate) const fn of<L: crate::contract::Library>() -> Self {
        Self {
            name: L::NAME,
            feature: "",
            symbol: "",
            way: L::WAY,
            about: L::ABOUT,
            cannot: L::CANNOT,
            writers: [L::w1, L::w2, L::w3],
            reader: L::w4,
        }
    }

    /// Why it cannot do a workload; `None` if it can.
    pub fn cannot(&self, workload: Workload) -> Option<&'static str> {
        self.cannot.iter().find(|(missing, _)| *missing == workload).map(|(_, reason)| *reason)
    }

    /// The kernel of a workload that rewrites, if the library can do it.
    pub fn writer(&self, workload: Workload) -> Option<Writer> {
        match (self.cannot(workload), workload) {
            (Some(_), _) | (_, Workload::W4) => None,
            (None, Workload::W1) => Some(self.writers[0]),
            (None, Workload::W2) => Some(self.writers[1]),
            (None, Workload::W3) => Some(self.writers[2]),
        }
    }

    /// The kernel that reads, if the library can do that.
    pub fn reader(&self) -> Option<Reader> {
        self.cannot(Workload::W4).is_none().then_some(self.reader)
    }

    /// The name of the unmangled symbol of a kernel.
    pub fn symbol(&self, workload: Workload) -> String {
        format!("pb_{}_{}", workload.symbol(), self.symbol)
    }
}

/// The entry of that name, if it was built in.
pub fn find(name: &str) -> Option<&'static Entry> {
    LIBRARIES.iter().find(|entry| entry.name == name)
}

// A section of its own keeps LLVM from merging kernels that compile to the same code: each is to be found by name.
#[allow(unused_macros, reason = "there may be no library")]
macro_rules! kernel {
    ($workload:literal, $module:ident, fn $name:ident($($argument:ident: $type:ty),*) -> $output:ty, $library:ty) => {
        /// The kernel of that workload, under an unmangled symbol.
        ///
        /// # Errors
        ///
        /// As the contract says.
        #[unsafe(export_name = concat!("pb_", $workload, "_", stringify!($module)))]
        #[unsafe(link_section = concat!(".text.pb_", $workload, "_", stringify!($module)))]
        #[inline(never)]
        pub fn $name($($argument: $type),*) -> $output {
            <$library as crate::contract::Library>::$name($($argument),*)
        }
    };
}

macro_rules! registry {
    ($($feature:literal => $module:ident::$library:ident;)*) => {
        $(
            #[cfg(feature = $feature)]
            mod $module;
            #[cfg(feature = $feature)]
            pub use $module::$library;
        )*

        /// The kernels as functions that are never inlined, each under an unmangled symbol.
        #[allow(unsafe_code, reason = "a name that might be another's, which the prefix keeps it from")]
        pub mod symbols {
            $(
                #[cfg(feature = $feature)]
                #[doc = concat!("Those of [`", stringify!($library), "`](super::", stringify!($library), ").")]
                pub mod $module {
                    use crate::contract::{FiveTuple, Rejected, Rule};
                    use crate::impls::$library;

                    kernel!("w1", $module, fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected>, $library);
                    kernel!("w2", $module, fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected>, $library);
                    kernel!("w3", $module, fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected>, $library);
                    kernel!("w4", $module, fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected>, $library);
                }
            )*
        }

        /// The libraries that were built in, in the order of the tables.
        pub static LIBRARIES: &[Entry] = &[
            $(
                #[cfg(feature = $feature)]
                Entry {
                    name: <$library as crate::contract::Library>::NAME,
                    feature: $feature,
                    symbol: stringify!($module),
                    way: <$library as crate::contract::Library>::WAY,
                    about: <$library as crate::contract::Library>::ABOUT,
                    cannot: <$library as crate::contract::Library>::CANNOT,
                    writers: [symbols::$module::w1, symbols::$module::w2, symbols::$module::w3],
                    reader: symbols::$module::w4,
                },
            )*
        ];
    };
}

#[cfg(any(feature = "c-gcc", feature = "c-clang"))]
mod ffi;
#[cfg(any(
    feature = "etherparse",
    feature = "mutnet",
    feature = "network-types",
    feature = "packet",
    feature = "pdu",
    feature = "pnet",
    feature = "rpkt",
    feature = "smoltcp",
    feature = "zerocopy"
))]
mod machine_order;
#[cfg(any(feature = "etherparse", feature = "pdu"))]
mod offsets;
mod reading;

registry! {
    "unsafe-rust" => unsafe_rust::UnsafeRust;
    "c-gcc" => c_gcc::CGcc;
    "c-clang" => c_clang::CClang;
    "safe-rust" => safe_rust::SafeRust;
    "etherparse" => etherparse_builder::EtherparseBuilder;
    "etherparse" => etherparse_cursor::EtherparseCursor;
    "etherparse" => etherparse_header_slices::EtherparseHeaderSlices;
    "etherparse" => etherparse_lax::EtherparseLax;
    "etherparse" => etherparse_sliced_packet::EtherparseSlicedPacket;
    "etherparse" => etherparse_slices::EtherparseSlices;
    "mutnet" => mutnet::Mutnet;
    "network-types" => network_types::NetworkTypes;
    "packet" => packet::Packet;
    "pdu" => pdu::Pdu;
    "pnet" => pnet::Pnet;
    "rpkt" => rpkt::Rpkt;
    "smoltcp" => smoltcp::Smoltcp;
    "zerocopy" => zerocopy::Zerocopy;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_its_file() {
        for entry in LIBRARIES {
            assert_eq!(entry.name.replace('-', "_"), entry.symbol);
        }
    }

    #[test]
    fn a_workload_is_refused_once_and_with_a_reason() {
        for entry in LIBRARIES {
            for workload in Workload::ALL {
                let reasons: Vec<_> = entry.cannot.iter().filter(|(missing, _)| *missing == workload).collect();
                assert!(reasons.len() <= 1, "{}: {workload}", entry.name);
                assert!(reasons.iter().all(|(_, reason)| !reason.is_empty()), "{}: {workload}", entry.name);
            }
        }
    }
}
