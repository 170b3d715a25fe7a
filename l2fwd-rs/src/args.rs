// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line, by the rules of getopt_long: abbreviations, clusters of short options, `--opt value` and
//! `--opt=value`.

use crate::{
    error::UsageError,
    topology::{PortMap, check_port_map, parse_port_map},
};
use lexopt::{Arg, Parser};
use std::{
    ffi::OsString,
    io::{self, Write},
};

/// The largest number of frames in a burst.
pub(crate) const BURST_MAX: usize = 512;

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) port_mask: u64,
    pub(crate) port_map: Option<PortMap>,
    pub(crate) queue_pairs_per_lcore: u16,
    pub(crate) queues_per_port: u16,
    pub(crate) burst: u16,
    pub(crate) rx_descriptors: u16,
    pub(crate) tx_descriptors: u16,
    /// `None`: keep that of the device.
    pub(crate) mtu: Option<u16>,
    /// 0: only final statistics.
    pub(crate) period_s: u32,
    /// `None`: until a signal.
    pub(crate) duration_s: Option<u32>,
    pub(crate) promiscuous: bool,
    pub(crate) update_macs: bool,
    /// An lcore sleeps while no frames arrive.
    pub(crate) idle_sleep: bool,
    /// Other processes may capture frames.
    pub(crate) capture: bool,
    /// File name, `-` for stdout.
    pub(crate) stats_json: Option<OsString>,
    /// `None`: write only the MAC addresses.
    #[cfg(feature = "rewrite")]
    pub(crate) rewrite: Option<crate::rewrite::Rewrite>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port_mask: 0,
            port_map: None,
            queue_pairs_per_lcore: 1,
            queues_per_port: 1,
            burst: 32,
            rx_descriptors: 1024,
            tx_descriptors: 1024,
            mtu: None,
            period_s: 10,
            duration_s: None,
            promiscuous: false,
            update_macs: true,
            idle_sleep: false,
            capture: false,
            stats_json: None,
            #[cfg(feature = "rewrite")]
            rewrite: None,
        }
    }
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Run {
        /// The arguments before the first `--`, the program's name included.
        eal_args: Vec<String>,
        options: Options,
    },
    Help,
    Version,
}

/// An option as the user writes it and as messages name it.
const OPTIONS: &[&str] = &[
    "-p",
    "-q",
    "-T",
    "-P",
    "--portmap",
    "--no-mac-updating",
    "--burst",
    "--rxd",
    "--txd",
    "--queues",
    "--mtu",
    "--stats-json",
    "--duration",
    "--idle-sleep",
    "--capture",
    #[cfg(feature = "rewrite")]
    "--rewrite",
    "--help",
    "-h",
    "--version",
];

/// A decimal number: digits only, no sign.
fn parse_number<T: TryFrom<u32>>(option: &'static str, value: String, min: u32, max: u32) -> Result<T, UsageError> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.parse().ok().filter(|number| digits && (min..=max).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or(UsageError::Number { value, option, min, max })
}

fn parse_port_mask(text: String) -> Result<u64, UsageError> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(&text);
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(UsageError::PortMask(text));
    }
    match u64::from_str_radix(digits, 16) {
        Ok(0) => Err(UsageError::EmptyPortMask(text)),
        Ok(mask) => Ok(mask),
        Err(_) => Err(UsageError::PortMask(text)),
    }
}

/// The option with this name, or else the only one that starts with it.
fn find_option(name: &str) -> Option<&'static str> {
    let mut beginning = OPTIONS.iter().filter(|option| option.starts_with(name));
    let exact = OPTIONS.iter().find(|option| **option == name);
    exact.or_else(|| beginning.next().filter(|_| beginning.next().is_none())).copied()
}

/// An argument as text. Only a file name may contain bytes that are not UTF-8; an error shows replacements for them.
fn lossy(argument: OsString) -> String {
    argument.to_string_lossy().into_owned()
}

