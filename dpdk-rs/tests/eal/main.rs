// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What dpdk-rs does on a running EAL: on virtual devices, without root and without hugepages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod acl;
mod borders;
mod buckets;
mod bursts;
mod capture;
mod chains;
mod clock;
mod combined;
mod control;
mod drops;
mod dynamic;
mod examples;
mod external;
mod external_memory;
mod fib;
mod flow;
mod forwarding;
mod fragments;
mod frames;
mod gro;
mod gso;
mod holes;
mod hotplug;
mod init;
mod latency;
mod lcores;
mod log;
mod lookups;
mod memory;
mod messages;
mod meters;
#[path = "../faults/namespace.rs"]
mod namespace;
mod nat44;
mod numbers;
mod offloads;
mod options;
mod others;
mod packets;
mod pcap;
mod pinned;
mod pools;
mod port_queries;
mod ports;
mod private;
mod process;
mod rcu;
mod registered;
mod reorders;
mod rings;
mod secondary;
mod services;
mod shares;
mod single_queues;
mod smoltcp;
mod splits;
mod status;
mod telemetry;
mod timers;
mod tx_buffer;
mod wires;
