// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line.

mod usage;
mod values;

use crate::{
    addresses::{Addresses, IpRange, PortRange, Ranges},
    error::UsageError,
    frame::{FCS_LEN, Format, Ipv6},
};
use core::{iter, time::Duration};
use dpdk_rs::MacAddr;
use lexopt::Arg;
use std::ffi::OsString;
pub(crate) use values::Then;
use values::{addresses, macs, number, port_range, ports, rate, seconds, share, sizes, then, vlans};

pub(crate) use usage::USAGE;

/// What the command line requests.
#[derive(Debug)]
pub(crate) enum Command {
    Help,
    Version,
    Run(Box<Options>),
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    Duration(Duration),
    /// Frames on each sending port.
    Count(u64),
}

/// The options of a run, checked as far as possible without the EAL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) ports: Vec<u16>,
    pub(crate) bidirectional: bool,
    /// The share of the load that the second port of each pair sends; `None`: all of it.
    pub(crate) reverse_share: Option<f64>,
    /// Frame sizes in bytes with FCS: the sequence that is sent repeatedly, at least one.
    pub(crate) sizes: Vec<u16>,
    pub(crate) format: Format,
    /// Frames per second on each sending port; `None` means as fast as possible.
    pub(crate) rate_pps: Option<f64>,
    pub(crate) length: Length,
    /// A second load right after the first.
    pub(crate) then: Option<Then>,
    pub(crate) ranges: Ranges,
    /// How many of the ranges' combinations are used, the first ones; `None`: all.
    pub(crate) flows: Option<u64>,
    pub(crate) dst_macs: Vec<MacAddr>,
    pub(crate) expect_src: Vec<MacAddr>,
    pub(crate) expect_dst: Vec<MacAddr>,
    pub(crate) wait: Duration,
    pub(crate) wait_link: Duration,
    /// How long to wait for a probe to come back; zero: no probes.
    pub(crate) probe: Duration,
    /// How long to wait after the probes.
    pub(crate) before: Duration,
    pub(crate) burst: usize,
    /// RX queues, and TX queues, on each port.
    pub(crate) queues: u16,
    /// The maximum number of frames of a stream in flight; `None`: no limit.
    pub(crate) window: Option<u64>,
    pub(crate) rx_descriptors: u16,
    pub(crate) tx_descriptors: u16,
    pub(crate) json: Option<OsString>,
    pub(crate) quiet: bool,
}

impl Options {
    /// The sending and the receiving port of each stream, as indices of `ports`.
    pub(crate) fn streams(&self) -> Vec<(usize, usize)> {
        if self.ports.len() < 2 {
            return vec![(0, 0)];
        }
        let firsts = (0..self.ports.len()).step_by(2);
        firsts
            .flat_map(|first| {
                let there = (first, first + 1);
                iter::once(there).chain(self.bidirectional.then_some((there.1, there.0)))
            })
            .collect()
    }

    /// The share of the load that a stream has, by its sending port as an index of `ports`.
    pub(crate) fn share(&self, tx: usize) -> f64 {
        self.reverse_share.filter(|_| tx % 2 == 1).unwrap_or(1.0)
    }

    /// Bytes of every frame, with FCS; `None` for a mixture.
    pub(crate) fn only_size(&self) -> Option<u16> {
        let (first, rest) = self.sizes.split_first()?;
        rest.iter().all(|size| size == first).then_some(*first)
    }

    /// Bytes of the longest frame, with FCS.
    pub(crate) fn longest(&self) -> u16 {
        self.sizes.iter().copied().max().unwrap_or_default()
    }

    /// Bytes of the frames in memory, without FCS, in the order of `sizes`.
    pub(crate) fn lens(&self) -> Vec<usize> {
        self.sizes.iter().map(|size| usize::from(*size) - FCS_LEN).collect()
    }

    /// The indices of the receiving ports, in the order of `ports`.
    pub(crate) fn receiving(&self) -> Vec<usize> {
        let mut receiving: Vec<usize> = self.streams().into_iter().map(|(_, rx)| rx).collect();
        receiving.sort_unstable();
        receiving
    }

