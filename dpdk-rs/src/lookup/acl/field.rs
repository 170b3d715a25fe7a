// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The fields of a header, and what a rule requires of each field.

use super::error::AclError;
use dpdk_sys as sys;

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// By its first bits, such as an address.
    #[doc(alias = "RTE_ACL_FIELD_TYPE_MASK")]
    Prefix,
    /// By a range of numbers, such as a port.
    #[doc(alias = "RTE_ACL_FIELD_TYPE_RANGE")]
    Range,
    /// By some of its bits, such as flags.
    #[doc(alias = "RTE_ACL_FIELD_TYPE_BITMASK")]
    Bitmask,
}

/// A field of a header: its offset, its length and how it is compared.
#[doc(alias = "rte_acl_field_def")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldDef {
    kind: FieldKind,
    offset: u32,
    len: u8,
}

impl FieldDef {
    /// A field compared by its first bits. `offset` counts bytes from the start of an input; `len` is 1, 2 or 4 bytes.
    #[must_use]
    pub const fn prefix(offset: u32, len: u8) -> Self {
        Self { kind: FieldKind::Prefix, offset, len }
    }

    /// A field compared by a range. `offset` counts bytes from the start of an input; `len` is 1, 2 or 4 bytes.
    #[must_use]
    pub const fn range(offset: u32, len: u8) -> Self {
        Self { kind: FieldKind::Range, offset, len }
    }

    /// A field compared by some of its bits. `offset` counts bytes from the start of an input; `len` is 1, 2 or 4
    /// bytes.
    #[must_use]
    pub const fn bitmask(offset: u32, len: u8) -> Self {
        Self { kind: FieldKind::Bitmask, offset, len }
    }

    /// The field's largest value.
    const fn last(self) -> u32 {
        match self.len {
            1 => u8::MAX as u32,
            2 => u16::MAX as u32,
            _ => u32::MAX,
        }
    }

    /// A mask of the field's first `bits` bits.
    const fn first_bits(self, bits: u8) -> u32 {
        !(self.last() as u64 >> bits) as u32 & self.last()
    }

    /// A rule's requirement in DPDK's form: a value, and a prefix length, the end of a range or a mask.
    pub(super) fn raw(self, asked: FieldMatch) -> Result<sys::rte_acl_field, &'static str> {
        let (value, other) = match (self.kind, asked) {
            (FieldKind::Prefix | FieldKind::Bitmask, FieldMatch::Any) => (0, 0),
            (FieldKind::Range, FieldMatch::Any) => (0, self.last()),
            (FieldKind::Prefix, FieldMatch::Prefix { bits, .. }) if bits > 8 * self.len => {
                return Err("a prefix is not longer than its field");
            }
            (FieldKind::Prefix, FieldMatch::Prefix { value, .. }) if value > self.last() => {
                return Err("a value is not longer than its field");
            }
            (FieldKind::Prefix, FieldMatch::Prefix { value, bits }) => (value & self.first_bits(bits), u32::from(bits)),
            (FieldKind::Range, FieldMatch::Range { first, last }) if first > last => {
                return Err("a range does not end before it begins");
            }
            (FieldKind::Range, FieldMatch::Range { first, last }) => (first, last),
            (FieldKind::Bitmask, FieldMatch::Bitmask { value, mask }) => (value, mask),
            _ => return Err("a field is compared as its definition says: by prefix, range or bitmask"),
        };
        if value > self.last() || other > self.last() {
            return Err("a value is not longer than its field");
        }
        Ok(sys::rte_acl_field { value: field_type(value), mask_range: field_type(other) })
    }
}

/// The type that holds `value`. DPDK masks the bytes after the field.
const fn field_type(value: u32) -> sys::rte_acl_field_types {
    sys::rte_acl_field_types { u64_: value as u64 }
}

/// What a rule requires of a field. Values are in the processor's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldMatch {
    /// Any value.
    Any,
    /// The first `bits` bits are equal to those of `value`.
    Prefix {
        /// The value to compare with.
        value: u32,
        /// How many bits to compare, from 0 to the field's length.
        bits: u8,
    },
    /// The value is in the range from `first` to `last`, both included.
    Range {
        /// The smallest value.
        first: u32,
        /// The largest value.
        last: u32,
    },
    /// The bits selected by `mask` are equal to those of `value`.
    Bitmask {
        /// The value to compare with.
        value: u32,
        /// Which bits to compare.
        mask: u32,
    },
}

/// The fields in DPDK's form.
pub(super) struct Layout {
    pub(super) config: sys::rte_acl_config,
    /// How many bytes of each input DPDK reads.
    pub(super) reach: usize,
}

