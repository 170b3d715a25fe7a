// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Both twins read the same command line: they accept and refuse the same ones, in the same words, and plan the same.

use crate::{
    args::{Command, Options, parse_args},
    error::{Error, take_warnings},
    topology::{assign_queues, pair_ports},
    twin,
};
use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

/// Each line of `data` is an argument.
pub fn forwarder_arguments(data: &[u8]) {
    let ours = comparable(&describe(data));
    let theirs = comparable(&String::from_utf8_lossy(&twin::describe(data)));
    let arguments = arguments(data);
    assert!(ours == theirs, "the twins differ on {arguments:?}:\n--- l2fwd-rs\n{ours}\n--- l2fwd-c\n{theirs}");
}

/// As l2fwd-c says it in `describe_command_line`.
fn describe(data: &[u8]) -> String {
    match parse_args(arguments(data)) {
        Ok(Command::Help) => "help\n".to_owned(),
        Ok(Command::Version) => "version\n".to_owned(),
        Ok(Command::Run { eal_args, options }) => describe_run(&eal_args, &options),
        Err(error) => format!("usage {error}\n"),
    }
}

fn arguments(data: &[u8]) -> Vec<OsString> {
    let mut lines: Vec<&[u8]> = data.split(|byte| matches!(byte, b'\n' | 0)).collect();
    // The end of the last line begins no other.
    lines.pop_if(|last| last.is_empty());
    [b"l2fwd-c".as_slice()].into_iter().chain(lines).map(|line| OsString::from_vec(line.to_vec())).collect()
}

fn describe_run(eal_args: &[String], options: &Options) -> String {
    let mut text = String::from("run\n");
    for argument in eal_args.iter().skip(1) {
        let _ = writeln!(text, "eal {argument}");
    }
    let map = options.port_map.as_ref().map_or("none", |map| map.text.as_str());
    let _ = writeln!(text, "port mask {:#x}, map {map}", options.port_mask);
    let Options { queue_pairs_per_lcore, queues_per_port, burst, .. } = options;
    let _ = writeln!(
        text,
        "queue pairs per lcore {queue_pairs_per_lcore}, queues per port {queues_per_port}, burst {burst}"
    );
    let Options { rx_descriptors, tx_descriptors, period_s, .. } = options;
    let _ = writeln!(text, "rxd {rx_descriptors}, txd {tx_descriptors}, mtu {}", options.mtu.unwrap_or(0));
    let _ = writeln!(text, "period {period_s}, duration {}", options.duration_s.unwrap_or(0));
    let [promiscuous, update_macs] = [options.promiscuous, options.update_macs].map(u8::from);
    let _ = writeln!(text, "promiscuous {promiscuous}, update macs {update_macs}");
    let [idle_sleep, capture] = [options.idle_sleep, options.capture].map(u8::from);
    let _ = writeln!(text, "idle sleep {idle_sleep}, capture {capture}");
    let file = options.stats_json.as_deref().map(OsStr::as_bytes);
    let file = file.map_or("none".to_owned(), |file| file.iter().map(|byte| format!("{byte:02x}")).collect());
    let _ = writeln!(text, "statistics {file}");
    text + &describe_plan(eal_args.len(), options)
}

fn describe_plan(lcore_count: usize, options: &Options) -> String {
    let pairs = pair_ports(options.port_mask, options.port_map.as_ref());
    let mut text: String = take_warnings().iter().map(|warning| format!("warning {warning}\n")).collect();
    for pair in &pairs {
        let _ = writeln!(text, "port {} to port {}", pair.port, pair.peer);
    }
    // Numbers that are not their places, so that the two cannot be taken for each other.
    let lcores: Vec<u32> = (1..).step_by(3).take(lcore_count).collect();
    match assign_queues(&pairs, options.queues_per_port, &lcores, options.queue_pairs_per_lcore) {
        Ok(assignments) => {
            for assigned in assignments {
                let _ = writeln!(
                    text,
                    "lcore {}: queue {} of port {}, to port {}",
                    assigned.lcore, assigned.queue, assigned.port, assigned.peer
                );
            }
        }
        Err(Error::Failed(message)) => {
            let _ = writeln!(text, "failed {message}");
        }
        Err(Error::Usage(message)) => {
            let _ = writeln!(text, "usage {message}");
        }
    }
    text
}

/// Bytes that are no UTF-8 may be quoted differently: how many of them a message names says nothing.
fn comparable(description: &str) -> String {
    let mut last = None;
    let is_news = |character: &char| {
        let before = last.replace(*character);
        *character != char::REPLACEMENT_CHARACTER || before != Some(*character)
    };
    description.chars().filter(is_news).collect()
}
