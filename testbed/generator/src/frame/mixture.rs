// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames of several lengths in one stream (IMIX), in an order that repeats (RFC 6985). The number of a frame determines
//! its length, so the receiver knows the length too.

use super::{Format, Macs, Template};

/// The templates of a stream with several lengths.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    /// One of each length.
    templates: Vec<Template>,
    /// The template of each frame from number 0 on, repeated.
    order: Vec<usize>,
    /// The one with the longest frames, whose pattern begins with those of all others.
    longest: Template,
}

impl Mixture {
    /// Frames of these lengths in this order; `None` if all lengths are equal. The lengths are those that
    /// [`Template::new`] takes.
    pub(crate) fn new(lens: &[usize], format: &Format, macs: Macs, session: u8, stream: u8) -> Option<Self> {
        let mut known = lens.to_vec();
        known.sort_unstable();
        known.dedup();
        let (_, [_, ..]) = known.split_first()? else { return None };
        let order = lens.iter().filter_map(|len| known.binary_search(len).ok()).collect();
        let templates: Vec<_> = known.iter().map(|len| Template::new(*len, format, macs, session, stream)).collect();
        let longest = templates.last()?.clone();
        Some(Self { templates, order, longest })
    }

    /// The template with the longest frames.
    pub(crate) const fn longest(&self) -> &Template {
        &self.longest
    }

    /// The template of frame `sequence`.
    #[inline]
    pub(crate) fn template_of(&self, sequence: u64) -> &Template {
        let place = sequence.checked_rem(self.order.len() as u64).unwrap_or(0) as usize;
        // Both indices are within their bounds; a fallback costs less than a path to a panic.
        self.order.get(place).and_then(|index| self.templates.get(*index)).unwrap_or(&self.longest)
    }
}
