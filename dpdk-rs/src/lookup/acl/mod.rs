// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Access control lists: rules over header fields.

mod error;
mod field;
mod rule;

pub use error::AclError;
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

/// The number of inputs of one `rte_acl_classify` call.
const BULK: usize = 64;

/// Rules over `N` fields of a header. A look-up finds the matching rule of highest priority.
///
/// Inputs are bytes in network order, such as a packet's data from the IP header on. Each input has at least
/// [`Self::input_len`] bytes. The rules are fixed: to change them, create another list. Any number of threads may
/// classify with one list.
///
/// With [`AclBuilder::categories`] one look-up answers `C` questions at once: each rule is in some of the categories,
/// and the look-up finds the matching rule of highest priority in each category.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::lookup::{Acl, AclRule, FieldDef, FieldMatch};
/// use std::num::NonZeroU32;
///
/// /// // Protocol, addresses and ports of an IPv4 header without options, and of the UDP or TCP header after it.
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
pub struct Acl<const N: usize, const C: usize = 1> {
    context: Handle<sys::rte_acl_ctx>,
    /// How many bytes of each input DPDK reads.
    reach: usize,
}

impl<const N: usize> Acl<N> {
    /// Starts the description of a list. `name` has at most 28 bytes and is unique among the lists of the process.
    ///
    /// The first field is one byte long. The fields after it form groups of four consecutive bytes, each of one to four
    /// fields.
    pub fn builder(name: impl Into<String>, fields: [FieldDef; N]) -> AclBuilder<N> {
        AclBuilder { name: name.into(), fields, rules: Vec::new(), socket: SocketId::ANY }
    }

    /// Classifies `inputs`. Writes to `results[i]` the `userdata` of the rule of highest priority that matches
    /// `inputs[i]`, or `None` if no rule matches. If the slices differ in length, the rest of the longer one is
    /// ignored.
    ///
    /// # Errors
    /// [`AclError::Input`] for the first input that is too short. Nothing is classified then.
    #[doc(alias = "rte_acl_classify")]
    pub fn classify(&self, inputs: &[&[u8]], results: &mut [Option<NonZeroU32>]) -> Result<(), AclError> {
        self.classify_categories(inputs, results.as_chunks_mut::<1>().0)
    }
}

impl<const N: usize, const C: usize> Acl<N, C> {
    /// `rte_acl_classify` supports one category, or a multiple of four up to 16.
    const CATEGORIES: u32 = {
        assert!(C == 1 || C == 4 || C == 8 || C == 12 || C == 16, "a list has 1, 4, 8, 12 or 16 categories");
        C as u32
    };

    /// The minimum length of an input in bytes.
    #[must_use]
    pub const fn input_len(&self) -> usize {
        self.reach
    }

    /// Classifies `inputs` in all categories. Writes to `results[i][c]` the `userdata` of the rule of highest priority
    /// in category `c` that matches `inputs[i]`, or `None` if no rule of the category matches. If the slices differ in
    /// length, the rest of the longer one is ignored.
    ///
    /// # Errors
    /// [`AclError::Input`] for the first input that is too short. Nothing is classified then.
    #[doc(alias = "rte_acl_classify")]
    pub fn classify_categories(
        &self,
        inputs: &[&[u8]],
        results: &mut [[Option<NonZeroU32>; C]],
    ) -> Result<(), AclError> {
        if let Some((index, short)) = inputs.iter().enumerate().find(|(_, input)| input.len() < self.reach) {
            return Err(AclError::Input { index, len: short.len(), needed: self.reach });
        }
        for (inputs, results) in inputs.chunks(BULK).zip(results.chunks_mut(BULK)) {
            let count = inputs.len().min(results.len());
            let mut data = [ptr::null(); BULK];
            for (data, input) in data.iter_mut().zip(inputs) {
                *data = input.as_ptr();
            }
            // SAFETY: the list lives as long as its handle and does not change after it is built. There are `count`
            // pointers, each to at least as many bytes as DPDK reads, which was checked at the top. The results have
            // room for `count` times the number of categories of 32 bits each, of any pattern.
            let result = unsafe {
                sys::rte_acl_classify(
                    self.context.as_ptr(),
                    data.as_mut_ptr(),
                    results.as_mut_ptr().cast(),
                    count as u32,
                    Self::CATEGORIES,
                )
            };
            AclError::check_call("rte_acl_classify", result)?;
        }
        Ok(())
    }
}

impl<const N: usize, const C: usize> fmt::Debug for Acl<N, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut about = f.debug_struct("Acl");
        about.field("fields", &N).field("categories", &C).field("input_len", &self.reach).finish_non_exhaustive()
    }
}

/// The description of an [`Acl`], from [`Acl::builder`].
#[derive(Clone, Debug)]
#[must_use = "a list is made by `build`"]
pub struct AclBuilder<const N: usize, const C: usize = 1> {
    name: String,
    fields: [FieldDef; N],
    /// The rules, each with its categories; `None` means all.
    rules: Vec<(AclRule<N>, Option<Vec<usize>>)>,
    socket: SocketId,
}

impl<const N: usize, const C: usize> AclBuilder<N, C> {
    /// Sets the number of categories: 1, 4, 8, 12 or 16. Another number does not compile.
    ///
    /// ```no_run
    /// # use dpdk_rs::{Eal, lookup::{AclBuilder, AclError, AclRule}};
    /// # fn example(eal: &Eal, builder: AclBuilder<5>, drop: AclRule<5>, count: AclRule<5>, log: AclRule<5>) -> Result<(), AclError> {
    /// // Category 0 says what to do with a packet, category 1 what to count it as; 2 and 3 are not used.
    /// let acl = builder.categories::<4>().rule_in([0], drop).rule_in([1], count).rule_in([0, 1], log).build(eal)?;
    /// let header = [0; 24];
    /// let mut results = [[None; 4]; 1];
    /// acl.classify_categories(&[&header], &mut results)?;
    /// let [[verdict, counter, ..]] = results;
    /// # let _ = (verdict, counter); Ok(()) }
    /// ```
    #[doc(alias = "RTE_ACL_MAX_CATEGORIES")]
    pub fn categories<const D: usize>(self) -> AclBuilder<N, D> {
        let Self { name, fields, rules, socket } = self;
        AclBuilder { name, fields, rules, socket }
    }

