// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rules for received frames. No device here takes one; what is wrong with a rule itself is said before the device is asked.

use crate::{
    model::lock,
    shelf::{Kind, Shelf, choose},
};
use dpdk_rs::{
    MacAddr, PortError,
    flow::{Action, Eth, FlowError, Ipv4, Ipv6, Rule, Tcp, Udp, Vlan},
    port::RssFields,
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;

/// The driver has no rules.
const ENOSYS: i32 = 38;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct RulePlan {
    #[proptest(strategy = "vec(any::<ItemPlan>(), 0..5)")]
    items: Vec<ItemPlan>,
    #[proptest(strategy = "vec(any::<ActionPlan>(), 0..3)")]
    actions: Vec<ActionPlan>,
    group: u32,
    priority: u32,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum ItemPlan {
    Eth {
        dst: [u8; 6],
        ether_type: Option<u16>,
    },
    Vlan {
        #[proptest(strategy = "prop_oneof![9 => 0_u16..4096, 1 => any::<u16>()]")]
        id: u16,
    },
    V4 {
        network: [u8; 4],
        #[proptest(strategy = "prop_oneof![9 => 0_u8..33, 1 => any::<u8>()]")]
        prefix: u8,
    },
    V6 {
        network: [u8; 16],
        #[proptest(strategy = "prop_oneof![9 => 0_u8..129, 1 => any::<u8>()]")]
        prefix: u8,
    },
    Tcp(u16),
    Udp(u16),
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum ActionPlan {
    Queue(#[proptest(strategy = "0_u16..4")] u16),
    Drop,
    Mark(u32),
    Count,
    #[proptest(weight = 2)]
    Rss(#[proptest(strategy = "prop_oneof![2 => vec(0_u16..2, 1..4), 1 => vec(0_u16..4, 0..4)]")] Vec<u16>),
    Jump(u32),
}

/// Who refuses a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    NoAction,
    /// A value that cannot be, or a queue that is not there.
    Rule,
    Device,
}

impl ItemPlan {
    fn add_to(self, rule: Rule) -> Rule {
        match self {
            Self::Eth { dst, ether_type } => {
                let eth = Eth::any().dst(MacAddr(dst));
                rule.item(match ether_type {
                    Some(kind) => eth.ether_type(kind),
                    None => eth,
                })
            }
            Self::Vlan { id } => rule.item(Vlan::any().id(id)),
            Self::V4 { network, prefix } => rule.item(Ipv4::any().src_net(network.into(), prefix).protocol(17)),
            Self::V6 { network, prefix } => rule.item(Ipv6::any().dst_net(network.into(), prefix)),
            Self::Tcp(port) => rule.item(Tcp::any().src_port(port)),
            Self::Udp(port) => rule.item(Udp::any().dst_port(port)),
        }
    }

    const fn is_possible(self) -> bool {
        match self {
            Self::Vlan { id } => id < 4096,
            Self::V4 { prefix, .. } => prefix <= 32,
            Self::V6 { prefix, .. } => prefix <= 128,
            Self::Eth { .. } | Self::Tcp(_) | Self::Udp(_) => true,
        }
    }
}

impl ActionPlan {
    fn action(&self) -> Action {
        match self {
            Self::Queue(queue) => Action::Queue(*queue),
            Self::Drop => Action::Drop,
            Self::Mark(number) => Action::Mark(*number),
            Self::Count => Action::Count,
            Self::Rss(queues) => Action::Rss { fields: RssFields::IP, queues: queues.clone() },
            Self::Jump(group) => Action::Jump(*group),
        }
    }

    /// Whether a port with so many RX queues can do it.
    fn is_possible(&self, rx_queues: u16) -> bool {
        match self {
            Self::Queue(queue) => *queue < rx_queues,
            Self::Rss(queues) => {
                let mut different = queues.clone();
                different.sort_unstable();
                different.dedup();
                !queues.is_empty() && different.len() == queues.len() && queues.iter().all(|queue| *queue < rx_queues)
            }
            Self::Drop | Self::Mark(_) | Self::Count | Self::Jump(_) => true,
        }
    }
}

impl<P: Kind> Shelf<P> {
    pub(crate) fn rule(&self, port: u8, plan: &RulePlan) -> Option<()> {
        let held = choose(&self.started, port)?;
        let rx_queues = lock(&held.token.setup).as_ref().expect("a started port is configured").rx;
        let rule = plan.items.iter().fold(Rule::new(), |rule, item| item.add_to(rule));
        let rule = plan.actions.iter().fold(rule, |rule, action| rule.action(action.action()));
        let rule = rule.group(plan.group).priority(plan.priority);
        let expected = if plan.actions.is_empty() {
            Refusal::NoAction
        } else if plan.items.iter().all(|item| item.is_possible())
            && plan.actions.iter().all(|action| action.is_possible(rx_queues))
        {
            Refusal::Device
        } else {
            Refusal::Rule
        };
        let validated = held.port.validate_flow(&rule).expect_err("the driver has no rules");
        let created = held.port.create_flow(&rule).expect_err("the driver has no rules");
        for error in [validated, created] {
            let refusal = match &error {
                FlowError::NoAction { .. } => Refusal::NoAction,
                FlowError::Port(PortError::Unsupported { .. }) => Refusal::Rule,
                FlowError::Refused { errno, .. } if errno.get() == ENOSYS => Refusal::Device,
                _ => panic!("{error}"),
            };
            assert_eq!(refusal, expected, "{error}");
        }
        Some(())
    }
}
