// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The command line: what is accepted is within its limits, can be written down again, and gives frames.

use crate::{
    addresses::{FieldSequence, IpRange, PortRange},
    args::{Command, Length, Options, parse_args},
    frame::{Format, Ipv6, Macs},
    sent::{SentStream, more_len},
};
use core::{
    net::{Ipv4Addr, Ipv6Addr},
    time::Duration,
};
use dpdk_rs::MacAddr;
use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

/// Each line of `data` is an argument (a NUL ends a line too).
pub fn generator_arguments(data: &[u8]) {
    let mut lines: Vec<&[u8]> = data.split(|byte| matches!(byte, b'\n' | 0)).collect();
    lines.pop_if(|last| last.is_empty());
    let args: Vec<OsString> =
        [b"generator".as_slice()].into_iter().chain(lines).map(|line| OsString::from_vec(line.to_vec())).collect();
    let wants_help = asks_for_help(&args);
    match parse_args(args.clone()) {
        Ok(Command::Help | Command::Version) => assert!(wants_help, "{args:?} asks for neither help nor version"),
        Ok(Command::Run(options)) => {
            assert!(!wants_help);
            check_limits(&options);
            check_fields(&options);
            check_print(&options);
        }
        Err(error) => {
            assert!(!wants_help);
            assert!(!error.to_string().is_empty());
        }
    }
}

fn asks_for_help(args: &[OsString]) -> bool {
    let asks = |arg: &OsString| ["--help", "-h", "--version"].iter().any(|request| arg == request);
    let own = args.iter().skip_while(|arg| *arg != "--").skip(1);
    args.get(1).is_some_and(asks) || own.into_iter().any(asks)
}

fn check_limits(options: &Options) {
    let ports = options.ports.as_slice();
    assert!(matches!(ports, [_]) || matches!(ports, [first, second] if first != second), "{ports:?}");
    assert!((1..=10_000).contains(&options.sizes.len()));
    assert!(options.sizes.iter().all(|size| (64..=9000).contains(size)));
    let vlans = &options.format.vlans;
    assert!(vlans.len() <= 2 && vlans.iter().all(|vlan| (1..4095).contains(vlan)));
    assert!(options.sizes.iter().all(|size| usize::from(*size) >= 64 + more_len(&options.format)));
    assert!(options.format.vxlan.is_none_or(|vni| vni < 1 << 24));
    assert!(options.flows.is_none_or(|flows| flows > 0 && u128::from(flows) <= options.ranges.combinations()));
    assert!(options.rate_pps.is_none_or(|rate| (1e-3..=1e9).contains(&rate)));
    assert!((1..=512).contains(&options.burst) && (1..=64).contains(&options.queues));
    assert!(options.rx_descriptors > 0 && options.tx_descriptors > 0);
    assert!(options.window.is_none_or(|window| (1..=1 << 20).contains(&window)));
    match options.length {
        Length::Count(count) => assert!((1..=1 << 48).contains(&count)),
        Length::Duration(duration) => assert!(duration >= Duration::from_millis(1)),
    }
    for (tx, rx) in options.streams() {
        assert!(tx < ports.len() && rx < ports.len());
    }
    let streams = options.streams().len();
    assert_eq!(options.receiving().len(), streams);
    for macs in [&options.dst_macs, &options.expect_src, &options.expect_dst] {
        assert!(macs.is_empty() || macs.len() == streams);
    }
}

/// The fields of frames are those of the definition, in order and by jumps.
fn check_fields(options: &Options) {
    let macs = Macs { dst: MacAddr::default(), src: MacAddr::default() };
    let format = Format::default();
    let Options { ranges, flows, .. } = *options;
    let stream = SentStream { lens: vec![60], format, macs, session: 0, stream: 0, ranges, flows };
    let mut sequence = FieldSequence::new(&options.ranges).of_flows(flows);
    for number in (0..40).chain([0, 999, 1000, 65_535, 65_536, 65_537, 1 << 32, (1 << 48) - 1, 1 << 48]) {
        assert_eq!(sequence.fields_of(number), stream.fields(number), "frame {number} of {:?}", options.ranges);
    }
}

