// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Elements that processes can share through a ring.

use crate::{Packet, PrivateData};

/// What a ring shared by processes can hold: packets, and plain bytes of any pattern (`bytemuck::Pod`). An address in
/// the memory of one process is meaningless in another, unless it is in DPDK's memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared with other processes",
    label = "neither a packet nor plain bytes",
    note = "what processes share is a `Packet`, or `bytemuck::Pod`: without pointers, padding or invalid values"
)]
pub trait ProcessShared: Send + sealed::Shared {}

#[diagnostic::do_not_recommend]
impl<T: bytemuck::Pod + Send> ProcessShared for T {}

impl<P: PrivateData> ProcessShared for Packet<P> {}

mod sealed {
    use crate::{Packet, PrivateData};

    pub trait Shared {}

    #[diagnostic::do_not_recommend]
    impl<T: bytemuck::Pod> Shared for T {}

    impl<P: PrivateData> Shared for Packet<P> {}
}