    /// Adds a rule, in all categories.
    pub fn rule(mut self, rule: AclRule<N>) -> Self {
        self.rules.push((rule, None));
        self
    }

    /// Adds several rules, in all categories.
    pub fn rules(mut self, rules: impl IntoIterator<Item = AclRule<N>>) -> Self {
        self.rules.extend(rules.into_iter().map(|rule| (rule, None)));
        self
    }

    /// Adds a rule in some of the categories, numbered from 0.
    pub fn rule_in(mut self, categories: impl Into<Vec<usize>>, rule: AclRule<N>) -> Self {
        self.rules.push((rule, Some(categories.into())));
        self
    }

    /// The NUMA node for the list's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Creates the list from its rules.
    ///
    /// # Errors
    /// [`AclError::Field`] or [`AclError::Rule`] for an impossible field or rule, [`AclError::Create`], or
    /// [`AclError::Call`], for example for a list without rules.
    #[doc(alias = "rte_acl_add_rules")]
    #[doc(alias = "rte_acl_build")]
    #[doc(alias = "rte_acl_create")]
    pub fn build(self, eal: &Eal) -> Result<Acl<N, C>, AclError> {
        let layout = Layout::new(&self.fields, Acl::<N, C>::CATEGORIES)?;
        let rules = self.raw_rules()?;
        let context = self.create(eal, rules.len())?;
        // SAFETY: the list is live and new, so nobody else uses it. It was created for `rules.len()` rules of this
        // size, which the call copies.
        let added = unsafe { sys::rte_acl_add_rules(context.as_ptr(), rules.as_ptr().cast(), rules.len() as u32) };
        AclError::check_call("rte_acl_add_rules", added)?;
        // SAFETY: the list is live and new, so nobody else uses it. The call copies the configuration.
        let built = unsafe { sys::rte_acl_build(context.as_ptr(), &raw const layout.config) };
        AclError::check_call("rte_acl_build", built)?;
        Ok(Acl { context, reach: layout.reach })
    }

    fn raw_rules(&self) -> Result<Vec<RawRule<N>>, AclError> {
        let rules = self.rules.iter().enumerate();
        let raw = |rule: &AclRule<N>, categories| rule.raw(&self.fields, mask::<C>(categories)?);
        rules
            .map(|(index, (rule, categories))| {
                raw(rule, categories.as_deref()).map_err(|reason| AclError::Rule { index, reason })
            })
            .collect()
    }

    fn create(&self, eal: &Eal, rules: usize) -> Result<Handle<sys::rte_acl_ctx>, CreateError> {
        let len = size_of::<RawRule<N>>();
        if !fits(rules, len) {
            return Err(ACL.too_large(&self.name, rules, len));
        }
        let environment = eal.environment();
        let context = ACL.create(environment, &self.name, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`; the call compares the name with others.
            if !unsafe { sys::rte_acl_find_existing(name) }.is_null() {
                // `rte_acl_create` would return the existing list.
                return refuse(sys::EEXIST);
            }
            Errno::NO_MEMORY.set();
            let parameters = sys::rte_acl_param {
                name,
                socket_id: self.socket.get(),
                rule_size: len as u32,
                max_rule_num: rules as u32,
            };
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies its arguments.
            unsafe { sys::rte_acl_create(&raw const parameters) }
        })?;
        // SAFETY: the list is new, so nobody else frees it. Any thread may call `free`, since DPDK locks its list of
        // lists.
        Ok(unsafe { Handle::new(context, free, Arc::clone(environment)) })
    }
}

/// Whether DPDK can compute the bytes of all rules of `len` bytes each: it multiplies the two in 32 bits.
const fn fits(rules: usize, len: usize) -> bool {
    matches!(rules.checked_mul(len), Some(size) if size <= u32::MAX as usize)
}

/// A mask with one bit for each category of a rule.
fn mask<const C: usize>(categories: Option<&[usize]>) -> Result<u32, &'static str> {
    let Some(categories) = categories else { return Ok((1 << C) - 1) };
    if categories.is_empty() {
        return Err("a rule is in at least one category");
    }
    let bit = |category: &usize| (*category < C).then(|| 1_u32 << category);
    let bits: Option<Vec<u32>> = categories.iter().map(bit).collect();
    let bits = bits.ok_or("a category is a number from 0 to one less than there are")?;
    Ok(bits.into_iter().fold(0, |mask, bit| mask | bit))
}

/// # Safety
/// The list is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(context: NonNull<sys::rte_acl_ctx>) {
    // SAFETY: the caller promises a live list that nobody uses.
    unsafe { sys::rte_acl_free(context.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::{RawRule, fits};

    #[test]
    fn rules_fit_32_bits() {
        for len in [size_of::<RawRule<1>>(), size_of::<RawRule<64>>()] {
            let most = u32::MAX as usize / len;
            assert!(fits(most, len) && !fits(most + 1, len), "{len} bytes");
            for rules in [(1 << 31) - 1, 1 << 31, u32::MAX as usize, 1 << 32, (1 << 32) + 1, usize::MAX] {
                assert!(!fits(rules, len), "{rules} rules of {len} bytes");
            }
        }
    }
}