fn apply_option(option: &'static str, value: OsString, options: &mut Options) -> Result<(), UsageError> {
    if option == "--stats-json" {
        options.stats_json = Some(value);
        return Ok(());
    }
    let value = lossy(value);
    match option {
        "-p" => options.port_mask = parse_port_mask(value)?,
        "--portmap" => options.port_map = Some(parse_port_map(value)?),
        "-q" => options.queue_pairs_per_lcore = parse_number(option, value, 1, 1024)?,
        "-T" => options.period_s = parse_number(option, value, 0, 86_400)?,
        "--burst" => options.burst = parse_number(option, value, 1, BURST_MAX as u32)?,
        "--rxd" => options.rx_descriptors = parse_number(option, value, 1, 65_535)?,
        "--txd" => options.tx_descriptors = parse_number(option, value, 1, 65_535)?,
        "--queues" => options.queues_per_port = parse_number(option, value, 1, 1024)?,
        #[cfg(feature = "rewrite")]
        "--rewrite" => options.rewrite = Some(crate::rewrite::Rewrite::parse(value)?),
        "--mtu" => options.mtu = Some(parse_number(option, value, 68, 65_535)?),
        _ => options.duration_s = Some(parse_number(option, value, 1, 31_536_000)?),
    }
    Ok(())
}

fn takes_no_value(parser: &mut Parser, option: &'static str) -> Result<(), UsageError> {
    parser.optional_value().map_or(Ok(()), |_| Err(UsageError::Value(option)))
}

enum Next {
    Option,
    Help,
    Version,
    End,
}

/// Reads one option with its value.
fn parse_next(parser: &mut Parser, options: &mut Options) -> Result<Next, UsageError> {
    // To the parser, a second "--" would be the end of the options.
    if let Some(mut raw) = parser.try_raw_args()
        && let Some(argument) = raw.next_if(|argument| argument == "--")
    {
        return Err(UsageError::Unexpected(lossy(argument)));
    }
    let (name, is_long) = match parser.next() {
        Ok(None) => return Ok(Next::End),
        Ok(Some(Arg::Short(letter))) => (format!("-{letter}"), false),
        Ok(Some(Arg::Long(name))) => (format!("--{name}"), true),
        Ok(Some(Arg::Value(value))) => return Err(UsageError::Unexpected(lossy(value))),
        Err(error) => return Err(UsageError::Unexpected(error.to_string())),
    };
    let Some(option) = find_option(&name) else {
        if is_long {
            let _ = parser.optional_value();
        }
        return Err(UsageError::Unknown(name));
    };
    match option {
        "-P" => options.promiscuous = true,
        "--no-mac-updating" => {
            takes_no_value(parser, option)?;
            options.update_macs = false;
        }
        "--idle-sleep" => {
            takes_no_value(parser, option)?;
            options.idle_sleep = true;
        }
        "--capture" => {
            takes_no_value(parser, option)?;
            options.capture = true;
        }
        "-h" => return Ok(Next::Help),
        "--help" => return takes_no_value(parser, option).map(|()| Next::Help),
        "--version" => return takes_no_value(parser, option).map(|()| Next::Version),
        _ => {
            let value = parser.value().map_err(|_| UsageError::NoValue(option))?;
            apply_option(option, value, options)?;
        }
    }
    Ok(Next::Option)
}

