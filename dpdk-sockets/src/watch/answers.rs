// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Answers as DPDK's telemetry sends them.

use super::ConnectionInfo;
use super::question::{Page, Sums};
use core::time::Duration;
use dpdk_rs::telemetry::Value;

pub(super) fn error(why: String) -> Value {
    Value::dict([("error", Value::from(why))])
}

pub(super) fn describe_sums(sums: &Sums) -> Value {
    let now = [("connections", sums.connections as u64), ("time_waits", sums.time_waits as u64)];
    Value::dict(now.into_iter().chain(sums.counters.iter()).map(|(name, value)| (name, Value::from(value))))
}

pub(super) fn describe_page(page: &Page) -> Value {
    let connections = page.connections.iter().map(|(place, one)| (place.to_string(), describe(one)));
    let mut answer = vec![("total".to_owned(), Value::from(page.total as u64))];
    answer.extend(page.next.map(|next| ("next".to_owned(), Value::from(next as u64))));
    answer.push(("connections".to_owned(), Value::dict(connections)));
    Value::Dict(answer)
}

fn describe(one: &ConnectionInfo) -> Value {
    let millis = |time: Duration| time.as_millis() as u64;
    let texts = [("local", one.local.to_string()), ("peer", one.peer.to_string()), ("state", one.state.to_string())];
    let numbers = [
        ("closed", u64::from(one.is_closed)),
        ("unread", one.unread as u64),
        ("unacknowledged", one.unacknowledged as u64),
        ("in_flight", one.in_flight as u64),
        ("receive_window", one.receive_window.into()),
        ("send_window", one.send_window.into()),
        ("segment_size", one.segment_size.into()),
        ("path_mtu", one.path_mtu.into()),
        ("bytes_received", one.bytes_received),
        ("bytes_acknowledged", one.bytes_acknowledged),
        ("retransmits", one.retransmits.into()),
        ("out_of_order", one.out_of_order.into()),
        ("since_heard_ms", millis(one.since_heard)),
        ("since_active_ms", millis(one.since_active)),
    ];
    let times = [("timer_ms", one.timer), ("deadline_ms", one.deadline.map(|(time, _)| time))];
    let times = times.into_iter().filter_map(|(name, time)| Some((name, millis(time?))));
    let texts = texts.into_iter().map(|(name, text)| (name, Value::from(text)));
    Value::dict(texts.chain(numbers.into_iter().chain(times).map(|(name, number)| (name, Value::from(number)))))
}
