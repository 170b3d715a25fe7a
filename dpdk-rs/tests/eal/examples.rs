// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The examples, on virtual devices.

use crate::{
    capture::{read, write},
    frames::frame,
    others::{lacks_hugepages, shared_args},
    process::{example, example_program, example_until, finish, folder, isolated_bare},
};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

/// The stdout of an example that succeeded.
fn output(name: &str, devices: &[&str], own_args: &[&str]) -> String {
    let finished = example(name, devices, own_args);
    assert!(finished.status.success(), "{}; stderr:\n{}", finished.status, finished.stderr);
    finished.stdout
}

#[test]
fn eal_init() {
    let text = output("eal_init", &["net_null0", "net_null1"], &["--", "--count", "3"]);
    assert_eq!(text, "lcores: 3, ports: 2, own arguments: [\"--count\", \"3\"]\n");
}

#[test]
fn eal_init_says_what_is_wrong() {
    let finished = example("eal_init", &["net_missing0"], &[]);
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stderr.contains("net_missing0"), "{}", finished.stderr);
}

#[test]
fn ethdev_queues() {
    assert_eq!(
        output("ethdev_queues", &["net_ring0", "net_ring1"], &[]),
        "port 0 (net_ring0): RX queues: 1, TX queues: 1, link up, 10000 Mbit/s, full duplex\n\
         port 1 (net_ring1): RX queues: 1, TX queues: 1, link up, 10000 Mbit/s, full duplex\n"
    );
}

#[test]
fn port_report() {
    let text = output("port_report", &["net_ring0", "net_null1"], &[]);
    for words in [
        "port 0 (net_ring0), driver net_ring\n  speeds: none\n  offload: nothing\n  link: Link { up: true",
        "  RX burst mode: - (port 0 (net_ring0): the device has no burst modes to report (its driver is net_ring): ",
        "port 1 (net_null1), driver net_null\n",
    ] {
        assert!(text.contains(words), "{words} is not in:\n{text}");
    }
    let finished = example("port_report", &["net_null0"], &["--", "many"]);
    assert!(finished.stderr.contains("'many' is not a number of descriptors"), "{}", finished.stderr);
}

#[test]
fn port_reset() {
    assert_eq!(
        output("port_reset", &["net_ring0"], &[]),
        "port 0 (net_ring0) started: RX queues: 1\n\
         port 0 (net_ring0): the device has no reset (its driver is net_ring): start the port again as it is, or close it\n\
         port 0 (net_ring0) started again: RX queues: 1\n\
         its counters are those of before\n"
    );
}

#[test]
fn rx_tx() {
    assert_eq!(output("rx_tx", &["net_null0"], &[]), "received: 1024, sent: 1024\n");
}

#[test]
fn without_a_port_the_examples_say_so() {
    for name in [
        "rx_tx",
        "packet_modification",
        "multiple_threads",
        "bare_loop",
        "pipeline",
        "flow_rules",
        "vlan_filter",
        "own_memory",
    ] {
        let finished = example(name, &[], &[]);
        assert_eq!(finished.status.code(), Some(1));
        assert!(finished.stderr.contains("no port: give one with --vdev or -a"), "{}", finished.stderr);
    }
}

#[test]
fn packet_modification() {
    isolated_bare(|| {
        let (input, out) = (folder().join("in.pcap"), folder().join("out.pcap"));
        let frames: Vec<_> = (0..128).map(|number| frame(number, 10 + number)).collect();
        write(&input, &frames);
        let device = format!("net_pcap0,rx_pcap={},tx_pcap={}", input.display(), out.display());
        assert_eq!(output("packet_modification", &[&device], &[]), "sent: 128\n");
        let changed = frames.into_iter().map(|mut frame| {
            if frame.len() >= 14 {
                frame[..12].copy_from_slice(&[6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6]);
            }
            frame
        });
        assert_eq!(read(&out), changed.collect::<Vec<_>>());
    });
}

