// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The options of the EAL.

use crate::{
    EalError,
    device::{self, InvalidValue, PciAddress, VirtualDevice},
    environment::split,
    log::Level,
};
use dpdk_sys as sys;
use std::{env, ffi::OsString};

/// Without hugepages DPDK describes each 4 KiB by 48 bytes, and computes the sum in 32 bits: for more than this it
/// allocates too little, and writes beyond it.
const MOST_MEMORY_MB: u32 = u32::MAX / 48 / 256;

const MOST_LCORE: u32 = sys::RTE_MAX_LCORE - 1;

/// The highest number of a CPU in a set of the C library (`CPU_SETSIZE`).
const MOST_CPU: u32 = 1023;

/// The options of the EAL, for [`Eal::init`](crate::Eal::init): those that the operator gave to this process, those that
/// the program sets itself, or both.
///
/// DPDK takes its options as words, of which some load code or contain addresses of memory. The operator who starts a
/// process decides what code runs in it, so the words of the command line are the operator's to choose. The
/// program's own options are methods, whose values are checked: none can be read as another option. For any other option
/// there is [`raw`](Self::raw), which is `unsafe`.
///
/// ```no_run
/// use dpdk_rs::{Eal, EalOptions, device};
///
/// // A program that leaves everything to its operator, except for telemetry:
/// let (eal, args) = Eal::init(EalOptions::from_command_line().no_telemetry())?;
/// # Ok::<(), dpdk_rs::EalError>(())
/// ```
///
/// ```no_run
/// # use dpdk_rs::{Eal, EalOptions, device};
/// // One that needs no options, such as a test:
/// let options = EalOptions::new().no_huge().memory_mb(64).no_pci().no_shconf().no_telemetry();
/// let (eal, _args) = Eal::init(options.device(device::Null::new(0)))?;
/// # Ok::<(), dpdk_rs::EalError>(())
/// ```
///
/// The program's options precede those of the command line. If both set an option that DPDK takes once, such as the
/// lcores, DPDK reports an error or uses the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "options have an effect in `Eal::init`"]
pub struct EalOptions {
    program: Option<OsString>,
    /// The program's own options: how each begins, and the whole word.
    words: Vec<(&'static str, OsString)>,
    operator: Vec<OsString>,
    own_args: Vec<OsString>,
    /// The first value that cannot be used.
    invalid: Option<InvalidValue>,
}

impl EalOptions {
    /// No options but the program's name.
    pub fn new() -> Self {
        // A kernel before Linux 5.18 starts a program without a name if another program wants it.
        let program = env::args_os().next().unwrap_or_else(|| "program".into());
        Self { program: Some(program), words: Vec::new(), operator: Vec::new(), own_args: Vec::new(), invalid: None }
    }

    /// The words that the operator gave to this process (`std::env::args_os`): the program's name, the EAL's options,
    /// `--`, and the program's own arguments, which [`Eal::init`](crate::Eal::init) returns.
    ///
    /// This is safe, although some options load code (`-d`) or contain addresses (`--vdev=net_ring0,internal=…`):
    /// whoever starts a process decides anyway which code runs in it, for example with `LD_PRELOAD`, and the program
    /// itself cannot change these words.
    pub fn from_command_line() -> Self {
        let (eal_args, own_args) = split(env::args_os());
        let mut eal_args = eal_args.into_iter();
        Self { program: eal_args.next(), operator: eal_args.collect(), own_args, ..Self::new() }
    }

    /// Leaves the program's own arguments out of the result of [`Eal::init`](crate::Eal::init), for a program that reads
    /// them itself. They need not be UTF-8 then.
    pub fn without_own_args(mut self) -> Self {
        self.own_args.clear();
        self
    }

    /// The lcores, each on the CPU of the same number.
    #[doc(alias = "--lcores")]
    #[doc(alias = "-l")]
    pub fn lcores(self, lcores: impl IntoIterator<Item = u32>) -> Self {
        self.set("--lcores=", device::list("lcore", lcores, MOST_LCORE))
    }

    /// The lcores, all of which float over these CPUs.
    #[doc(alias = "--lcores")]
    pub fn floating_lcores(self, lcores: impl IntoIterator<Item = u32>, cpus: impl IntoIterator<Item = u32>) -> Self {
        let (lcores, cpus) = (device::list("lcore", lcores, MOST_LCORE), device::list("CPU", cpus, MOST_CPU));
        self.set("--lcores=", lcores.and_then(|lcores| Ok(format!("({lcores})@({})", cpus?))))
    }

