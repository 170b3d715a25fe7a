// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rules by which a started port sorts received frames in the device (`rte_flow`).
//!
//! A rule compares headers, from the outermost inwards, and defines an action for matching frames:
//!
//! ```no_run
//! use dpdk_rs::{Port, flow::{Action, Eth, FlowError, Ipv4, Rule, Udp}};
//!
//! # fn names(port: &Port) -> Result<(), FlowError> {
//! let rule = Rule::new()
//!     .item(Eth::any())
//!     .item(Ipv4::any().dst_net([192, 0, 2, 0].into(), 24))
//!     .item(Udp::any().dst_port(53))
//!     .action(Action::Count)
//!     .action(Action::Queue(1));
//! port.validate_flow(&rule)?;
//! let flow = port.create_flow(&rule)?;
//! println!("{:?}", flow.count()?.packets);
//! flow.destroy()?;
//! # Ok(())
//! # }
//! ```
//!
//! Only the device knows which rules it supports. It reports that when a rule is validated or created.

mod action;
mod error;
mod pattern;

pub use action::Action;
pub use error::{FlowError, FlowErrorCause};
pub use pattern::{Eth, Ipv4, Ipv6, Item, Tcp, Udp, Vlan};

use crate::{
    Errno, Port, PortId, PrivateData,
    port::{Device, RawFlow, Started},
};
use action::Actions;
use core::{ffi::c_void, fmt, iter, ptr, ptr::NonNull};
use dpdk_sys as sys;
use pattern::Bytes;
use std::sync::Arc;

/// A rule for received frames: a pattern, and actions for the frames that match it. A frame matches if its headers
/// begin with those of the pattern, in that order. A pattern without headers matches every frame.
#[doc(alias = "rte_flow_attr")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a rule does nothing before it is created on a port"]
pub struct Rule {
    group: u32,
    priority: u32,
    items: Vec<Item>,
    actions: Vec<Action>,
}

impl Rule {
    /// A rule in group 0 with priority 0, the highest, without a pattern or an action.
    pub const fn new() -> Self {
        Self { group: 0, priority: 0, items: Vec::new(), actions: Vec::new() }
    }

    /// Adds a header to the end of the pattern.
    pub fn item(mut self, item: impl Into<Item>) -> Self {
        self.items.push(item.into());
        self
    }

    /// Adds an action.
    pub fn action(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }

    /// The group. Frames begin in group 0, and reach other groups by [`Action::Jump`]. Default: 0.
    pub const fn group(mut self, group: u32) -> Self {
        self.group = group;
        self
    }

    /// The priority within the group. If a frame matches several rules, the one with the lowest number applies.
    /// Default: 0.
    pub const fn priority(mut self, priority: u32) -> Self {
        self.priority = priority;
        self
    }

    /// The pattern in DPDK's form. It points into the rule.
    fn raw_items(&self) -> Vec<sys::rte_flow_item> {
        let items = self.items.iter().map(|item| {
            let bytes = |bytes: &Bytes| if item.is_any() { ptr::null() } else { ptr::from_ref(bytes).cast::<c_void>() };
            sys::rte_flow_item { type_: item.kind, spec: bytes(&item.spec), last: ptr::null(), mask: bytes(&item.mask) }
        });
        // 0 is RTE_FLOW_ITEM_TYPE_END.
        items.chain(iter::once(sys::rte_flow_item::default())).collect()
    }
}

/// The counters of a rule.
#[doc(alias = "rte_flow_query_count")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowCount {
    /// The number of frames; `None` if the device does not count them.
    pub packets: Option<u64>,
    /// The number of bytes; `None` if the device does not count them.
    pub bytes: Option<u64>,
}

/// A rule on a started port. Dropping this handle destroys the rule; [`Flow::leave`] leaves it on the port. The rule
/// ends at the latest when the port is stopped. The handle keeps the port from being closed.
#[doc(alias = "rte_flow")]
#[must_use = "the rule is destroyed when this is dropped"]
pub struct Flow {
    device: Arc<Device>,
    number: u64,
}

impl<P: PrivateData> Port<Started<P>> {
    /// Checks whether the device would accept a rule in its present state.
    ///
    /// # Errors
    /// [`FlowError::Refused`] if it would not, or does not support rules (`ENOSYS`); [`FlowError::Port`] if the rule
    /// names a queue that the port does not have, or contains an impossible value; [`FlowError::NoAction`].
    #[doc(alias = "rte_flow_validate")]
    pub fn validate_flow(&self, rule: &Rule) -> Result<(), FlowError> {
        let device = self.device();
        let actions = check(device, rule)?;
        let mut error = sys::rte_flow_error::default();
        let (items, actions) = (rule.raw_items(), actions.raw());
        let _control = device.control()?;
        // SAFETY: the port exists as long as its `Device`, and the control plane is locked. The arrays end with END,
        // and what they point to lives until the end of this function.
        let result = unsafe {
            sys::dpdk_sys_flow_validate(
                device.id().get(),
                rule.group,
                rule.priority,
                items.as_ptr(),
                actions.as_ptr(),
                &raw mut error,
            )
        };
        refused(device, "validate", "rte_flow_validate", result, &error)
    }

