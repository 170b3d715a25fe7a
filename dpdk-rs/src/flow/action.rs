// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a rule does with matching frames.

use crate::{
    PortError,
    port::{Device, RssFields},
};
use core::{ffi::c_void, iter, marker::PhantomData, ptr};
use dpdk_sys as sys;

/// What a rule does with a matching frame.
#[doc(alias = "rte_flow_action")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Passes it to the RX queue with this number.
    #[doc(alias = "RTE_FLOW_ACTION_TYPE_QUEUE")]
    Queue(u16),
    /// Drops it.
    #[doc(alias = "RTE_FLOW_ACTION_TYPE_DROP")]
    Drop,
    /// Marks it with this number, which the program can read.
    #[doc(alias = "RTE_FLOW_ACTION_TYPE_MARK")]
    Mark(u32),
    /// Counts it; see [`Flow::count`](super::Flow::count).
    #[doc(alias = "RTE_FLOW_ACTION_TYPE_COUNT")]
    Count,
    /// Passes it to one of several RX queues, chosen by a hash.
    #[doc(alias = "RTE_FLOW_ACTION_TYPE_RSS")]
    Rss {
        /// The fields that the hash covers.
        fields: RssFields,
        /// The RX queues in the order of the hash's remainders, each at most once.
        queues: Vec<u16>,
    },
    /// Continues with the rules of another group.
    #[doc(alias = "RTE_FLOW_ACTION_TYPE_JUMP")]
    Jump(u32),
}

impl Action {
    /// Rejects queues that the port does not have, and lists of queues for which a driver may have no room.
    pub(super) fn check(&self, device: &Device) -> Result<(), PortError> {
        match self {
            Self::Queue(queue) => device.check_queues(&[*queue]),
            Self::Rss { queues, .. } if queues.is_empty() => {
                Err(device.unsupported("queues for an RSS action", 0, "1 or more".to_owned()))
            }
            Self::Rss { queues, .. } => {
                device.check_queues(queues)?;
                // `net_tap` copies the list to an array for the maximum number of queues of a port, and does not check
                // the list's length.
                let mut rest = queues.as_slice();
                while let [first, behind @ ..] = rest {
                    if behind.contains(first) {
                        let limits = "each RX queue once".to_owned();
                        return Err(device.unsupported("repeated queue of an RSS action", u32::from(*first), limits));
                    }
                    rest = behind;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The configuration of an action, in DPDK's form.
enum Conf {
    Queue(sys::rte_flow_action_queue),
    Mark(sys::rte_flow_action_mark),
    Count(sys::rte_flow_action_count),
    Rss(sys::rte_flow_action_rss),
    Jump(sys::rte_flow_action_jump),
    None,
}

/// A rule's actions in DPDK's form, which point into the rule.
pub(super) struct Actions<'a> {
    confs: Vec<(sys::rte_flow_action_type, Conf)>,
    rule: PhantomData<&'a [Action]>,
}

impl<'a> Actions<'a> {
    pub(super) fn new(actions: &'a [Action]) -> Self {
        let confs = actions.iter().map(|action| match action {
            Action::Queue(index) => {
                (sys::RTE_FLOW_ACTION_TYPE_QUEUE, Conf::Queue(sys::rte_flow_action_queue { index: *index }))
            }
            Action::Drop => (sys::RTE_FLOW_ACTION_TYPE_DROP, Conf::None),
            Action::Mark(id) => (sys::RTE_FLOW_ACTION_TYPE_MARK, Conf::Mark(sys::rte_flow_action_mark { id: *id })),
            Action::Count => (sys::RTE_FLOW_ACTION_TYPE_COUNT, Conf::Count(sys::rte_flow_action_count::default())),
            Action::Jump(group) => {
                (sys::RTE_FLOW_ACTION_TYPE_JUMP, Conf::Jump(sys::rte_flow_action_jump { group: *group }))
            }
            Action::Rss { fields, queues } => {
                let rss = sys::rte_flow_action_rss {
                    types: fields.bits(),
                    queue_num: u32::try_from(queues.len()).unwrap_or(u32::MAX),
                    queue: queues.as_ptr(),
                    ..Default::default()
                };
                (sys::RTE_FLOW_ACTION_TYPE_RSS, Conf::Rss(rss))
            }
        });
        Self { confs: confs.collect(), rule: PhantomData }
    }

    /// The array of actions, which points into this object.
    pub(super) fn raw(&self) -> Vec<sys::rte_flow_action> {
        let actions = self.confs.iter().map(|(kind, conf)| sys::rte_flow_action { type_: *kind, conf: conf.address() });
        // 0 is RTE_FLOW_ACTION_TYPE_END.
        actions.chain(iter::once(sys::rte_flow_action::default())).collect()
    }
}

impl Conf {
    fn address(&self) -> *const c_void {
        match self {
            Self::Queue(conf) => ptr::from_ref(conf).cast(),
            Self::Mark(conf) => ptr::from_ref(conf).cast(),
            Self::Count(conf) => ptr::from_ref(conf).cast(),
            Self::Rss(conf) => ptr::from_ref(conf).cast(),
            Self::Jump(conf) => ptr::from_ref(conf).cast(),
            Self::None => ptr::null(),
        }
    }
}
