// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Files of captured frames.

use std::{fs, path::Path};

/// Writes a capture of Ethernet frames, in the classic format of libpcap.
pub(crate) fn write(path: &Path, frames: &[Vec<u8>]) {
    let mut file = Vec::new();
    // Magic number, version 2.4, time zone, accuracy, longest frame, Ethernet.
    for word in [0xa1b2_c3d4_u32, 2 | 4 << 16, 0, 0, 262_144, 1] {
        file.extend(word.to_ne_bytes());
    }
    for (second, frame) in frames.iter().enumerate() {
        for word in [second, 0, frame.len(), frame.len()] {
            file.extend(u32::try_from(word).unwrap().to_ne_bytes());
        }
        file.extend(frame);
    }
    fs::write(path, file).unwrap();
}

/// The frames of a capture, none of them cut.
pub(crate) fn read(path: &Path) -> Vec<Vec<u8>> {
    let file = fs::read(path).unwrap();
    let word = |place: usize| u32::from_ne_bytes(file[place..place + 4].try_into().unwrap()) as usize;
    assert!([0xa1b2_c3d4, 0xa1b2_3c4d].contains(&word(0)), "time stamps in micro- or nanoseconds");
    let mut frames = Vec::new();
    let mut place = 24;
    while place < file.len() {
        let (held, len) = (word(place + 8), word(place + 12));
        assert_eq!(held, len);
        frames.push(file[place + 16..place + 16 + held].to_vec());
        place += 16 + held;
    }
    frames
}