/// Splits the command line at the first `--` and reads the part after it. Needs no EAL.
pub(crate) fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut args = args.into_iter();
    let eal_args: Vec<String> = args.by_ref().take_while(|arg| arg != "--").map(lossy).collect();
    match eal_args.get(1).map(String::as_str) {
        Some("--help" | "-h") => return Ok(Command::Help),
        Some("--version") => return Ok(Command::Version),
        _ => {}
    }
    let mut parser = Parser::from_args(args);
    parser.set_short_equals(false);
    let mut options = Options::default();
    let mut first_error = None;
    // Parsing continues after an error, since a later --help takes precedence.
    loop {
        match parse_next(&mut parser, &mut options) {
            Ok(Next::Option) => {}
            Ok(Next::End) => break,
            Ok(Next::Help) => return Ok(Command::Help),
            Ok(Next::Version) => return Ok(Command::Version),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    if let Some(error) = first_error {
        return Err(error);
    }
    if options.port_mask == 0 {
        return Err(UsageError::NoPortMask);
    }
    if let Some(map) = &options.port_map {
        check_port_map(map, options.port_mask)?;
    }
    Ok(Command::Run { eal_args, options })
}

/// Prints the options.
pub(crate) fn print_usage(out: &mut impl Write, program: &str) -> io::Result<()> {
    writeln!(out, "Usage: {program} [EAL options] -- -p PORTMASK [options]")?;
    out.write_all(USAGE.as_bytes())?;
    #[cfg(feature = "rewrite")]
    out.write_all(crate::rewrite::USAGE.as_bytes())?;
    Ok(())
}

pub(crate) fn print_version(out: &mut impl Write, program: &str) -> io::Result<()> {
    writeln!(out, "{program} {} (DPDK {})", env!("CARGO_PKG_VERSION"), dpdk_rs::dpdk_version())
}

const USAGE: &str = "
Receives Ethernet frames with DPDK and sends each to the peer of its port.
The source MAC address becomes that of the output port, the destination
02:00:00:00:00:<output port>.

Options:
  -p PORTMASK         hexadecimal mask of the ports to use (required)
  -q NQ               queue pairs per lcore: 1 to 1024, default 1
  -T PERIOD           seconds between statistics: 0 to 86400, default 10;
                      0 = only at the end
  -P                  enable promiscuous mode
  --portmap=(a,b)[,(c,d)]
                      pairs of ports that forward to each other; (a,a)
                      sends back on the same port; default: neighbours in
                      the mask
  --no-mac-updating   leave the MAC addresses as they are
  --burst N           frames per burst: 1 to 512, default 32
  --rxd N             descriptors of an RX queue: 1 to 65535, default 1024
  --txd N             descriptors of a TX queue: 1 to 65535, default 1024
  --queues N          queue pairs per port: 1 to 1024, default 1; more than 1
                      use RSS on IP, UDP and TCP if the device supports it
  --mtu N             set the MTU: 68 to 65535, default: that of the device
  --stats-json FILE   write statistics as JSON lines; with -, write them to
                      stdout and all text to stderr
  --duration SECONDS  stop after 1 to 31536000 s; default: run until a signal
  --idle-sleep        an lcore without frames sleeps until an RX interrupt; it
                      polls if a device has no RX interrupts
  --capture           let dpdk-dumpcap capture frames; needs hugepages
  -h, --help          print this text
  --version           print the version

SIGINT and SIGTERM end the program; SIGUSR1 stops all ports and starts them
again.

EAL options: https://doc.dpdk.org/guides/linux_gsg/
";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::{Command, Options, UsageError, parse_args};
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

    fn parse(own: &[&str]) -> Result<Command, UsageError> {
        let args = ["l2fwd", "-l", "0", "--"].iter().chain(own).map(Into::into);
        parse_args(args)
    }

    fn options(own: &[&str]) -> Options {
        match parse(own) {
            Ok(Command::Run { eal_args, options }) => {
                assert_eq!(eal_args, ["l2fwd", "-l", "0"]);
                options
            }
            other => panic!("{own:?}: {other:?}"),
        }
    }

    #[test]
    fn defaults_are_those_of_l2fwd() {
        assert_eq!(options(&["-p", "3"]), Options { port_mask: 3, ..Options::default() });
    }

    #[test]
    fn every_way_to_write_an_option() {
        for own in [
            &["-p3", "--burst=64", "-P"][..],
            &["-Pp3", "--burst", "64"],
            &["-p", "0x3", "-P", "--bur", "64"],
            &["-p", "ff", "-P", "--burst", "1", "-p0X3", "--burst=0064"],
        ] {
            let expected = Options { port_mask: 3, burst: 64, promiscuous: true, ..Options::default() };
            assert_eq!(options(own), expected, "{own:?}");
        }
    }

    #[test]
    fn flags_are_off_until_given() {
        let expected = Options { port_mask: 3, idle_sleep: true, capture: true, ..Options::default() };
        assert_eq!(options(&["-p3", "--idle-sleep", "--capture"]), expected);
        assert_eq!(options(&["-p3", "--i", "--c"]), expected);
    }

    #[test]
    fn errors_name_the_value() {
        for (own, message) in [
            (&[][..], "no port mask: give the ports to use with -p, for example -p 0x3"),
            (&["-p", "xyz"], "invalid port mask 'xyz': give a hexadecimal number, for example 0x3"),
            (&["-p=3"], "invalid port mask '=3': give a hexadecimal number, for example 0x3"),
            (&["-p", "0x"], "invalid port mask '0x': give a hexadecimal number, for example 0x3"),
            (&["-p", "+3"], "invalid port mask '+3': give a hexadecimal number, for example 0x3"),
            (&["-p", "0x0"], "port mask '0x0' selects no port"),
            (&["-p3", "--bur", "x"], "invalid value 'x' for --burst: give a number from 1 to 512"),
            (&["-p3", "--burst", "513"], "invalid value '513' for --burst: give a number from 1 to 512"),
            (&["-p3", "-q", "+1"], "invalid value '+1' for -q: give a number from 1 to 1024"),
            (&["-p3", "--rxd="], "invalid value '' for --rxd: give a number from 1 to 65535"),
            (&["-p3", "-T99999999999"], "invalid value '99999999999' for -T: give a number from 0 to 86400"),
            (&["-p3", "--burst", "--rxd"], "invalid value '--rxd' for --burst: give a number from 1 to 512"),
            (&["-p3", "--foo=1", "-z"], "unknown option '--foo'"),
            (&["-p3", "-Pz"], "unknown option '-z'"),
            (&["-p3", "--", "x"], "unexpected argument '--'"),
            (&["-p3", "-"], "unexpected argument '-'"),
            (&["-p3", "x"], "unexpected argument 'x'"),
            (&["-p"], "option '-p' needs a value"),
            (&["-p3", "--burst"], "option '--burst' needs a value"),
            (&["-p3", "--no-mac-updating=1"], "option '--no-mac-updating' takes no value"),
            (&["-p3", "--idle-sleep=1"], "option '--idle-sleep' takes no value"),
            (&["-p3", "--capture=x"], "option '--capture' takes no value"),
            (&["-p3", "--portmap=(0,5)"], "port map '(0,5)' names port 5, which is not in port mask 0x3"),
        ] {
            assert_eq!(parse(own).unwrap_err().to_string(), message, "{own:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay_in_the_name_of_a_file() {
        let parse = |bytes: &[u8]| {
            let own = ["l2fwd", "--", "-p3", "--stats-json"].map(OsString::from);
            parse_args(own.into_iter().chain([OsString::from_vec(bytes.to_vec())]))
        };
        let file = OsString::from_vec(b"a\xff".to_vec());
        let expected = Options { port_mask: 3, stats_json: Some(file), ..Options::default() };
        assert_eq!(parse(b"a\xff"), Ok(Command::Run { eal_args: vec!["l2fwd".to_owned()], options: expected }));
        let error = parse_args([b"l2fwd".as_slice(), b"--", b"-(\x85"].map(|arg| OsString::from_vec(arg.to_vec())));
        assert_eq!(error.unwrap_err().to_string(), "unknown option '-('");
    }

    #[test]
    fn help_beats_errors() {
        assert_eq!(parse(&["--foo", "--help"]), Ok(Command::Help));
        assert_eq!(parse(&["-h"]), Ok(Command::Help));
        assert_eq!(parse(&["-P-h"]), Ok(Command::Help));
        assert_eq!(parse(&["--version", "--help"]), Ok(Command::Version));
        assert_eq!(parse_args(["l2fwd", "--help"].map(Into::into)), Ok(Command::Help));
        assert!(parse(&["-p3", "--stats-json", "--help"]).is_ok_and(|command| command != Command::Help));
    }
}
