// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Access control lists: rules over header fields.

mod field;
mod rule;

pub use field::{FieldDef, FieldKind, FieldMatch};
pub use rule::AclRule;

use crate::{
    CreateError, Eal, Errno, SocketId,
    object::{Handle, Kind, refuse},
};
use core::{fmt, num::NonZeroU32, ptr, ptr::NonNull};
use dpdk_sys as sys;
use field::Layout;
use rule::RawRule;
use std::sync::Arc;

/// `RTE_ACL_NAMESIZE` less the NUL byte.
const ACL: Kind = Kind { name: "access control list", call: "rte_acl_create", longest_name: 31 };

/// Inputs of one call of `rte_acl_classify`.
const BULK: usize = 64;

/// Why an access control list was not made, or an input not classified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AclError {
    /// DPDK cannot read the fields where they are said to be.
    #[error("field {index}: {reason}")]
    Field {
        /// The number of the field, from 0.
        index: usize,
        /// What is asked of it.
        reason: &'static str,
    },
    /// A rule says what it cannot say.
    #[error("rule {index}: {reason}")]
    Rule {
        /// The number of the rule, from 0.
        index: usize,
        /// What is asked of it.
        reason: &'static str,
    },
    /// An input ends before the fields do.
    #[error("input {index} has {len} bytes: the fields need {needed}")]
    Input {
        /// The number of the input, from 0.
        index: usize,
        /// Its bytes.
        len: usize,
        /// The bytes that are read.
        needed: usize,
    },
    /// The list was not made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A call of DPDK failed.
    #[error("{call}: {errno}")]
    Call {
        /// The call.
        call: &'static str,
        /// `EINVAL` for a list without rules, `ENOMEM` for one that needs more memory than there is, …
        errno: Errno,
    },
}

impl AclError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Call { errno, .. } => Some(*errno),
            Self::Create(error) => error.errno(),
            _ => None,
        }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Call { call, .. } => Some(call),
            Self::Create(error) => error.call(),
            _ => None,
        }
    }

    fn check_call(call: &'static str, result: i32) -> Result<(), Self> {
        Errno::check(result).map(drop).map_err(|errno| Self::Call { call, errno })
    }
}

/// Rules over `N` fields of a header: which rule of highest priority matches.
///
/// Inputs are bytes in network order, such as a packet's data from the IP header on; each has to be as long as the fields
/// need. The rules are fixed: for others make another list. Any number of threads may classify with one.
///
/// DPDK's categories are not offered: there is one.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
/// use dpdk_rs::lookup::{Acl, AclRule, FieldDef, FieldMatch};
/// use std::num::NonZeroU32;
///
/// // Protocol, addresses and ports of an IPv4 header without options, and of the UDP or TCP header behind it.
/// let fields = [
///     FieldDef::bitmask(9, 1),
///     FieldDef::prefix(12, 4),
///     FieldDef::prefix(16, 4),
///     FieldDef::range(20, 2),
///     FieldDef::range(22, 2),
/// ];
/// let dns = AclRule {
///     priority: 1,
///     userdata: NonZeroU32::new(53).ok_or("0 stands for no rule")?,
///     fields: [
///         FieldMatch::Bitmask { value: 17, mask: 0xff },
///         FieldMatch::Prefix { value: 0x0a00_0000, bits: 8 },
///         FieldMatch::Any,
///         FieldMatch::Any,
///         FieldMatch::Range { first: 53, last: 53 },
///     ],
/// };
/// let acl = Acl::builder("acl", fields).rule(dns).build(&eal)?;
/// let header = [0; 24];
/// let mut results = [None; 1];
/// acl.classify(&[&header], &mut results)?;
/// assert_eq!(results, [None]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_acl_ctx")]
pub struct Acl<const N: usize> {
    context: Handle<sys::rte_acl_ctx>,
    /// The bytes of each input that are read.
    reach: usize,
}

impl<const N: usize> Acl<N> {
    /// Starts to describe a list. The name is the process's own, of at most 31 bytes: two lists cannot share one.
    ///
    /// The first field is one byte long. Those behind it form groups of four bytes in a row, of one to four fields.
    pub fn builder(name: impl Into<String>, fields: [FieldDef; N]) -> AclBuilder<N> {
        AclBuilder { name: name.into(), fields, rules: Vec::new(), socket: SocketId::ANY }
    }

    /// How many bytes an input has to have.
    #[must_use]
    pub const fn input_len(&self) -> usize {
        self.reach
    }

