// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What dpdk-rs reads from text: MAC addresses, and values of options that it passes on to the EAL.

use crate::environment::eal;
use dpdk_rs::{
    Eal, EalError, EalOptions, MacAddr,
    device::{Pcap, Tap},
};
use smoltcp::wire::EthernetAddress;
use std::sync::Once;

/// A text is an address exactly if it is six hexadecimal bytes with colons between; it is then printed as smoltcp prints
/// it but for the colons, and the print is the same address.
pub fn mac_address(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let parts: Vec<&str> = text.split(':').collect();
    let is_byte = |part: &&str| matches!(part.len(), 1 | 2) && part.chars().all(|digit| digit.is_ascii_hexdigit());
    let valid = parts.len() == 6 && parts.iter().all(is_byte);
    match text.parse::<MacAddr>() {
        Ok(mac) => {
            assert!(valid, "{text:?} is no address, but was read as {mac}");
            let printed = mac.to_string();
            assert_eq!(printed, EthernetAddress(mac.octets()).to_string().replace('-', ":"));
            assert_eq!(printed.parse(), Ok(mac));
            let value = |part: &&str| u8::from_str_radix(part, 16).expect("two digits are a byte");
            assert_eq!(mac.octets().to_vec(), parts.iter().map(value).collect::<Vec<_>>());
        }
        Err(error) => {
            assert!(!valid, "{text:?} is an address, but was refused");
            assert!(error.to_string().contains(text), "{error} does not name {text:?}");
        }
    }
}

/// A program's own options are words that DPDK reads as they were meant, or an error before that. Each line of `data` is
/// used as a value.
pub fn eal_arguments(data: &[u8]) {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        eal(&[]);
    });
    let text = String::from_utf8_lossy(data);
    for value in text.lines() {
        check(EalOptions::new().file_prefix(value), &format!("--file-prefix={value}"), "/%");
        check(
            EalOptions::new().device(Tap::new(0).interface(value)),
            &format!("--vdev=net_tap0,iface={value}"),
            "/:% ",
        );
        let files = Pcap::new(0).rx_file(value).tx_file("out");
        check(EalOptions::new().device(files), &format!("--vdev=net_pcap0,rx_pcap={value},tx_pcap=out"), "");
    }
}

/// Checks options with one value: they are this word, whose value has no separator and none of these letters, or an error.
fn check(options: EalOptions, expected: &str, others: &str) {
    let words = options.words().split_off(1);
    match Eal::init(options) {
        Ok(_) => panic!("a second EAL for {expected:?}"),
        Err(EalError::AlreadyInitialized) => {
            assert_eq!(words, [expected]);
            let value = expected.split('=').nth(2).unwrap_or(expected);
            let value = value.strip_suffix(",tx_pcap").unwrap_or(value);
            assert!(!value.is_empty() && !value.contains(|letter| "[](){},\"'\\\0".contains(letter)), "{expected:?}");
            assert!(!value.contains(|letter| others.contains(letter)), "{expected:?}");
        }
        Err(EalError::Value(error)) => {
            assert!(words.is_empty());
            assert!(expected.contains(&error.value), "{error} does not name the value of {expected:?}");
        }
        Err(error) => panic!("{error} for {expected:?}"),
    }
}