impl Layout {
    /// DPDK reads the first field alone and the fields after it in groups of four bytes, each from the offset of the
    /// group's first field.
    pub(super) fn new<const N: usize>(fields: &[FieldDef; N], categories: u32) -> Result<Self, AclError> {
        const { assert!(N > 0 && N <= sys::RTE_ACL_MAX_FIELDS as usize, "a rule has from 1 to 64 fields") };
        let mut config = sys::rte_acl_config { num_categories: categories, num_fields: N as u32, ..Default::default() };
        let mut groups = Groups::default();
        for (index, (field, def)) in fields.iter().zip(&mut config.defs).enumerate() {
            let input_index = groups.add(*field).map_err(|reason| AclError::Field { index, reason })?;
            *def = sys::rte_acl_field_def {
                type_: match field.kind {
                    FieldKind::Prefix => sys::RTE_ACL_FIELD_TYPE_MASK,
                    FieldKind::Range => sys::RTE_ACL_FIELD_TYPE_RANGE,
                    FieldKind::Bitmask => sys::RTE_ACL_FIELD_TYPE_BITMASK,
                } as u8,
                size: field.len,
                field_index: index as u8,
                input_index,
                offset: field.offset,
            };
        }
        let reach = groups.reach().map_err(|reason| AclError::Field { index: N - 1, reason })?;
        Ok(Self { config, reach })
    }
}

/// How many bytes DPDK reads at once.
const GROUP: u32 = 4;

/// The groups found so far.
#[derive(Default)]
struct Groups {
    /// The offset of the first field, which is a group of its own.
    first: Option<u32>,
    /// The offset and the length in bytes of the current group.
    present: Option<(u32, u32)>,
    /// How many groups follow the first field.
    count: u8,
    /// The largest offset of a field after the first one.
    farthest: Option<u32>,
    /// The largest end of a group.
    end: u32,
}