    /// The main lcore: the one of the thread that calls [`Eal::init`](crate::Eal::init).
    #[doc(alias = "--main-lcore")]
    pub fn main_lcore(self, lcore: u32) -> Self {
        self.set("--main-lcore=", device::within("main lcore", lcore, 0..=MOST_LCORE))
    }

    /// How much memory to take at the start, in units of 2^20 bytes; at most 349,525, which is 341 GiB.
    #[doc(alias = "-m")]
    pub fn memory_mb(self, megabytes: u32) -> Self {
        self.set("-m", device::within("memory in MB", megabytes, 1..=MOST_MEMORY_MB))
    }

    /// Uses ordinary memory in place of hugepages. It needs no root, and NICs cannot reach it without an IOMMU.
    #[doc(alias = "--no-huge")]
    pub fn no_huge(self) -> Self {
        self.flag("--no-huge")
    }

    /// Creates no files, not even in the file system of hugepages, which it needs. No other process can attach to this
    /// one.
    #[doc(alias = "--in-memory")]
    pub fn in_memory(self) -> Self {
        self.flag("--in-memory")
    }

    /// Creates no file with the configuration. No other process can attach to this one.
    #[doc(alias = "--no-shconf")]
    pub fn no_shconf(self) -> Self {
        self.flag("--no-shconf")
    }

    /// The name of this process's files and sockets. Processes with different prefixes do not know of each other.
    #[doc(alias = "--file-prefix")]
    pub fn file_prefix(self, prefix: &str) -> Self {
        self.set("--file-prefix=", device::file_prefix(prefix))
    }

    /// Opens no telemetry socket.
    #[doc(alias = "--no-telemetry")]
    pub fn no_telemetry(self) -> Self {
        self.flag("--no-telemetry")
    }

    /// Omits all log lines that are less important, of any type.
    #[doc(alias = "--log-level")]
    pub fn log_level(self, level: Level) -> Self {
        self.set("--log-level=", Ok((level as u32).to_string()))
    }

    /// Uses no PCI devices.
    #[doc(alias = "--no-pci")]
    pub fn no_pci(self) -> Self {
        self.flag("--no-pci")
    }

    /// Uses this PCI device. Without any call of this method, all PCI devices that are bound to a driver for DPDK are
    /// used.
    #[doc(alias = "--allow")]
    #[doc(alias = "-a")]
    pub fn allow(self, address: PciAddress) -> Self {
        self.add("--allow=", Ok(address.to_string()))
    }

    /// Adds a virtual device.
    #[doc(alias = "--vdev")]
    pub fn device(self, device: impl Into<VirtualDevice>) -> Self {
        self.add("--vdev=", device.into().to_dpdk())
    }

    /// Adds words as on a command line, without the program's name: options of the EAL, and the program's own arguments
    /// after `--`.
    ///
    /// # Safety
    /// DPDK trusts its options. The caller promises that
    ///
    /// - the plug-ins (`-d`) are drivers and libraries of the running DPDK, which work as documented;
    /// - no device (`--vdev`, `-a`) has an argument that is an address (`internal` of `net_ring`), or that names what
    ///   something else in this process owns, such as a ring (`nodeaction` of `net_ring`);
    /// - the programs at the other ends of `net_memif`, `net_virtio_user` and similar devices may access this process's
    ///   memory as they like;
    /// - no other option lets DPDK access what this process or another one owns.
    pub unsafe fn raw<I>(mut self, words: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let (words, own_args) = split(words);
        self.words.extend(words.into_iter().map(|word| ("", word)));
        self.own_args.extend(own_args);
        self
    }

    /// The options as words, with the program's name first, as a command line would have them and
    /// [`diagnosis`](crate::diagnosis) reads them. An option whose value cannot be used is missing.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        self.eal_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    fn eal_args(&self) -> impl Iterator<Item = &OsString> {
        self.program.iter().chain(self.words.iter().map(|(_, word)| word)).chain(&self.operator)
    }

    /// The EAL's words and the program's own arguments.
    pub(crate) fn into_args(self) -> Result<(Vec<OsString>, Vec<String>), EalError> {
        if self.program.is_none() {
            return Err(EalError::NoArguments);
        }
        if let Some(invalid) = self.invalid {
            return Err(EalError::Value(invalid));
        }
        let eal_args = self.eal_args().cloned().collect();
        let own_args: Result<_, OsString> = self.own_args.into_iter().map(OsString::into_string).collect();
        Ok((eal_args, own_args.map_err(|arg| EalError::NotUtf8(arg.to_string_lossy().into_owned()))?))
    }