    /// Classifies `inputs`: what the rule of highest priority that matches has as `userdata` is put in the place of each in
    /// `results`, as far as both are long, or `None` if no rule matches.
    ///
    /// # Errors
    /// [`AclError::Input`] for the first input that is too short: then nothing is classified.
    #[doc(alias = "rte_acl_classify")]
    pub fn classify(&self, inputs: &[&[u8]], results: &mut [Option<NonZeroU32>]) -> Result<(), AclError> {
        if let Some((index, short)) = inputs.iter().enumerate().find(|(_, input)| input.len() < self.reach) {
            return Err(AclError::Input { index, len: short.len(), needed: self.reach });
        }
        for (inputs, results) in inputs.chunks(BULK).zip(results.chunks_mut(BULK)) {
            let count = inputs.len().min(results.len());
            let mut data = [ptr::null(); BULK];
            for (data, input) in data.iter_mut().zip(inputs) {
                *data = input.as_ptr();
            }
            // SAFETY: the list is live as long as its handle, and never changed once it is built. There are `count` pointers,
            // each to as many bytes as are read, which was checked at the top, and room for as many results, which are 32
            // bits each, of any pattern.
            let result = unsafe {
                sys::rte_acl_classify(
                    self.context.as_ptr(),
                    data.as_mut_ptr(),
                    results.as_mut_ptr().cast(),
                    count as u32,
                    1,
                )
            };
            AclError::check_call("rte_acl_classify", result)?;
        }
        Ok(())
    }
}

impl<const N: usize> fmt::Debug for Acl<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acl").field("fields", &N).field("input_len", &self.reach).finish_non_exhaustive()
    }
}

/// Describes an [`Acl`]; made by [`Acl::builder`].
#[derive(Clone, Debug)]
#[must_use = "a list is made by `build`"]
pub struct AclBuilder<const N: usize> {
    name: String,
    fields: [FieldDef; N],
    rules: Vec<AclRule<N>>,
    socket: SocketId,
}

impl<const N: usize> AclBuilder<N> {
    /// Adds a rule.
    pub fn rule(mut self, rule: AclRule<N>) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds several rules.
    pub fn rules(mut self, rules: impl IntoIterator<Item = AclRule<N>>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Makes the list from its rules.
    ///
    /// # Errors
    /// [`AclError::Field`] or [`AclError::Rule`] for what cannot be, [`AclError::Create`], or [`AclError::Call`], such as for
    /// a list without rules.
    #[doc(alias = "rte_acl_add_rules")]
    #[doc(alias = "rte_acl_build")]
    #[doc(alias = "rte_acl_create")]
    pub fn build(self, eal: &Eal) -> Result<Acl<N>, AclError> {
        let layout = Layout::new(&self.fields)?;
        let rules = self.raw_rules()?;
        let context = self.create(eal, rules.len())?;
        // SAFETY: the list is live and new, so nobody else uses it, and was made for so many rules of this size, which the
        // call copies.
        let added = unsafe { sys::rte_acl_add_rules(context.as_ptr(), rules.as_ptr().cast(), rules.len() as u32) };
        AclError::check_call("rte_acl_add_rules", added)?;
        // SAFETY: the list is live and new, so nobody else uses it; the call copies the configuration.
        let built = unsafe { sys::rte_acl_build(context.as_ptr(), &raw const layout.config) };
        AclError::check_call("rte_acl_build", built)?;
        Ok(Acl { context, reach: layout.reach })
    }

    fn raw_rules(&self) -> Result<Vec<RawRule<N>>, AclError> {
        let rules = self.rules.iter().enumerate();
        rules.map(|(index, rule)| rule.raw(&self.fields).map_err(|reason| AclError::Rule { index, reason })).collect()
    }

    fn create(&self, eal: &Eal, rules: usize) -> Result<Handle<sys::rte_acl_ctx>, CreateError> {
        let len = size_of::<RawRule<N>>();
        // DPDK multiplies the two in 32 bits.
        let size = rules.checked_mul(len).and_then(|size| u32::try_from(size).ok());
        if size.is_none() {
            return Err(ACL.too_large(&self.name, rules, len));
        }
        let environment = eal.environment();
        let context = ACL.create(environment, &self.name, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`; the call compares the name with others.
            if !unsafe { sys::rte_acl_find_existing(name) }.is_null() {
                // `rte_acl_create` would return that one.
                return refuse(sys::EEXIST);
            }
            Errno::NO_MEMORY.set();
            let parameters = sys::rte_acl_param {
                name,
                socket_id: self.socket.get(),
                rule_size: len as u32,
                max_rule_num: rules as u32,
            };
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies what it is given.
            unsafe { sys::rte_acl_create(&raw const parameters) }
        })?;
        // SAFETY: the list is new, so nobody else frees it; `free` may be called on any thread, since DPDK locks its list.
        Ok(unsafe { Handle::new(context, free, Arc::clone(environment)) })
    }
}

/// # Safety
/// The list is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(context: NonNull<sys::rte_acl_ctx>) {
    // SAFETY: the caller promises a live list that nobody uses.
    unsafe { sys::rte_acl_free(context.as_ptr()) };
}