    /// Sets the addresses of one IP version.
    fn set_addresses(&mut self, src: Addresses, dst: Addresses) -> Result<(), UsageError> {
        match (src, dst) {
            (Addresses::V4(src), Addresses::V4(dst)) => (self.ranges.src_ip, self.ranges.dst_ip) = (src, dst),
            (Addresses::V6(src, src_range), Addresses::V6(dst, dst_range)) => {
                if src_range.first != src_range.last {
                    return Err(UsageError::SourceVaries);
                }
                let (ipv6, third) = Ipv6::new(src, dst);
                self.format.ipv6 = Some(ipv6);
                self.ranges.src_ip = IpRange { first: third, last: third };
                self.ranges.dst_ip = dst_range;
            }
            _ => return Err(UsageError::IpVersions),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), UsageError> {
        let most = self.ranges.combinations();
        if let Some(flows) = self.flows.filter(|flows| u128::from(*flows) > most) {
            return Err(UsageError::Flows { flows, most });
        }
        let least = self.format.least_len() + FCS_LEN;
        if let Some(size) = self.sizes.iter().copied().find(|size| usize::from(*size) < least) {
            return Err(UsageError::TooShort { size, least });
        }
        if self.then.is_some() && (self.rate_pps.is_none() || matches!(self.length, Length::Count(_))) {
            return Err(UsageError::ThenAlone);
        }
        if self.bidirectional && self.ports.len() < 2 {
            return Err(UsageError::BidirectionalAlone);
        }
        if self.reverse_share.is_some() && (!self.bidirectional || self.rate_pps.is_none()) {
            return Err(UsageError::ReverseAlone);
        }
        let ports = self.streams().len();
        for (option, macs, role) in [
            ("dst-mac", &self.dst_macs, "sending"),
            ("expect-src", &self.expect_src, "receiving"),
            ("expect-dst", &self.expect_dst, "receiving"),
        ] {
            if !macs.is_empty() && macs.len() != ports {
                return Err(UsageError::MacCount { option, given: macs.len(), ports, role });
            }
        }
        Ok(())
    }
}

/// Parses the part of a command line after the first `--`. `--help` takes precedence over errors, also as the first
/// word of the part before it.
pub(crate) fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut args = args.into_iter();
    let eal_args: Vec<OsString> = args.by_ref().take_while(|arg| arg != "--").collect();
    let own_args: Vec<OsString> = args.collect();
    if let Some(command) = eal_args.get(1).and_then(|arg| asks_for(arg.to_str()?)) {
        return Ok(command);
    }
    if let Some(command) = own_args.iter().find_map(|arg| asks_for(arg.to_str()?)) {
        return Ok(command);
    }
    Ok(Command::Run(Box::new(parse_options(own_args)?)))
}

fn asks_for(arg: &str) -> Option<Command> {
    match arg {
        "--help" | "-h" => Some(Command::Help),
        "--version" => Some(Command::Version),
        _ => None,
    }
}

/// An argument as text. Only a file name may contain bytes that are not UTF-8; an error shows replacements for them.
fn lossy(argument: OsString) -> String {
    argument.to_string_lossy().into_owned()
}

