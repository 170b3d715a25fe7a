// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Buffers in memory that is not contiguous for devices.

use crate::{
    frames::{bytes, frame},
    interposer::{in_place, with_interposer, with_memory_cut},
    process::{eal_args, init},
};
use dpdk_rs::{BufferError, Mempool, Packet};

const LEN: usize = 10_000;

#[test]
fn a_buffer_in_pieces_comes_back() {
    with_interposer(&[], 1, |_| {
        if !in_place() {
            return;
        }
        let (eal, _) = init(eal_args(&[])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(7).cache(0).data_room(0).build(&eal).unwrap();
        let content = frame(1, LEN);
        let mut buffer = eal.heap().boxed_slice(LEN, |place| content[place]).unwrap();
        // Everywhere in it: also one byte behind its start, and before its end.
        for place in [1, 4096, 5000, LEN - 1] {
            let cut = buffer[place..].as_ptr();
            let (error, back) = with_memory_cut(cut, || Packet::attach(&pool, buffer)).unwrap_err();
            assert_eq!((&error, &back[..]), (&BufferError::Scattered { len: LEN }, content.as_slice()));
            assert!(error.to_string().contains("reserve it with MemzoneBuilder::contiguous"), "{error}");
            assert_eq!(pool.available(), 7, "the mbuf is back");
            buffer = back;
        }
        // Before it and behind it are other matters.
        let behind = buffer.as_ptr_range().end;
        let packet = with_memory_cut(behind, || Packet::attach(&pool, buffer)).map_err(|(error, _)| error).unwrap();
        assert_eq!((bytes(&packet), packet.is_contiguous()), (content, true));
    });
}
