// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What dpdk-rs reads from text: MAC addresses, and the command line that it hands to the EAL.

use crate::environment::eal;
use dpdk_rs::{Eal, EalError, MacAddr};
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

/// A process that has an EAL is refused another, and told before that if its arguments cannot be passed on. Each line of
/// `data` is an argument.
pub fn eal_arguments(data: &[u8]) {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        eal(&[]);
    });
    let text = String::from_utf8_lossy(data);
    let args: Vec<&str> = text.lines().collect();
    let eal_args = args.split(|arg| *arg == "--").next().unwrap_or_default();
    let expected = match (eal_args, eal_args.iter().find(|arg| arg.contains('\0'))) {
        ([], _) => EalError::NoArguments,
        (_, Some(arg)) => EalError::Argument((*arg).to_owned()),
        _ => EalError::AlreadyInitialized,
    };
    match Eal::init(args.iter().copied()) {
        Ok(_) => panic!("a second EAL for {args:?}"),
        Err(error) => assert_eq!(error, expected, "{args:?}"),
    }
}
