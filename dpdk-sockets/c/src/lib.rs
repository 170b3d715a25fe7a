// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The poll interface of [`dpdk_sockets`] for C. `include/dpdk_sockets.h` is made from these files, so their comments are
//! written for C.
//!
//! All that is unsafe is here: `pointers.rs` reads and writes the caller's memory, and `queues.rs` uses the queues and mbufs that
//! the caller hands over.

mod config;
mod error;
mod event;
mod group;
mod handles;
mod pointers;
mod queues;
mod stack;
mod stacks;
mod tcp;
mod udp;

pub use config::Config;
pub use error::{Error, dpdk_sockets_strerror};
pub use event::{
    DPDK_SOCKETS_EVENT_ACCEPTED, DPDK_SOCKETS_EVENT_ADDRESSES, DPDK_SOCKETS_EVENT_CONNECTED,
    DPDK_SOCKETS_EVENT_DATAGRAM, DPDK_SOCKETS_EVENT_ENDED, DPDK_SOCKETS_EVENT_READABLE, DPDK_SOCKETS_EVENT_WRITABLE,
    Event,
};
pub use group::{dpdk_sockets_free_group, dpdk_sockets_new_group, dpdk_sockets_take};
pub use handles::{Address, Connection, Group, Listener, Stack, UdpSocket};
pub use stack::{
    dpdk_sockets_counter, dpdk_sockets_free, dpdk_sockets_new, dpdk_sockets_own_address, dpdk_sockets_poll,
};
pub use tcp::{
    dpdk_sockets_abort, dpdk_sockets_close, dpdk_sockets_close_listener, dpdk_sockets_connect, dpdk_sockets_listen,
    dpdk_sockets_peer, dpdk_sockets_recv, dpdk_sockets_send, dpdk_sockets_set_user, dpdk_sockets_shutdown,
    dpdk_sockets_space,
};
pub use udp::{dpdk_sockets_bind_udp, dpdk_sockets_close_udp, dpdk_sockets_recv_from, dpdk_sockets_send_to};
