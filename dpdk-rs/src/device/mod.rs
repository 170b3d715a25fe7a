// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Descriptions of devices, for [`Eal::attach`](crate::Eal::attach) and [`EalOptions`](crate::EalOptions).
//!
//! DPDK describes a virtual device by text: the name of its driver and a number, then arguments. Drivers parse this text
//! in C, and some arguments are addresses of memory or names of what another part of the program owns. So here each kind
//! of device is a type, whose methods are the arguments that safe code may choose. Each value is checked: none can be read
//! as another argument.
//!
//! ```no_run
//! use dpdk_rs::{Eal, EalOptions, device};
//!
//! let options = EalOptions::new().no_huge().memory_mb(64).no_pci().device(device::Null::new(0).size(128));
//! let (eal, _args) = Eal::init(options)?;
//! let replay = device::Pcap::new(0).rx_file("in.pcap").tx_file("out.pcap");
//! let ports = eal.attach(replay)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Other devices and other arguments come from the command line
//! ([`EalOptions::from_command_line`](crate::EalOptions::from_command_line)), or from
//! [`Eal::attach_raw`](crate::Eal::attach_raw), which is `unsafe`. Among these are `net_memif`, `net_virtio_user` and
//! `net_vhost`: they share memory with a program that this process does not know.

mod pci;
mod value;

pub use pci::{ParsePciError, PciAddress};
pub use value::InvalidValue;
pub(crate) use value::{file_prefix, list, within};

use core::fmt;
use std::path::Path;

/// A virtual device: its driver, its number and its arguments. Made from one of the kinds in this [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualDevice {
    name: String,
    args: String,
    /// The first value that cannot be used.
    invalid: Option<InvalidValue>,
}

impl VirtualDevice {
    fn new(driver: &str, number: u32) -> Self {
        Self { name: format!("{driver}{number}"), args: String::new(), invalid: None }
    }

    /// The name in DPDK, such as `net_ring7`: that of the port, and what [`Eal::detach`](crate::Eal::detach) takes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds an argument. The first value that cannot be used is an error later.
    fn with(mut self, key: &str, value: Result<String, InvalidValue>) -> Self {
        match value {
            Ok(value) => self.args += &format!(",{key}={value}"),
            Err(error) => self.invalid = self.invalid.or(Some(error)),
        }
        self
    }

    /// The device as DPDK describes it: `net_pcap0,rx_pcap=in.pcap`.
    pub(crate) fn to_dpdk(&self) -> Result<String, InvalidValue> {
        self.invalid.clone().map_or_else(|| Ok(format!("{}{}", self.name, self.args)), Err)
    }
}

/// Declares a kind of device, which is a [`VirtualDevice`] with methods of its own.
macro_rules! kind {
    ($(#[$doc:meta])* $kind:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        #[must_use = "a device exists once it is attached"]
        pub struct $kind(VirtualDevice);

        impl $kind {
            /// The name in DPDK: that of the port, and what [`Eal::detach`](crate::Eal::detach) takes.
            #[must_use]
            pub fn name(&self) -> &str {
                self.0.name()
            }
        }

        impl From<$kind> for VirtualDevice {
            fn from(device: $kind) -> Self {
                device.0
            }
        }

        impl fmt::Debug for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

kind! {
    /// `net_null`: receives an endless stream of empty frames, and accepts whatever is sent.
    #[doc(alias = "net_null")]
    Null
}

impl Null {
    /// The device `net_null` with this number.
    pub fn new(number: u32) -> Self {
        Self(VirtualDevice::new("net_null", number))
    }

    /// The length of the received frames in bytes; 64 by default. A port with frames longer than the mbufs of its pool is
    /// not [configured](crate::Port::configure).
    pub fn size(self, bytes: u16) -> Self {
        Self(self.0.with("size", Ok(bytes.to_string())))
    }
}

kind! {
    /// `net_ring`: receives what it sends, on each of its up to 16 queues.
    #[doc(alias = "net_ring")]
    Ring
}

impl Ring {
    /// The device `net_ring` with this number.
    pub fn new(number: u32) -> Self {
        Self(VirtualDevice::new("net_ring", number))
    }
}

kind! {
    /// `net_pcap`: receives the frames of capture files, and writes the frames that it sends to capture files. It needs a
    /// file of one of the two kinds.
    #[doc(alias = "net_pcap")]
    Pcap
}

impl Pcap {
    /// The device `net_pcap` with this number.
    pub fn new(number: u32) -> Self {
        Self(VirtualDevice::new("net_pcap", number))
    }

    /// Adds an RX queue that receives the frames of this file, once.
    pub fn rx_file(self, path: impl AsRef<Path>) -> Self {
        let value = value::path(self.0.name(), path.as_ref());
        Self(self.0.with("rx_pcap", value))
    }

    /// Adds a TX queue that writes to this file, whose former contents are lost.
    pub fn tx_file(self, path: impl AsRef<Path>) -> Self {
        let value = value::path(self.0.name(), path.as_ref());
        Self(self.0.with("tx_pcap", value))
    }
}

kind! {
    /// `net_tap`: an interface of the kernel, whose other end is this port. Needs root.
    #[doc(alias = "net_tap")]
    Tap
}

impl Tap {
    /// The device `net_tap` with this number. The kernel chooses the name of its interface.
    pub fn new(number: u32) -> Self {
        Self(VirtualDevice::new("net_tap", number))
    }

    /// The name of the interface.
    pub fn interface(self, name: &str) -> Self {
        let value = value::interface(self.0.name(), name);
        Self(self.0.with("iface", value))
    }
}

kind! {
    /// `net_af_packet`: receives and sends through an interface of the kernel that exists. Needs root.
    #[doc(alias = "net_af_packet")]
    AfPacket
}

impl AfPacket {
    /// The device `net_af_packet` with this number, on the interface of this name.
    pub fn new(number: u32, interface: &str) -> Self {
        let device = VirtualDevice::new("net_af_packet", number);
        let value = value::interface(device.name(), interface);
        Self(device.with("iface", value))
    }
}
