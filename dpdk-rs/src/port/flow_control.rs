// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pause frames (IEEE 802.3, annex 31B): an overloaded receiver asks the other end to pause.

use super::{Device, Port, PortError, Started};
use crate::PrivateData;
use dpdk_sys as sys;

/// The flow control of a link.
#[doc(alias = "rte_eth_fc_conf")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowControl {
    /// Whether the device obeys received pause frames.
    pub rx_pause: bool,
    /// Whether the device sends pause frames.
    pub tx_pause: bool,
    /// The fill level of the receive buffer, in the device's unit, at which the device asks the other end to pause.
    pub high_water: u32,
    /// The fill level at which the other end may resume.
    pub low_water: u32,
    /// The requested duration of a pause, in units of 512 bit times.
    pub pause_time: u16,
    /// Whether the device also reports when the other end may resume earlier.
    pub send_xon: bool,
    /// Whether MAC control frames are received like other frames.
    pub forwards_mac_control: bool,
    /// Whether both ends negotiate flow control.
    pub autonegotiated: bool,
}

impl<P: PrivateData> Port<Started<P>> {
    /// The link's flow control.
    ///
    /// # Errors
    /// [`PortError::Refused`] with `ENOTSUP` if the device has no flow control.
    #[doc(alias = "rte_eth_dev_flow_ctrl_get")]
    pub fn flow_control(&self) -> Result<FlowControl, PortError> {
        self.device.flow_control()
    }

    /// Sets the link's flow control. Start from the result of [`Self::flow_control`].
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device has no flow control (`ENOTSUP`), or does not support these settings.
    #[doc(alias = "rte_eth_dev_flow_ctrl_set")]
    pub fn set_flow_control(&self, flow_control: &FlowControl) -> Result<(), PortError> {
        self.device.set_flow_control(flow_control)
    }
}

impl Device {
    fn flow_control(&self) -> Result<FlowControl, PortError> {
        let mut conf = sys::rte_eth_fc_conf::default();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call fills a
        // struct of ours.
        let result = unsafe { sys::rte_eth_dev_flow_ctrl_get(self.id().get(), &raw mut conf) };
        self.check("rte_eth_dev_flow_ctrl_get", result, "read the flow control")?;
        Ok(FlowControl {
            // The mode has one bit for each direction, as wrapper.h asserts.
            rx_pause: conf.mode & 1 != 0,
            tx_pause: conf.mode & 2 != 0,
            high_water: conf.high_water,
            low_water: conf.low_water,
            pause_time: conf.pause_time,
            send_xon: conf.send_xon != 0,
            forwards_mac_control: conf.mac_ctrl_frame_fwd != 0,
            autonegotiated: conf.autoneg != 0,
        })
    }

    fn set_flow_control(&self, flow_control: &FlowControl) -> Result<(), PortError> {
        let mut conf = sys::rte_eth_fc_conf {
            mode: u32::from(flow_control.rx_pause) | u32::from(flow_control.tx_pause) << 1,
            high_water: flow_control.high_water,
            low_water: flow_control.low_water,
            pause_time: flow_control.pause_time,
            send_xon: u16::from(flow_control.send_xon),
            mac_ctrl_frame_fwd: u8::from(flow_control.forwards_mac_control),
            autoneg: u8::from(flow_control.autonegotiated),
        };
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call reads a
        // struct of ours.
        let result = unsafe { sys::rte_eth_dev_flow_ctrl_set(self.id().get(), &raw mut conf) };
        self.check("rte_eth_dev_flow_ctrl_set", result, "set the flow control")
    }
}