/// Two captures, repeated: each is sent out of the other port with that port's addresses, until the program is stopped.
#[test]
fn bare_loop() {
    isolated_bare(|| {
        let files = [0, 1].map(|port| ["in", "out"].map(|name| folder().join(format!("{name}{port}.pcap"))));
        let frames = |port: usize| (0..7).map(move |number| frame(port * 7 + number, 60 + number)).collect::<Vec<_>>();
        let mut port = 0;
        let devices = files.each_ref().map(|[input, out]| {
            write(input, &frames(port));
            port += 1;
            format!("net_pcap{},rx_pcap={},tx_pcap={},infinite_rx=1", port - 1, input.display(), out.display())
        });
        // The files grow by whole buffers, of less than these.
        let enough = || files.iter().all(|[_, out]| fs::metadata(out).is_ok_and(|file| file.len() >= 4096));
        let finished = example_until("bare_loop", &devices.each_ref().map(String::as_str), &["--", "8"], enough);
        assert!(finished.status.success(), "{}; stderr:\n{}", finished.status, finished.stderr);
        assert!(finished.stdout.starts_with("forwarding on 2 ports\nport 0: "), "{}", finished.stdout);
        for (port, [_, out]) in files.iter().enumerate() {
            let sent = read(out);
            let addresses = [&[2, 0, 0, 0, 0, port as u8], &sent[0][6..12]].concat();
            let expected = frames(1 - port).into_iter().map(|mut frame| {
                frame[..12].copy_from_slice(&addresses);
                frame
            });
            let count = sent.len();
            assert!(sent.into_iter().eq(expected.collect::<Vec<_>>().into_iter().cycle().take(count)), "port {port}");
        }
    });
}

#[test]
fn multiple_threads() {
    let text = output("multiple_threads", &["net_null0"], &[]);
    let numbers: Vec<(&str, u64)> = text
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(words, number)| (words, number.parse().unwrap()))
        .collect();
    let [("lcore 1 received", first), ("lcore 2 received", second), ("total:", total)] = numbers[..] else {
        panic!("{text}")
    };
    assert!(first + second == total && total >= 10_000, "{text}");
}

#[test]
fn pipeline() {
    let text = output("pipeline", &["net_null0"], &[]);
    let numbers: Vec<u64> =
        text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    let [passed, routed, unrouted] = numbers[..] else { panic!("{text}") };
    // Frames of net_null are zeros, and so is their destination.
    assert!(passed > 0 && routed == passed && unrouted == 0, "{text}");
}

#[test]
fn what_a_device_cannot_sort_or_filter_is_said() {
    for (name, own_args, words) in [
        ("flow_rules", &[][..], "call: \"rte_flow_create\""),
        ("vlan_filter", &["--", "10"], "what: \"VLAN filter\""),
        ("vlan_filter", &["--", "10", "4095"], "'4095' is not a VLAN number: give numbers from 1 to 4094 after --"),
    ] {
        let finished = example(name, &["net_null0"], own_args);
        assert_eq!(finished.status.code(), Some(1));
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
}

/// Two processes: one receives and sends, the other examines the frames in between.
#[test]
fn primary_and_secondary() {
    if lacks_hugepages() {
        return;
    }
    isolated_bare(|| {
        let mut command = Command::new(example_program("primary"));
        command.args(&shared_args(&["net_null0"])[1..]).args(["-m", "32", "--", "1000"]);
        let mut primary = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(primary.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "waiting for a secondary process\n");
        let secondary = finish(Command::new(example_program("secondary")).args(&shared_args(&[])[1..]));
        if !secondary.status.success() {
            primary.kill().unwrap();
            panic!("{}; stderr:\n{}", secondary.status, secondary.stderr);
        }
        assert!(primary.wait().unwrap().success());
        line.clear();
        said.read_to_string(&mut line).unwrap();
        assert_eq!(line, "passed: 1000, returned: 1000\ncounted elsewhere: 1000\n");
        // Frames of net_null are zeros.
        let port = "port 0 (net_null0): RX queues: 1, TX queues: 1, link up, 10000 Mbit/s, full duplex";
        assert_eq!(secondary.stdout, format!("{port}\nIPv4: 0, IPv6: 0, other: 1000\n"));
    });
}
