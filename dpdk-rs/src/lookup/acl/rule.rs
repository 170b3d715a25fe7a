// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rules as users write them, and in DPDK's form.

use super::{FieldDef, FieldMatch};
use core::num::NonZeroU32;
use dpdk_sys as sys;

/// A rule over `N` fields. It matches if every field does.
#[doc(alias = "rte_acl_rule")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AclRule<const N: usize> {
    /// The priority, from 1 to 2^29 - 1. Of several matching rules, the one of highest priority wins.
    pub priority: i32,
    /// The result of a look-up that this rule wins.
    pub userdata: NonZeroU32,
    /// What the rule requires of each field.
    pub fields: [FieldMatch; N],
}

impl<const N: usize> AclRule<N> {
    /// The rule in DPDK's form, in the categories of `category_mask`; or what is wrong with it.
    pub(super) fn raw(&self, fields: &[FieldDef; N], category_mask: u32) -> Result<RawRule<N>, &'static str> {
        if !(sys::RTE_ACL_MIN_PRIORITY as i32..=sys::RTE_ACL_MAX_PRIORITY as i32).contains(&self.priority) {
            return Err("a priority is from 1 to 2^29 - 1");
        }
        let data = sys::rte_acl_rule_data { category_mask, priority: self.priority, userdata: self.userdata.get() };
        let mut raw = RawRule { data, fields: [sys::rte_acl_field::default(); N] };
        for ((raw, field), asked) in raw.fields.iter_mut().zip(fields).zip(self.fields) {
            *raw = field.raw(asked)?;
        }
        Ok(raw)
    }
}

/// `RTE_ACL_RULE_DEF(…, N)`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct RawRule<const N: usize> {
    data: sys::rte_acl_rule_data,
    fields: [sys::rte_acl_field; N],
}

// `RTE_ACL_RULE_SZ`
const _: () = assert!(size_of::<RawRule<3>>() == size_of::<sys::rte_acl_rule>() + 3 * size_of::<sys::rte_acl_field>());
