// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The values of options.

use crate::{
    addresses::{Addresses, PortRange},
    error::UsageError,
};
use core::time::Duration;
use dpdk_rs::MacAddr;

const RATE_MAX_PPS: f64 = 1e9;
const PORTS_MAX: usize = 32;
/// A longer sequence would not fit on a command line.
const FRAMES_OF_A_MIXTURE: usize = 10_000;

/// A load that follows another without a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Then {
    /// Frames per second on each sending port.
    pub(crate) rate_pps: f64,
    pub(crate) duration: Duration,
}

fn invalid(option: &'static str, value: &str, expected: impl Into<String>) -> UsageError {
    UsageError::Value { option, value: value.to_owned(), expected: expected.into() }
}

/// Digits only: `parse` would also accept a sign.
fn decimal(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// Digits with at most one point: `parse` would also accept signs, exponents, infinities and NaN.
fn fraction(text: &str) -> Option<f64> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') { text.parse().ok() } else { None }
}

pub(super) fn number<T: TryFrom<u64>>(option: &'static str, text: &str, min: u64, max: u64) -> Result<T, UsageError> {
    let value = decimal(text).filter(|value| (min..=max).contains(value));
    let value = value.and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| invalid(option, text, format!("a number from {min} to {max}")))
}

/// Bytes of frames, in the order in which they are sent: `64x7,594x4,1518` is seven, four and one.
pub(super) fn sizes(text: &str) -> Result<Vec<u16>, UsageError> {
    let mut found = Vec::new();
    for part in text.split(',') {
        let (size, count) = part.split_once('x').unwrap_or((part, "1"));
        let size = decimal(size).filter(|size| (64..=9000).contains(size)).and_then(|size| u16::try_from(size).ok());
        let left = (FRAMES_OF_A_MIXTURE - found.len()) as u64;
        let count = decimal(count).filter(|count| (1..=left).contains(count));
        let Some((size, count)) = size.zip(count) else {
            let most = FRAMES_OF_A_MIXTURE;
            let expected =
                format!("bytes from 64 to 9000, or a mixture of at most {most} frames such as 64x7,594x4,1518");
            return Err(invalid("--size", text, expected));
        };
        found.extend((0..count).map(|_| size));
    }
    Ok(found)
}

pub(super) fn seconds(option: &'static str, text: &str, min: f64, max: f64) -> Result<Duration, UsageError> {
    let value = fraction(text).filter(|value| (min..=max).contains(value)).map(Duration::from_secs_f64);
    value.ok_or_else(|| invalid(option, text, format!("seconds from {min} to {max}")))
}

/// Frames per second, or `None` for `max`.
pub(super) fn rate(text: &str) -> Result<Option<f64>, UsageError> {
    if text == "max" {
        return Ok(None);
    }
    match frames_per_second(text) {
        Some(rate) => Ok(Some(rate)),
        None => Err(invalid("--rate", text, "frames per second up to 1G, for example 2.5M, or max")),
    }
}

/// A rate and a duration.
pub(super) fn then(text: &str) -> Result<Then, UsageError> {
    let parts = text.split_once(':').and_then(|(rate, duration)| {
        let duration = fraction(duration).filter(|value| (0.001..=31_536_000.0).contains(value))?;
        Some(Then { rate_pps: frames_per_second(rate)?, duration: Duration::from_secs_f64(duration) })
    });
    parts.ok_or_else(|| invalid("--then", text, "frames per second and seconds, for example 2.5M:30"))
}

fn frames_per_second(text: &str) -> Option<f64> {
    let (digits, unit) = [("k", 1e3), ("M", 1e6), ("G", 1e9)]
        .into_iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)))
        .unwrap_or((text, 1.0));
    // The lowest rate is one frame in a thousand seconds.
    fraction(digits).map(|value| value * unit).filter(|rate| (1e-3..=RATE_MAX_PPS).contains(rate))
}

pub(super) fn ports(text: &str) -> Result<Vec<u16>, UsageError> {
    let ports: Option<Vec<u16>> =
        text.split(',').map(|port| decimal(port).and_then(|port| u16::try_from(port).ok())).collect();
    let expected = "one port number, or pairs of at most 32 in all, for example 0,1 or 0,1,2,3";
    let ports = ports.filter(|ports| ports.len() == 1 || (ports.len() <= PORTS_MAX && ports.len() % 2 == 0));
    let ports = ports.filter(|ports| !ports.is_empty()).ok_or_else(|| invalid("--ports", text, expected))?;
    let twice = ports.iter().enumerate().find(|(index, port)| ports.iter().take(*index).any(|one| one == *port));
    match twice {
        Some((_, port)) => Err(UsageError::PortTwice { port: *port, value: text.to_owned() }),
        None => Ok(ports),
    }
}

/// The share of the load that the way back of a pair has.
pub(super) fn share(option: &'static str, text: &str) -> Result<f64, UsageError> {
    let value = fraction(text).filter(|value| (0.001..=1.0).contains(value));
    value.ok_or_else(|| invalid(option, text, "a number from 0.001 to 1"))
}

/// One VLAN identifier, or two. 0 would be a priority tag, and 4,095 is reserved (IEEE 802.1Q, table 9-2).
pub(super) fn vlans(text: &str) -> Result<Vec<u16>, UsageError> {
    let vlan = |id| decimal(id).filter(|id| (1..=4094).contains(id)).and_then(|id| u16::try_from(id).ok());
    match text.split(',').map(vlan).collect::<Option<Vec<u16>>>() {
        Some(vlans) if vlans.len() <= 2 => Ok(vlans),
        _ => Err(invalid("--vlan", text, "one VLAN identifier or two, each from 1 to 4094, for example 100,200")),
    }
}

pub(super) fn macs(option: &'static str, text: &str) -> Result<Vec<MacAddr>, UsageError> {
    let macs = text.split(',').map(str::parse).collect::<Result<_, _>>();
    macs.map_err(|_| invalid(option, text, "MAC addresses, for example 02:00:00:00:00:01"))
}

pub(super) fn addresses(option: &'static str, text: &str) -> Result<Addresses, UsageError> {
    let expected = "IPv4 addresses, for example 198.18.0.0/16 or 10.0.0.1-10.0.0.9, or IPv6 addresses with the same first \
                    96 bits, for example 2001:2::1-2001:2::ffff";
    text.parse().map_err(|()| invalid(option, text, expected))
}

pub(super) fn port_range(option: &'static str, text: &str) -> Result<PortRange, UsageError> {
    text.parse().map_err(|()| invalid(option, text, "UDP ports, for example 10000-10999"))
}