fn parse_options(args: Vec<OsString>) -> Result<Options, UsageError> {
    let mut options = Options {
        ports: Vec::new(),
        bidirectional: false,
        reverse_share: None,
        sizes: vec![64],
        format: Format::default(),
        rate_pps: None,
        length: Length::Duration(Duration::from_secs(10)),
        then: None,
        ranges: Ranges {
            src_ip: IpRange::network([198, 18, 0, 0], 16),
            dst_ip: IpRange::network([198, 19, 0, 0], 16),
            src_udp: PortRange::new(10_000, 10_999),
            dst_udp: PortRange::new(10_000, 10_999),
        },
        flows: None,
        dst_macs: Vec::new(),
        expect_src: Vec::new(),
        expect_dst: Vec::new(),
        wait: Duration::from_secs(2),
        wait_link: Duration::from_secs(10),
        probe: Duration::from_secs(10),
        before: Duration::ZERO,
        burst: 32,
        queues: 1,
        window: None,
        rx_descriptors: 1024,
        tx_descriptors: 1024,
        json: None,
        quiet: false,
    };
    let (mut duration, mut count) = (false, false);
    let (mut src_ip, mut dst_ip) = (Addresses::V4(options.ranges.src_ip), Addresses::V4(options.ranges.dst_ip));
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next().map_err(usage_error)? {
        let name = match arg {
            Arg::Long(name) => name.to_owned(),
            Arg::Short(letter) => return Err(UsageError::Unknown(format!("-{letter}"))),
            Arg::Value(value) => return Err(UsageError::Unexpected(lossy(value))),
        };
        let mut value = || parser.value().map(lossy).map_err(usage_error);
        match name.as_str() {
            "ports" => options.ports = ports(&value()?)?,
            "bidirectional" => options.bidirectional = true,
            "reverse-share" => options.reverse_share = Some(share("--reverse-share", &value()?)?),
            "size" => options.sizes = sizes(&value()?)?,
            "vlan" => options.format.vlans = vlans(&value()?)?,
            "vxlan" => options.format.vxlan = Some(number("--vxlan", &value()?, 0, (1 << 24) - 1)?),
            "rate" => options.rate_pps = rate(&value()?)?,
            "duration" => {
                let length = seconds("--duration", &value()?, 0.001, 31_536_000.0)?;
                (options.length, duration) = (Length::Duration(length), true);
            }
            "count" => {
                let frames = number("--count", &value()?, 1, 1 << 48)?;
                (options.length, count) = (Length::Count(frames), true);
            }
            "then" => options.then = Some(then(&value()?)?),
            "src-ip" => src_ip = addresses("--src-ip", &value()?)?,
            "dst-ip" => dst_ip = addresses("--dst-ip", &value()?)?,
            "flows" => options.flows = Some(number("--flows", &value()?, 1, 1 << 32)?),
            "src-udp" => options.ranges.src_udp = port_range("--src-udp", &value()?)?,
            "dst-udp" => options.ranges.dst_udp = port_range("--dst-udp", &value()?)?,
            "dst-mac" => options.dst_macs = macs("--dst-mac", &value()?)?,
            "expect-src" => options.expect_src = macs("--expect-src", &value()?)?,
            "expect-dst" => options.expect_dst = macs("--expect-dst", &value()?)?,
            "wait" => options.wait = seconds("--wait", &value()?, 0.0, 3600.0)?,
            "wait-link" => options.wait_link = seconds("--wait-link", &value()?, 0.0, 3600.0)?,
            "probe" => options.probe = seconds("--probe", &value()?, 0.0, 3600.0)?,
            "before" => options.before = seconds("--before", &value()?, 0.0, 3600.0)?,
            "burst" => options.burst = number("--burst", &value()?, 1, 512)?,
            "queues" => options.queues = number("--queues", &value()?, 1, 64)?,
            "window" => options.window = Some(number("--window", &value()?, 1, 1 << 20)?),
            "rxd" => options.rx_descriptors = number("--rxd", &value()?, 1, u16::MAX.into())?,
            "txd" => options.tx_descriptors = number("--txd", &value()?, 1, u16::MAX.into())?,
            "json" => options.json = Some(parser.value().map_err(usage_error)?),
            "quiet" => options.quiet = true,
            _ => return Err(UsageError::Unknown(format!("--{name}"))),
        }
    }
    if options.ports.is_empty() {
        return Err(UsageError::NoPorts);
    }
    if duration && count {
        return Err(UsageError::DurationAndCount);
    }
    options.set_addresses(src_ip, dst_ip)?;
    options.check()?;
    Ok(options)
}

