// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of flow rules.

use crate::{Errno, PortError, PortId};
use core::{ffi::CStr, fmt};
use dpdk_sys as sys;

/// A call on a flow rule that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// DPDK, or the device, refused.
    #[error("port {port} ({name}): cannot {action} the rule: {cause}: {message} ({errno})")]
    Refused {
        /// The port.
        port: PortId,
        /// The port's name.
        name: String,
        /// The action that failed, such as `create`.
        action: &'static str,
        /// The DPDK function, such as `rte_flow_create`.
        call: &'static str,
        /// The part of the rule that caused the error.
        cause: FlowErrorCause,
        /// The driver's message.
        message: String,
        /// DPDK's error; `ENOSYS` if the driver does not support rules.
        errno: Errno,
    },
    /// The rule names something that the port does not have, or contains an impossible value, or this process is a
    /// fork.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The rule has no action.
    #[error("port {port} ({name}): a rule needs an action")]
    NoAction {
        /// The port.
        port: PortId,
        /// The port's name.
        name: String,
    },
    /// The port was stopped, which destroyed its rules.
    #[error("port {port} ({name}): the rule ended when the port was stopped")]
    Ended {
        /// The port.
        port: PortId,
        /// The port's name.
        name: String,
    },
}

impl FlowError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Refused { errno, .. } => Some(*errno),
            Self::Port(error) => error.errno(),
            _ => None,
        }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Refused { call, .. } => Some(*call),
            Self::Port(error) => error.call(),
            _ => None,
        }
    }
}

/// The part of a rule that caused an error, according to the driver.
#[doc(alias = "rte_flow_error_type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlowErrorCause {
    /// The driver does not report it.
    Unspecified,
    /// The rule in the device.
    Rule,
    /// The group.
    Group,
    /// The priority.
    Priority,
    /// The direction: received frames.
    Ingress,
    /// The number of headers in the pattern.
    PatternLength,
    /// The value of a header.
    ItemValue,
    /// The mask of a header.
    ItemMask,
    /// A header.
    Item,
    /// The number of actions.
    ActionCount,
    /// The configuration of an action.
    ActionValue,
    /// An action.
    Action,
    /// The present state of the device.
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

/// The driver's message.
///
/// # Safety
/// A DPDK call has filled `error`, on a port whose configuration has not changed since; or `error` is zero.
pub(super) unsafe fn message(error: &sys::rte_flow_error) -> String {
    if error.message.is_null() {
        return "the driver gives no details".to_owned();
    }
    // SAFETY: a message that is not null is a string of the driver's, constant as long as its port stays configured.
    unsafe { CStr::from_ptr(error.message) }.to_string_lossy().into_owned()
}
