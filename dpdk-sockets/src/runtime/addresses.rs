// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Waiting for the addresses of a stack.

use super::shared::current;
use crate::config::is_link_local;
use core::future::poll_fn;
use core::task::Poll;
use ipnet::IpNet;

/// Waits until the stack has an address that is not link-local, and returns all of them: for a stack that asks the network
/// ([`Config::automatic`](crate::Config::automatic)), before it connects. The address of the other version of IP may come later.
///
/// # Panics
///
/// If no runtime runs on this thread.
pub async fn addresses() -> Vec<IpNet> {
    let runtime = current();
    poll_fn(|context| {
        let own = runtime.stack.borrow().own_addresses();
        if own.iter().any(|net| !is_link_local(net.addr())) {
            return Poll::Ready(own);
        }
        runtime.waits.wait_for_addresses(context.waker());
        Poll::Pending
    })
    .await
}