impl Groups {
    /// Adds a field. Returns the number of its group.
    fn add(&mut self, field: FieldDef) -> Result<u8, &'static str> {
        // Twice the range of DPDK's 16-bit packet length, and small enough that no sum below overflows.
        if field.offset > 1 << 17 {
            return Err("a field lies within 131,072 bytes");
        }
        if self.first.is_none() {
            self.first = Some(field.offset);
            self.end = field.offset + 1;
            return if field.len == 1 { Ok(0) } else { Err("the first field is 1 byte long") };
        }
        if !matches!(field.len, 1 | 2 | 4) {
            return Err("a field is 1, 2 or 4 bytes long");
        }
        let len = u32::from(field.len);
        let (start, before) = match self.present {
            Some((start, filled)) if filled < GROUP => (start, filled),
            _ => {
                self.count += 1;
                (field.offset, 0)
            }
        };
        if field.offset != start + before || before + len > GROUP {
            return Err("the fields after the first form groups of 4 consecutive bytes");
        }
        self.present = Some((start, before + len));
        self.farthest = self.farthest.max(Some(field.offset));
        self.end = self.end.max(start + GROUP);
        Ok(self.count)
    }

    /// How many bytes of an input DPDK reads. It reads four bytes for the first field if another field lies farther
    /// from the start, and four bytes at the start of the input after it has read all fields.
    fn reach(&self) -> Result<usize, &'static str> {
        if self.present.is_some_and(|(_, filled)| filled < GROUP) {
            return Err("the fields after the first form groups of 4 consecutive bytes");
        }
        let first = self.first.unwrap_or(0);
        let first_end = if self.farthest > Some(first) { first + GROUP } else { first + 1 };
        Ok(self.end.max(first_end).max(GROUP) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::{AclError, FieldDef, FieldMatch, Layout};

    /// The group numbers, and the bytes that DPDK reads.
    fn layout<const N: usize>(fields: [FieldDef; N]) -> Result<(Vec<u8>, usize), usize> {
        match Layout::new(&fields, 1) {
            Ok(layout) => Ok((layout.config.defs.iter().take(N).map(|def| def.input_index).collect(), layout.reach)),
            Err(AclError::Field { index, .. }) => Err(index),
            Err(_) => Err(usize::MAX),
        }
    }

    #[test]
    fn fields_form_groups_of_four_bytes() {
        let [protocol, source, destination] =
            [FieldDef::bitmask(9, 1), FieldDef::prefix(12, 4), FieldDef::prefix(16, 4)];
        let ports = [FieldDef::range(20, 2), FieldDef::range(22, 2)];
        assert_eq!(layout([protocol, source, destination, ports[0], ports[1]]), Ok((vec![0, 1, 2, 3, 3], 24)));
        assert_eq!(layout([protocol]), Ok((vec![0], 10)));
        assert_eq!(layout([FieldDef::bitmask(0, 1)]), Ok((vec![0], 4)));
        assert_eq!(layout([FieldDef::bitmask(12, 1), FieldDef::prefix(0, 4)]), Ok((vec![0, 1], 13)));
        assert_eq!(
            layout([FieldDef::bitmask(1, 1), FieldDef::range(0, 2), FieldDef::range(2, 2)]).map(|(_, len)| len),
            Ok(5)
        );
    }

    /// Every choice of up to three fields after the first one, at every offset of a short input.
    #[test]
    fn every_short_layout_reaches_what_dpdk_reads() {
        const OFFSETS: u32 = 6;
        let mut layouts = 0_u32;
        let mut check = |fields: &[FieldDef], found: Result<(Vec<u8>, usize), usize>| {
            let rest = fields.get(1..).unwrap_or_default();
            let Ok((groups, reach)) = found else {
                assert!(!in_groups(rest), "{fields:?} are groups");
                return;
            };
            layouts += 1;
            assert!(in_groups(rest), "{fields:?} are no groups");
            assert!(groups.windows(2).all(|pair| pair[0] <= pair[1]), "{fields:?}: {groups:?}");
            // DPDK reads a group at the offset of its first field, the first field in 4 bytes unless all others lie at or
            // before it, and the first 4 bytes of the input.
            let first = fields[0].offset as usize;
            let far = rest.iter().any(|field| field.offset as usize > first);
            let mut needed = (first + if far { 4 } else { 1 }).max(4);
            for (field, group) in fields.iter().zip(&groups).skip(1) {
                let start =
                    fields.iter().zip(&groups).find(|(_, other)| *other == group).map_or(0, |(at, _)| at.offset);
                needed = needed.max(start as usize + 4).max((field.offset + u32::from(field.len)) as usize);
            }
            assert_eq!(reach, needed, "{fields:?}");
        };
        let first: Vec<FieldDef> = (0..OFFSETS).map(|offset| FieldDef::bitmask(offset, 1)).collect();
        let other: Vec<FieldDef> =
            (0..OFFSETS).flat_map(|offset| [1, 2, 4].map(|len| FieldDef::bitmask(offset, len))).collect();
        for a in &first {
            check(&[*a], layout([*a]));
            for b in &other {
                check(&[*a, *b], layout([*a, *b]));
                for c in &other {
                    check(&[*a, *b, *c], layout([*a, *b, *c]));
                    for d in &other {
                        check(&[*a, *b, *c, *d], layout([*a, *b, *c, *d]));
                    }
                }
            }
        }
        assert_eq!(layouts, 1_926);
    }

    /// Whether fields are runs of 4 consecutive bytes.
    fn in_groups(fields: &[FieldDef]) -> bool {
        let mut rest = fields;
        while let Some(start) = rest.first().map(|field| field.offset) {
            let mut end = start;
            while end < start + 4 {
                match rest {
                    [field, behind @ ..] if field.offset == end => {
                        end += u32::from(field.len);
                        rest = behind;
                    }
                    _ => return false,
                }
            }
            if end != start + 4 {
                return false;
            }
        }
        true
    }

    #[test]
    fn what_is_no_group_is_an_error() {
        let first = FieldDef::bitmask(0, 1);
        assert_eq!(layout([source()]), Err(0), "the first field is one byte");
        assert_eq!(layout([first, FieldDef::range(4, 2)]), Err(1), "half a group");
        assert_eq!(layout([first, FieldDef::range(4, 2), FieldDef::range(8, 2)]), Err(2), "not consecutive");
        assert_eq!(layout([first, FieldDef::range(4, 2), source()]), Err(2), "longer than a group");
        assert_eq!(layout([first, FieldDef::range(4, 3)]), Err(1), "no such size");
        assert_eq!(layout([first, FieldDef::range(u32::MAX, 4)]), Err(1), "far away");
    }

    fn source() -> FieldDef {
        FieldDef::prefix(12, 4)
    }

    #[test]
    fn values_fit_their_fields() {
        let port = FieldDef::range(0, 2);
        assert!(port.raw(FieldMatch::Range { first: 0, last: 65_535 }).is_ok());
        assert!(port.raw(FieldMatch::Range { first: 0, last: 65_536 }).is_err());
        assert!(port.raw(FieldMatch::Range { first: 2, last: 1 }).is_err());
        assert!(port.raw(FieldMatch::Prefix { value: 0, bits: 0 }).is_err());
        assert!(source().raw(FieldMatch::Prefix { value: u32::MAX, bits: 32 }).is_ok());
        assert!(source().raw(FieldMatch::Prefix { value: 0, bits: 33 }).is_err());
        assert_eq!([0, 1, 8, 32].map(|bits| source().first_bits(bits)), [0, 1 << 31, 0xff00_0000, u32::MAX]);
        assert_eq!([0, 9, 16].map(|bits| port.first_bits(bits)), [0, 0xff80, 0xffff]);
        let flags = FieldDef::bitmask(0, 1);
        assert!(flags.raw(FieldMatch::Bitmask { value: 255, mask: 255 }).is_ok());
        assert!(flags.raw(FieldMatch::Bitmask { value: 256, mask: 255 }).is_err());
        assert!([port, source(), flags].iter().all(|field| field.raw(FieldMatch::Any).is_ok()));
    }
}
