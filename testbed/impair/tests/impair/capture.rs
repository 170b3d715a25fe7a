// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Captures in the format of libpcap, in this machine's byte order.

const HEADER: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1];

/// A capture of these frames.
pub(crate) fn write(frames: &[Vec<u8>]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let records = frames.iter().flat_map(|frame| {
        let len = frame.len() as u32;
        [words(&[0, 0, len, len]), frame.clone()].concat()
    });
    words(&HEADER).into_iter().chain(records).collect()
}

/// The frames of a capture.
pub(crate) fn read(capture: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = capture.get(24..).unwrap_or_default();
    let mut frames = Vec::new();
    while let Some((header, after)) = rest.split_at_checked(16) {
        let len = header[8..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes) as usize);
        let (frame, after) = after.split_at(len);
        frames.push(frame.to_vec());
        rest = after;
    }
    frames
}
