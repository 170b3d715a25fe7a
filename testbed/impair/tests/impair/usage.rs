// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors: the message, on stderr, and the exit status.

use crate::process::{Folder, Result, output};

#[test]
fn wrong_use_is_status_2_and_shows_before_the_eal_starts() -> Result {
    let folder = Folder::new()?;
    let percent = "a percentage from 0% to 100%, for example 0.5%";
    let time = "a time up to 3600s, for example 10ms";
    let value = |value, option, expected| format!("invalid value '{value}' for --{option}: give {expected}");
    for (options, message) in [
        ("--loss 101%", value("101%", "loss", percent)),
        ("--loss 1%/x", value("1%/x", "loss", percent)),
        ("--duplicate /", value("/", "duplicate", percent)),
        ("--corrupt -1%", value("-1%", "corrupt", percent)),
        (
            "--gemodel 60%,1",
            value(
                "60%,1",
                "gemodel",
                "the share of lost frames and the mean length L of bursts, for example 1%,5; L is at least 1, the share \
                 at most L / (1 + L)",
            ),
        ),
        (
            "--reorder 5%",
            value("5%", "reorder", "a percentage and a number of frames from 1 to 1000000, for example 5%,3"),
        ),
        ("--delay 5", value("5", "delay", time)),
        ("--jitter 2h", value("2h", "jitter", time)),
        ("--rate 5", value("5", "rate", "a rate from 1kbit to 1000gbit, for example 10mbit")),
        ("--limit 0", value("0", "limit", "a number of frames from 1 to 1000000")),
        ("--seed -1", "invalid value '-1' for --seed: give a number from 0 to 18446744073709551615".to_owned()),
        ("--jitter 1ms", "--jitter 1ms is longer than --delay 0ns: give a jitter up to the delay".to_owned()),
        ("--unknown 1", "invalid option '--unknown'".to_owned()),
        ("--loss", "missing argument for option '--loss'".to_owned()),
        ("x", "unexpected argument \"x\"".to_owned()),
    ] {
        let expected = format!("impair: {message}\nRun with '-- --help' for the options.\n");
        assert_eq!(output(folder.command(&[], options))?, (Some(2), String::new(), expected), "{options}");
    }
    Ok(())
}

#[test]
fn what_the_machine_lacks_is_status_1() -> Result {
    let folder = Folder::new()?;
    let two = ["net_null0", "net_null1"].map(str::to_owned);
    for (devices, options, message) in [
        (&two[..1], "", "impair: two Ethernet ports are needed, and there are 1: choose two NICs with -a, or add"),
        (&two, "--limit 1000000", "impair: cannot create pool 'impair-0' of 1048575 mbufs on socket "),
    ] {
        let (status, stdout, stderr) = output(folder.command(devices, options))?;
        assert_eq!((status, stdout.as_str()), (Some(1), ""), "{options}: {stderr}");
        assert!(stderr.lines().any(|line| line.starts_with(message)), "{options}: {stderr}");
    }
    Ok(())
}

#[test]
fn help_and_version_are_on_stdout() -> Result {
    let folder = Folder::new()?;
    let (status, help, _) = output(folder.command(&[], "--loss x --help"))?;
    assert!(status == Some(0) && help.starts_with("Usage: impair [EAL options] -- [options]"), "{help}");
    let (status, version, _) = output(folder.command(&[], "--version"))?;
    assert!(status == Some(0) && version.starts_with("impair 0."), "{version}");
    Ok(())
}