/// The options as a command line mean the same options.
fn check_print(options: &Options) {
    let mut words = vec![OsString::from("generator"), OsString::from("--")];
    words.extend(print(options).into_iter().map(OsString::from));
    if let Some(file) = &options.json {
        words.push(OsString::from_vec([b"--json=", file.as_bytes()].concat()));
    }
    match parse_args(words.clone()) {
        Ok(Command::Run(again)) => {
            assert!(*again == *options, "{words:?} is {again:?}, not {options:?}")
        }
        other => panic!("{words:?} is {other:?}"),
    }
}

fn print(options: &Options) -> Vec<String> {
    let list = |items: Vec<String>| items.join(",");
    let macs = |macs: &[MacAddr]| list(macs.iter().map(ToString::to_string).collect());
    let ips = |IpRange { first, last }: IpRange| match options.format.ipv6 {
        None => format!("{}-{}", Ipv4Addr::from(first), Ipv4Addr::from(last)),
        Some(Ipv6 { dst, .. }) => {
            let begin = u128::from(u64::from_be_bytes(dst)) << 64 | u128::from(options.ranges.src_ip.first) << 32;
            let [first, last] = [first, last].map(|low| Ipv6Addr::from(begin | u128::from(low)));
            format!("{first}-{last}")
        }
    };
    let src_ips =
        options.format.ipv6.map_or_else(|| ips(options.ranges.src_ip), |ipv6| Ipv6Addr::from(ipv6.src).to_string());
    let ports = |PortRange { first, last }: PortRange| format!("{first}-{last}");
    let mut words = vec![
        format!("--ports={}", list(options.ports.iter().map(ToString::to_string).collect())),
        format!("--size={}", list(options.sizes.iter().map(ToString::to_string).collect())),
        format!("--rate={}", options.rate_pps.map_or("max".to_owned(), |rate| rate.to_string())),
        match options.length {
            Length::Count(count) => format!("--count={count}"),
            Length::Duration(duration) => format!("--duration={}", duration.as_secs_f64()),
        },
        format!("--src-ip={src_ips}"),
        format!("--dst-ip={}", ips(options.ranges.dst_ip)),
        format!("--src-udp={}", ports(options.ranges.src_udp)),
        format!("--dst-udp={}", ports(options.ranges.dst_udp)),
        format!("--wait={}", options.wait.as_secs_f64()),
        format!("--wait-link={}", options.wait_link.as_secs_f64()),
        format!("--probe={}", options.probe.as_secs_f64()),
        format!("--before={}", options.before.as_secs_f64()),
        format!("--burst={}", options.burst),
        format!("--queues={}", options.queues),
        format!("--rxd={}", options.rx_descriptors),
        format!("--txd={}", options.tx_descriptors),
    ];
    for (name, given) in
        [("dst-mac", &options.dst_macs), ("expect-src", &options.expect_src), ("expect-dst", &options.expect_dst)]
    {
        words.extend((!given.is_empty()).then(|| format!("--{name}={}", macs(given))));
    }
    let vlans: Vec<String> = options.format.vlans.iter().map(ToString::to_string).collect();
    words.extend((!vlans.is_empty()).then(|| format!("--vlan={}", list(vlans))));
    words.extend(options.format.vxlan.map(|vni| format!("--vxlan={vni}")));
    words.extend(options.flows.map(|flows| format!("--flows={flows}")));
    words.extend(options.then.map(|load| format!("--then={}:{}", load.rate_pps, load.duration.as_secs_f64())));
    words.extend(options.window.map(|window| format!("--window={window}")));
    words.extend(options.bidirectional.then(|| "--bidirectional".to_owned()));
    words.extend(options.quiet.then(|| "--quiet".to_owned()));
    words
}