    /// Creates a rule on the device.
    ///
    /// # Errors
    /// The errors of [`Self::validate_flow`].
    #[doc(alias = "rte_flow_create")]
    pub fn create_flow(&self, rule: &Rule) -> Result<Flow, FlowError> {
        let device = self.device();
        let actions = check(device, rule)?;
        let mut error = sys::rte_flow_error::default();
        let (items, actions) = (rule.raw_items(), actions.raw());
        let _control = device.control()?;
        // SAFETY: the port exists as long as its `Device`, and the control plane is locked. The arrays end with END,
        // and what they point to lives until the end of this function: drivers copy it.
        let flow = unsafe {
            sys::dpdk_sys_flow_create(
                device.id().get(),
                rule.group,
                rule.priority,
                items.as_ptr(),
                actions.as_ptr(),
                &raw mut error,
            )
        };
        let Some(flow) = NonNull::new(flow) else {
            return Err(refusal(device, "create", "rte_flow_create", Errno::last(), &error));
        };
        // SAFETY: the rule is new, on a started port. `Flow::end` and the stop take it from the list before they destroy it.
        let flow = unsafe { RawFlow::new(flow) };
        let number = device.with_flows(|flows| flows.add(flow));
        Ok(Flow { device: Arc::clone(device), number })
    }
}

/// Checks the rule against the port. Returns its actions in DPDK's form.
fn check<'a>(device: &Device, rule: &'a Rule) -> Result<Actions<'a>, FlowError> {
    if rule.actions.is_empty() {
        return Err(FlowError::NoAction { port: device.id(), name: device.name().to_owned() });
    }
    if let Some((what, asked, limits)) = rule.items.iter().find_map(|item| item.wrong) {
        // Such a value is impossible on any device.
        return Err(device.unsupported(what, asked, limits.to_owned()).into());
    }
    for action in &rule.actions {
        action.check(device)?;
    }
    Ok(Actions::new(&rule.actions))
}

/// Converts the result of a call to an error with the driver's message. The caller has locked the control plane.
fn refused(
    device: &Device,
    action: &'static str,
    call: &'static str,
    result: i32,
    error: &sys::rte_flow_error,
) -> Result<(), FlowError> {
    if result == 0 { Ok(()) } else { Err(refusal(device, action, call, Errno::new(result), error)) }
}

fn refusal(
    device: &Device,
    action: &'static str,
    call: &'static str,
    errno: Errno,
    error: &sys::rte_flow_error,
) -> FlowError {
    FlowError::Refused {
        port: device.id(),
        name: device.name().to_owned(),
        action,
        call,
        cause: FlowErrorCause::new(error.type_),
        // SAFETY: a call on this port has filled the error, under the lock that the caller holds.
        message: unsafe { error::message(error) },
        errno,
    }
}

impl Flow {
    /// The port.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.device.id()
    }

    /// The counters of a rule with [`Action::Count`].
    ///
    /// # Errors
    /// [`FlowError::Refused`] if the rule does not count, or the device does not report it; [`FlowError::Ended`] after
    /// the port was stopped.
    #[doc(alias = "rte_flow_query")]
    pub fn count(&self) -> Result<FlowCount, FlowError> {
        let mut error = sys::rte_flow_error::default();
        let mut count = sys::dpdk_sys_flow_count::default();
        let _control = self.device.control()?;
        let flow = self.device.with_flows(|flows| flows.get(self.number)).ok_or_else(|| self.ended())?;
        let port = self.device.id().get();
        // SAFETY: the port exists as long as its `Device`. The rule belongs to it and was not destroyed, and the
        // control plane stays locked until this function ends.
        let result = unsafe { sys::dpdk_sys_flow_query_count(port, flow.as_ptr(), &raw mut count, &raw mut error) };
        refused(&self.device, "query", "rte_flow_query", result, &error)?;
        Ok(FlowCount {
            packets: (count.hits_set != 0).then_some(count.hits),
            bytes: (count.bytes_set != 0).then_some(count.bytes),
        })
    }

    /// Destroys the rule.
    ///
    /// # Errors
    /// [`FlowError::Refused`] if the device refuses; [`FlowError::Ended`] after the port was stopped.
    #[doc(alias = "rte_flow_destroy")]
    pub fn destroy(self) -> Result<(), FlowError> {
        self.end()
    }

    /// Leaves the rule on the port until the port is stopped.
    pub fn leave(mut self) {
        // 0 stands for no rule.
        self.number = 0;
    }

    fn ended(&self) -> FlowError {
        FlowError::Ended { port: self.device.id(), name: self.device.name().to_owned() }
    }

    fn end(&self) -> Result<(), FlowError> {
        let mut error = sys::rte_flow_error::default();
        let _control = self.device.control()?;
        let flow = self.device.with_flows(|flows| flows.take(self.number)).ok_or_else(|| self.ended())?;
        // SAFETY: the port exists as long as its `Device`, and the control plane is locked. The rule was not destroyed:
        // it has just been removed from the list.
        let result = unsafe { sys::rte_flow_destroy(self.device.id().get(), flow.as_ptr(), &raw mut error) };
        refused(&self.device, "destroy", "rte_flow_destroy", result, &error)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        // A rule that has already ended needs no work, and a drop cannot return an error.
        let _ = self.end();
    }
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow").field("port", &self.port().get()).field("number", &self.number).finish()
    }
}