fn usage_error(error: lexopt::Error) -> UsageError {
    match error {
        lexopt::Error::MissingValue { option } => UsageError::NoValue(option.unwrap_or_default()),
        lexopt::Error::UnexpectedValue { option, .. } => UsageError::NeedsNoValue(option),
        lexopt::Error::UnexpectedOption(option) => UsageError::Unknown(option),
        lexopt::Error::UnexpectedArgument(value) => UsageError::Unexpected(lossy(value)),
        other => UsageError::Unexpected(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Addresses, Command, Length, Options, Then, parse_args};
    use core::time::Duration;
    use dpdk_rs::MacAddr;
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

    fn options(line: &str) -> Result<Options, String> {
        match parse_args(["generator", "--no-huge", "--"].into_iter().chain(line.split_whitespace()).map(Into::into)) {
            Ok(Command::Run(options)) => Ok(*options),
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn defaults() -> Result<(), String> {
        let options = options("--ports 3")?;
        assert_eq!(options.ports, [3]);
        assert_eq!((options.sizes.as_slice(), options.rate_pps, options.burst), ([64].as_slice(), None, 32));
        assert_eq!(options.length, Length::Duration(Duration::from_secs(10)));
        assert_eq!((options.streams(), options.receiving()), (vec![(0, 0)], vec![0]));
        Ok(())
    }

    #[test]
    fn everything_can_be_said() -> Result<(), String> {
        let options = options(
            "--ports=1,0 --bidirectional --size 9000 --rate 2.5M --count 7 --src-ip 10.0.0.1 --dst-ip 10.1.0.0/30 \
             --src-udp 1 --dst-udp 2-3 --dst-mac 02:00:00:00:00:01,02:00:00:00:00:02 --expect-src \
             02:00:00:00:00:03,02:00:00:00:00:04 --wait 0.5 --wait-link 0 --before 2 --burst 512 --rxd 64 --txd 128 --json - --quiet",
        )?;
        assert_eq!((options.ports.as_slice(), options.bidirectional), ([1, 0].as_slice(), true));
        assert_eq!((options.rate_pps, options.length), (Some(2.5e6), Length::Count(7)));
        let addresses = |text: &str| text.parse::<Addresses>().map_err(|()| "range");
        assert_eq!(Addresses::V4(options.ranges.dst_ip), addresses("10.1.0.0-10.1.0.3")?);
        assert_eq!(options.expect_src, [MacAddr([2, 0, 0, 0, 0, 3]), MacAddr([2, 0, 0, 0, 0, 4])]);
        assert_eq!((options.wait, options.wait_link), (Duration::from_millis(500), Duration::ZERO));
        assert_eq!(options.before, Duration::from_secs(2));
        assert_eq!((options.streams(), options.receiving()), (vec![(0, 1), (1, 0)], vec![0, 1]));
        Ok(())
    }

    #[test]
    fn ports_are_pairs_and_the_way_back_may_have_less() -> Result<(), String> {
        let one_way = options("--ports 4,5,0,1")?;
        assert_eq!((one_way.streams(), one_way.receiving()), (vec![(0, 1), (2, 3)], vec![1, 3]));
        let both = options("--ports 4,5,0,1 --bidirectional --rate 1k --reverse-share 0.1")?;
        assert_eq!(both.streams(), [(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert_eq!([0, 1, 2, 3].map(|tx| both.share(tx)), [1.0, 0.1, 1.0, 0.1]);
        assert_eq!(
            [0, 1].map(|tx| options("--ports 0,1 --bidirectional").map(|options| options.share(tx))),
            [Ok(1.0), Ok(1.0)]
        );
        Ok(())
    }

    #[test]
    fn a_load_can_follow_another() -> Result<(), String> {
        let then = options("--ports 0 --rate 2M --duration 60 --then 1.5k:0.5")?.then;
        assert_eq!(then, Some(Then { rate_pps: 1500.0, duration: Duration::from_millis(500) }));
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_text_stay_in_the_name_of_a_file() -> Result<(), String> {
        let file = OsString::from_vec(b"a\xff".to_vec());
        let args = ["generator", "--", "--ports=0", "--json"].map(OsString::from);
        match parse_args(args.into_iter().chain([file.clone()])) {
            Ok(Command::Run(options)) if options.json == Some(file) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn errors_name_the_value_and_the_remedy() {
        for (line, message) in [
            ("", "no ports: give the ports to use with --ports, for example --ports 0,1"),
            ("--ports 0,0", "port 0 appears twice in --ports 0,0: give one port, or different ports"),
            (
                "--ports 0,1,2",
                "invalid value '0,1,2' for --ports: give one port number, or pairs of at most 32 in all, for example 0,1 or 0,1,2,3",
            ),
            (
                "--ports=",
                "invalid value '' for --ports: give one port number, or pairs of at most 32 in all, for example 0,1 or 0,1,2,3",
            ),
            ("--ports 0,1,2,0", "port 0 appears twice in --ports 0,1,2,0: give one port, or different ports"),
            (
                "--ports 0,1 --bidirectional --rate 1k --reverse-share 1.5",
                "invalid value '1.5' for --reverse-share: give a number from 0.001 to 1",
            ),
            (
                "--ports 0,1 --rate 1k --reverse-share 0.5",
                "--reverse-share needs two directions with a rate: give --bidirectional and --rate, for example --rate 1M",
            ),
            (
                "--ports 0,1 --bidirectional --reverse-share 0.5",
                "--reverse-share needs two directions with a rate: give --bidirectional and --rate, for example --rate 1M",
            ),
            (
                "--ports 0 --rate 0",
                "invalid value '0' for --rate: give frames per second up to 1G, for example 2.5M, or max",
            ),
            (
                "--ports 0 --rate 2G",
                "invalid value '2G' for --rate: give frames per second up to 1G, for example 2.5M, or max",
            ),
            (
                "--ports 0 --rate nan",
                "invalid value 'nan' for --rate: give frames per second up to 1G, for example 2.5M, or max",
            ),
            ("--ports 0 --duration 0", "invalid value '0' for --duration: give seconds from 0.001 to 31536000"),
            ("--ports 0 --duration inf", "invalid value 'inf' for --duration: give seconds from 0.001 to 31536000"),
            ("--ports 0 --wait -1", "invalid value '-1' for --wait: give seconds from 0 to 3600"),
            ("--ports 0 --before 3601", "invalid value '3601' for --before: give seconds from 0 to 3600"),
            (
                "--ports 0 --rate 1 --then 5",
                "invalid value '5' for --then: give frames per second and seconds, for example 2.5M:30",
            ),
            (
                "--ports 0 --rate 1 --then max:5",
                "invalid value 'max:5' for --then: give frames per second and seconds, for example 2.5M:30",
            ),
            (
                "--ports 0 --then 1k:5",
                "--then needs a first load with a rate and a duration: give --rate, for example --rate 1M, and no --count",
            ),
            (
                "--ports 0 --rate 1k --count 5 --then 1k:5",
                "--then needs a first load with a rate and a duration: give --rate, for example --rate 1M, and no --count",
            ),
            ("--ports 0 --count 0", "invalid value '0' for --count: give a number from 1 to 281474976710656"),
            ("--ports 0 --count 1 --duration 1", "--duration and --count exclude each other: give only one of them"),
            ("--ports 0 --burst 513", "invalid value '513' for --burst: give a number from 1 to 512"),
            ("--ports 0 --rxd 65536", "invalid value '65536' for --rxd: give a number from 1 to 65535"),
            (
                "--ports 0 --src-ip 1.2.3.4/33",
                "invalid value '1.2.3.4/33' for --src-ip: give IPv4 addresses, for example 198.18.0.0/16 or 10.0.0.1-10.0.0.9, or IPv6 \
                 addresses with the same first 96 bits, for example 2001:2::1-2001:2::ffff",
            ),
            ("--ports 0 --dst-udp 2-1", "invalid value '2-1' for --dst-udp: give UDP ports, for example 10000-10999"),
            (
                "--ports 0 --dst-mac 02:00:00:00:00:0g",
                "invalid value '02:00:00:00:00:0g' for --dst-mac: give MAC addresses, for example 02:00:00:00:00:01",
            ),
            (
                "--ports 0,1 --dst-mac 02:00:00:00:00:01,02:00:00:00:00:02",
                "--dst-mac has 2 MAC addresses for 1 sending port: give one for each",
            ),
            (
                "--ports 0,1 --bidirectional --expect-src 02:00:00:00:00:01",
                "--expect-src has 1 MAC addresses for 2 receiving ports: give one for each",
            ),
            (
                "--ports 0 --bidirectional",
                "--bidirectional needs two ports or more: give them with --ports, for example --ports 0,1",
            ),
            (
                "--ports 0 --dst-ip 2001:2::1",
                "--src-ip and --dst-ip are of different IP versions: give both as IPv4, or both as IPv6",
            ),
            (
                "--ports 0 --src-ip 2001:2::/112 --dst-ip 2001:2::1",
                "--src-ip has several IPv6 addresses: give one, since with IPv6 the destinations vary",
            ),
            (
                "--ports 0 --dst-ip 1.2.3.4 --src-ip 1.2.3.4/31 --src-udp 1 --dst-udp 1-2 --flows 5",
                "--flows asks for 5 flows, and the ranges of addresses and ports make 4: give longer ranges, or fewer",
            ),
            ("--ports 0 --vxlan 16777216", "invalid value '16777216' for --vxlan: give a number from 0 to 16777215"),
            ("--ports 0 --speed 1", "unknown option '--speed'"),
            ("--ports 0 -x", "unknown option '-x'"),
            ("--ports", "option '--ports' needs a value"),
            ("--ports 0 --quiet=1", "option '--quiet' takes no value"),
            ("--ports 0 extra", "unexpected argument 'extra'"),
        ] {
            assert_eq!(options(line).map_err(|error| error.to_string()), Err(message.to_owned()), "{line}");
        }
    }

    #[test]
    fn sizes_are_one_or_a_mixture() -> Result<(), String> {
        assert_eq!(options("--ports 0 --size 1518")?.sizes, [1518]);
        assert_eq!(options("--ports 0 --size 64x3,9000,64")?.sizes, [64, 64, 64, 9000, 64]);
        assert_eq!(options("--ports 0 --size 64x3,9000,64")?.longest(), 9000);
        assert_eq!(options("--ports 0 --size 64x3,9000,64")?.only_size(), None);
        assert_eq!(options("--ports 0 --size 70x3,70")?.only_size(), Some(70));
        assert_eq!(options("--ports 0 --size 64x10000")?.sizes.len(), 10_000);
        for bad in ["63", "9001", "64.0", "", "64,", "64x", "64x0", "x64", "64x9999,65x2", "64x99999999999999999999"] {
            let message = format!(
                "invalid value '{bad}' for --size: give bytes from 64 to 9000, or a mixture of at most 10000 frames such \
                 as 64x7,594x4,1518"
            );
            assert_eq!(options(&format!("--ports 0 --size={bad}")).err(), Some(message));
        }
        Ok(())
    }

    #[test]
    fn tags_need_room() -> Result<(), String> {
        assert_eq!(options("--ports 0 --vlan 4094 --size 68,9000")?.format.vlans, [4094]);
        assert_eq!(options("--ports 0 --vlan=1,100 --size 72")?.format.vlans, [1, 100]);
        for (line, least) in [("--vlan 7 --size 64", 68), ("--vlan 7,8 --size 1518,71", 72), ("--vlan 7", 68)] {
            let size = if line.contains("71") { 71 } else { 64 };
            let message = format!(
                "--size has frames of {size} bytes, too short for these headers and the mark of a frame: give {least} or more"
            );
            assert_eq!(options(&format!("--ports 0 {line}")).err(), Some(message));
        }
        for bad in ["", "0", "4095", "1,2,3", "1,", "+1", "x"] {
            let message = format!(
                "invalid value '{bad}' for --vlan: give one VLAN identifier or two, each from 1 to 4094, for example 100,200"
            );
            assert_eq!(options(&format!("--ports 0 --size 100 --vlan={bad}")).err(), Some(message));
        }
        Ok(())
    }

    #[test]
    fn ipv6_has_one_source_and_destinations_that_differ_in_32_bits() -> Result<(), String> {
        let line = "--ports 0 --size 84 --src-ip 2001:2::1 --dst-ip 2001:2:0:1:2:3::/96 --flows 1000000";
        let options = options(line)?;
        let ipv6 = options.format.ipv6.ok_or("no IPv6")?;
        assert_eq!((ipv6.src[..4].to_vec(), ipv6.src[15]), (vec![0x20, 1, 0, 2], 1));
        assert_eq!(ipv6.dst, [0x20, 1, 0, 2, 0, 0, 0, 1]);
        let (src, dst) = (options.ranges.src_ip, options.ranges.dst_ip);
        assert_eq!([src.first, src.last, dst.first, dst.last], [0x2_0003, 0x2_0003, 0, u32::MAX]);
        assert_eq!(options.flows, Some(1_000_000));
        Ok(())
    }

    #[test]
    fn headers_need_room() {
        let ipv6 = "--src-ip 2001:2::1 --dst-ip 2001:2::2";
        for (line, least) in [(ipv6, 84), ("--vxlan 7", 114), (&format!("--vlan 7,8 --vxlan 0 {ipv6}"), 142)] {
            assert!(options(&format!("--ports 0 {line} --size {least}")).is_ok(), "{line}");
            let error = options(&format!("--ports 0 {line} --size {}", least - 1)).err();
            assert!(error.is_some_and(|error| error.ends_with(&format!("give {least} or more"))), "{line}");
        }
    }

    #[test]
    fn help_wins() {
        for line in ["generator --help", "generator -l 0 -- --nonsense --help", "generator -- -h"] {
            assert!(matches!(parse_args(line.split(' ').map(Into::into)), Ok(Command::Help)), "{line}");
        }
        assert!(matches!(parse_args(["generator".into(), "--version".into()]), Ok(Command::Version)));
    }
}
