// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors: the message, on stderr, and the exit status.

use crate::process::{Folder, Result, run};

const NO_DEVICES: [&str; 0] = [];

#[test]
fn wrong_use_is_status_2_and_shows_before_the_eal_starts() -> Result {
    for (options, message) in [
        ("", "no ports: give the ports to use with --ports, for example --ports 0,1"),
        (
            "--ports 0 --size 63",
            "invalid value '63' for --size: give bytes from 64 to 9000, or a mixture of at most 10000 frames such as \
             64x7,594x4,1518",
        ),
        ("--ports 0 --burst 0", "invalid value '0' for --burst: give a number from 1 to 512"),
        (
            "--ports 0 --rate fast",
            "invalid value 'fast' for --rate: give frames per second up to 1G, for example 2.5M, or max",
        ),
        ("--ports 0,0", "port 0 appears twice in --ports 0,0: give one port, or different ports"),
        ("--ports 0 --count 1 --duration 1", "--duration and --count exclude each other: give only one of them"),
        ("--ports 0 --unknown", "unknown option '--unknown'"),
    ] {
        let outcome = run(&NO_DEVICES, options)?;
        assert_eq!(outcome.status.code(), Some(2), "{options}");
        assert_eq!(outcome.stderr, format!("generator: {message}\nRun with '-- --help' for the options.\n"));
        assert_eq!(outcome.stdout, "");
    }
    Ok(())
}

/// The last line of stderr that is the generator's own, after those of the EAL.
fn message(stderr: &str) -> &str {
    stderr.lines().rfind(|line| line.starts_with("generator: ")).unwrap_or_default()
}

#[test]
fn what_the_machine_lacks_is_status_1() -> Result {
    let folder = Folder::new()?;
    let nowhere = folder.path().join("nowhere/result.json");
    for (devices, options, expected) in [
        (
            &NO_DEVICES[..],
            "--ports 0".to_owned(),
            "generator: no Ethernet ports: bind a NIC to a DPDK driver, or add a virtual device such as \
             --vdev=net_ring0 before the --"
                .to_owned(),
        ),
        (
            &["net_null0", "net_null1"],
            "--ports 0,2".to_owned(),
            "generator: port 2 does not exist: choose from 0, 1 with --ports".to_owned(),
        ),
        (
            &["net_null0"],
            "--ports 0 --rxd 65535".to_owned(),
            "generator: cannot create pool 'generator-rx-0' of 131071 mbufs on socket ".to_owned(),
        ),
        (
            &["net_null0"],
            format!("--ports 0 --json {}", nowhere.display()),
            format!("generator: cannot write the result to '{}': No such file or directory", nowhere.display()),
        ),
    ] {
        let outcome = run(devices, &options)?;
        assert_eq!(outcome.status.code(), Some(1), "{options}: {outcome:?}");
        assert!(message(&outcome.stderr).starts_with(&expected), "{options}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
    Ok(())
}

#[test]
fn a_link_that_stays_down_is_named() -> Result {
    let folder = Folder::new()?;
    // A server without a client.
    let [server, _] = folder.wire("");
    let outcome = run(&[server], "--ports 0 --wait-link 0.2")?;
    assert_eq!(outcome.status.code(), Some(1));
    assert_eq!(
        message(&outcome.stderr),
        "generator: port 0 (net_memif0): the link is still down after 0.2 s: start the peer, or wait longer with \
         --wait-link"
    );
    Ok(())
}

#[test]
fn help_and_version_are_on_stdout() -> Result {
    let help = run(&NO_DEVICES, "--nonsense --help")?;
    assert!(help.status.success() && help.stdout.starts_with("Usage: generator [EAL options] -- --ports"));
    let version = run(&NO_DEVICES, "--version")?;
    assert!(version.status.success() && version.stdout.starts_with("generator 0."), "{version:?}");
    Ok(())
}
