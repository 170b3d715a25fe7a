// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! smoltcp draws initial sequence numbers from a generator with a seed of 64 bits (sPCG32). Whoever has seen a few of them
//! can compute the others, so each connection gets an interface of its own, whose seed gives the number that is wanted.

use smoltcp::wire::TcpSeqNumber;

/// smoltcp's generator: the state is multiplied by `M`, and `A` is added.
const M: u64 = 0xbb2e_fcec_3c39_611d;
const A: u64 = 0x7590_ef39;

/// A seed with which the interface's second number is `wanted`. The first one is the identification of IPv4 packets.
pub(super) fn seed(wanted: TcpSeqNumber) -> u64 {
    let wanted = u64::from(wanted.0.cast_unsigned());
    // With three zeros at the front, the number is in the bits from 29 to 60; those below do not matter.
    let mut second = wanted << 29;
    loop {
        let first = before(second);
        // smoltcp draws again until the identification is not 0.
        if identification(first) != 0 {
            return before(first);
        }
        second += 1;
    }
}

const fn before(state: u64) -> u64 {
    state.wrapping_sub(A).wrapping_mul(inverse(M))
}

const fn identification(state: u64) -> u16 {
    let number = (state >> (29 - (state >> 61))) as u32;
    (number ^ (number >> 16)) as u16
}

/// The inverse modulo 2^64 of an odd number, by Newton's method: each round doubles the bits that are right, of which `odd`
/// itself has three.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut bits = 3;
    while bits < 64 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one() {
        assert_eq!(M.wrapping_mul(inverse(M)), 1);
    }

    #[test]
    fn a_state_is_the_one_after_the_one_before() {
        for state in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(before(state).wrapping_mul(M).wrapping_add(A), state);
        }
    }
}
