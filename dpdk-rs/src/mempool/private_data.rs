// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The content of a packet's private area.

/// What a pool's mbufs can hold in their private area: plain bytes of any pattern (`bytemuck::Pod`), at most 65,528 of
/// them, aligned to at most 8. Size and alignment are checked when the pool's type is compiled.
///
/// `Pod` is required since a device may return a packet whose private area was last written as another type. Any bytes
/// are a valid `Pod` value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the private data of packets",
    label = "not plain bytes",
    note = "private data is `bytemuck::Pod`: fixed in size, without pointers, padding or invalid values",
    note = "for a struct of your own: `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]` and `#[repr(C)]`, \
            and a field for each gap, as in `reserved: [u8; 2]`"
)]
pub trait PrivateData: bytemuck::Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<T: bytemuck::Pod + Send + Sync> PrivateData for T {}
