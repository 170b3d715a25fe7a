// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why a rule was refused.

use crate::{Errno, PortError, PortId};
use core::{ffi::CStr, fmt};
use dpdk_sys as sys;

/// A call that failed on a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// DPDK, or the device, refused.
    #[error("port {port} ({name}): cannot {action} the rule: {cause}: {message} ({errno})")]
    Refused {
        /// The port.
        port: PortId,
        /// Its name.
        name: String,
        /// What was tried, such as `create`.
        action: &'static str,
        /// The call of DPDK, such as `rte_flow_create`.
        call: &'static str,
        /// What of the rule is to blame.
        cause: FlowErrorCause,
        /// The driver's words.
        message: String,
        /// DPDK's error; `ENOSYS` if the driver knows no rules.
        errno: Errno,
    },
    /// The rule names what the port does not have, or a value that no header has; or this process is a fork.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The rule does nothing with a frame.
    #[error("port {port} ({name}): a rule needs an action")]
    NoAction {
        /// The port.
        port: PortId,
        /// Its name.
        name: String,
    },
    /// The port was stopped, which has destroyed its rules.
    #[error("port {port} ({name}): the rule ended when the port was stopped")]
    Ended {
        /// The port.
        port: PortId,
        /// Its name.
        name: String,
    },
}

impl FlowError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Refused { errno, .. } => Some(*errno),
            Self::Port(error) => error.errno(),
            _ => None,
        }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Refused { call, .. } => Some(*call),
            Self::Port(error) => error.call(),
            _ => None,
        }
    }
}

/// What of a rule a driver blames.
#[doc(alias = "rte_flow_error_type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlowErrorCause {
    /// It does not say.
    Unspecified,
    /// The rule as it is in the device.
    Rule,
    /// The group.
    Group,
    /// The priority.
    Priority,
    /// That the rule is for received frames.
    Ingress,
    /// How many headers the pattern has.
    PatternLength,
    /// A value to be compared.
    ItemValue,
    /// The bits that are to be compared.
    ItemMask,
    /// A header.
    Item,
    /// How many actions there are.
    ActionCount,
    /// What an action is told.
    ActionValue,
    /// An action.
    Action,
    /// The state that the device is in.
    State,
}

impl FlowErrorCause {
    pub(super) const fn new(kind: sys::rte_flow_error_type) -> Self {
        match kind {
            sys::RTE_FLOW_ERROR_TYPE_HANDLE => Self::Rule,
            sys::RTE_FLOW_ERROR_TYPE_ATTR_GROUP => Self::Group,
            sys::RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY => Self::Priority,
            sys::RTE_FLOW_ERROR_TYPE_ATTR_INGRESS => Self::Ingress,
            sys::RTE_FLOW_ERROR_TYPE_ITEM_NUM => Self::PatternLength,
            sys::RTE_FLOW_ERROR_TYPE_ITEM_SPEC => Self::ItemValue,
            sys::RTE_FLOW_ERROR_TYPE_ITEM_MASK => Self::ItemMask,
            sys::RTE_FLOW_ERROR_TYPE_ITEM => Self::Item,
            sys::RTE_FLOW_ERROR_TYPE_ACTION_NUM => Self::ActionCount,
            sys::RTE_FLOW_ERROR_TYPE_ACTION_CONF => Self::ActionValue,
            sys::RTE_FLOW_ERROR_TYPE_ACTION => Self::Action,
            sys::RTE_FLOW_ERROR_TYPE_STATE => Self::State,
            _ => Self::Unspecified,
        }
    }
}

impl fmt::Display for FlowErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "no reason given",
            Self::Rule => "the rule in the device",
            Self::Group => "the group",
            Self::Priority => "the priority",
            Self::Ingress => "a rule for received frames",
            Self::PatternLength => "the number of headers",
            Self::ItemValue => "a header's value",
            Self::ItemMask => "a header's mask",
            Self::Item => "a header",
            Self::ActionCount => "the number of actions",
            Self::ActionValue => "an action's value",
            Self::Action => "an action",
            Self::State => "the state of the device",
        })
    }
}

/// The driver's words.
///
/// # Safety
/// `error` was filled by a call of DPDK on a port that still is what it was then, or is zero.
pub(super) unsafe fn message(error: &sys::rte_flow_error) -> String {
    if error.message.is_null() {
        return "the driver says no more".to_owned();
    }
    // SAFETY: a message that is not null is a string of the driver's, constant as long as its port stays configured.
    unsafe { CStr::from_ptr(error.message) }.to_string_lossy().into_owned()
}