    /// Sets an option without a value.
    fn flag(self, option: &'static str) -> Self {
        self.set(option, Ok(String::new()))
    }

    /// Replaces an option that DPDK takes once.
    fn set(mut self, option: &'static str, value: Result<String, InvalidValue>) -> Self {
        self.words.retain(|(other, _)| *other != option);
        self.add(option, value)
    }

    fn add(mut self, option: &'static str, value: Result<String, InvalidValue>) -> Self {
        match value {
            Ok(value) => self.words.push((option, format!("{option}{value}").into())),
            Err(error) => self.invalid = self.invalid.or(Some(error)),
        }
        self
    }
}

impl Default for EalOptions {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::EalOptions;
    use crate::{
        EalError,
        device::{AfPacket, Null, Pcap, Ring, Tap},
        log::Level,
    };

    fn words(options: &EalOptions) -> Vec<String> {
        options.words().split_off(1)
    }

    #[test]
    fn each_method_is_one_word() {
        let options = EalOptions::new().lcores([0, 2]).main_lcore(2).memory_mb(64).no_huge().in_memory().no_shconf();
        let options = options.file_prefix("mine").no_telemetry().log_level(Level::Error).no_pci();
        let expected = "--lcores=0,2 --main-lcore=2 -m64 --no-huge --in-memory --no-shconf --file-prefix=mine \
                        --no-telemetry --log-level=4 --no-pci";
        assert_eq!(words(&options), expected.split(' ').collect::<Vec<_>>());
        assert_eq!(words(&EalOptions::new().floating_lcores(0..3, [0, 5])), ["--lcores=(0,1,2)@(0,5)"]);
    }

    #[test]
    fn devices_are_those_of_a_command_line() {
        let options = EalOptions::new().device(Null::new(0).size(128)).device(Ring::new(1));
        let options = options.device(Pcap::new(2).rx_file("/tmp/in").rx_file("b").tx_file("out"));
        let options = options.device(Tap::new(3).interface("left")).device(AfPacket::new(4, "eth0"));
        let expected = [
            "--vdev=net_null0,size=128",
            "--vdev=net_ring1",
            "--vdev=net_pcap2,rx_pcap=/tmp/in,rx_pcap=b,tx_pcap=out",
            "--vdev=net_tap3,iface=left",
            "--vdev=net_af_packet4,iface=eth0",
        ];
        assert_eq!(words(&options), expected);
        let addresses = ["1:0.0", "0000:02:1f.7"].map(|text| text.parse().ok());
        let options = addresses.into_iter().flatten().fold(EalOptions::new(), EalOptions::allow);
        assert_eq!(words(&options), ["--allow=0000:01:00.0", "--allow=0000:02:1f.7"]);
    }

    #[test]
    fn the_last_of_several_counts() {
        let options = EalOptions::new().file_prefix("a").floating_lcores([0], [1]).file_prefix("b").lcores([3]);
        assert_eq!(words(&options), ["--file-prefix=b", "--lcores=3"]);
    }

    #[test]
    fn the_first_invalid_value_is_the_error() {
        let options = EalOptions::new().file_prefix("a/..").memory_mb(0);
        let found = options.into_args().err().map(|error| error.to_string());
        assert!(found.is_some_and(|text| text.starts_with("file prefix \"a/..\" cannot be used: ")));
        for options in [
            EalOptions::new().memory_mb(0),
            EalOptions::new().memory_mb(349_526),
            EalOptions::new().memory_mb(1 << 31),
            EalOptions::new().memory_mb(u32::MAX),
            EalOptions::new().lcores([]),
            EalOptions::new().lcores([1 << 16]),
            EalOptions::new().floating_lcores([0], []),
            EalOptions::new().floating_lcores([0], [1024]),
            EalOptions::new().main_lcore(u32::MAX),
            EalOptions::new().device(Pcap::new(0).rx_file("a,infinite_rx=1")),
            EalOptions::new().device(Tap::new(0).interface("a,persist")),
            EalOptions::new().device(AfPacket::new(0, "a,qpairs=2")),
        ] {
            assert!(matches!(options.clone().into_args(), Err(EalError::Value(_))), "{options:?}");
        }
    }
}
