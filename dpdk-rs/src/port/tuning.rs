// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Settings that only affect the speed of queues: thresholds of drivers, and registers of NICs.

use dpdk_sys as sys;

/// When a NIC reads and writes descriptors: three registers of a queue, in descriptors. Few NICs have all of them, and
/// their data sheets list the allowed values.
#[doc(alias = "rte_eth_thresh")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingRegisters {
    /// The NIC prefetches descriptors when it has fewer than this (`PTHRESH`).
    pub prefetch: u8,
    /// It does so only if at least this many are available (`HTHRESH`).
    pub host: u8,
    /// It writes descriptors back in groups of this size (`WTHRESH`).
    pub write_back: u8,
}

impl From<RingRegisters> for sys::rte_eth_thresh {
    fn from(registers: RingRegisters) -> Self {
        Self { pthresh: registers.prefetch, hthresh: registers.host, wthresh: registers.write_back }
    }
}

/// The settings of a queue that the program has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tuning {
    pub(super) rx_free: Option<u16>,
    pub(super) tx_free: Option<u16>,
    pub(super) tx_report: Option<u16>,
    pub(super) rx_registers: Option<RingRegisters>,
    pub(super) tx_registers: Option<RingRegisters>,
    pub(super) rx_drop: Option<bool>,
}

impl Tuning {
    /// Checks the thresholds against the numbers of descriptors: with thresholds that are too large, some drivers would
    /// never free or return descriptors. Returns the threshold's name, its value and the allowed range.
    pub(super) fn check(&self, rx: u16, tx: u16) -> Result<(), (&'static str, u16, String)> {
        let thresholds = [
            ("threshold of RX descriptors", self.rx_free, rx),
            ("threshold of TX descriptors", self.tx_free, tx),
            ("reporting threshold of TX descriptors", self.tx_report, tx),
        ];
        for (what, threshold, descriptors) in thresholds {
            if let Some(threshold) = threshold.filter(|threshold| *threshold >= descriptors) {
                return Err((what, threshold, format!("less than their number, {descriptors}")));
            }
        }
        Ok(())
    }

    pub(super) fn apply_rx(&self, rx: &mut sys::rte_eth_rxconf) {
        rx.rx_free_thresh = self.rx_free.unwrap_or(rx.rx_free_thresh);
        rx.rx_thresh = self.rx_registers.map_or(rx.rx_thresh, Into::into);
        rx.rx_drop_en = self.rx_drop.map_or(rx.rx_drop_en, u8::from);
    }

    pub(super) fn apply_tx(&self, tx: &mut sys::rte_eth_txconf) {
        tx.tx_free_thresh = self.tx_free.unwrap_or(tx.tx_free_thresh);
        tx.tx_rs_thresh = self.tx_report.unwrap_or(tx.tx_rs_thresh);
        tx.tx_thresh = self.tx_registers.map_or(tx.tx_thresh, Into::into);
    }
}

#[cfg(test)]
mod tests {
    use super::{RingRegisters, Tuning};
    use crate::PortConfig;
    use dpdk_sys as sys;

    #[test]
    fn what_is_not_given_stays_as_the_driver_likes_it() {
        let thresholds = sys::rte_eth_thresh { pthresh: 1, hthresh: 2, wthresh: 3 };
        let like = || {
            let rx =
                sys::rte_eth_rxconf { rx_free_thresh: 32, rx_drop_en: 1, rx_thresh: thresholds, ..Default::default() };
            let tx = sys::rte_eth_txconf {
                tx_free_thresh: 64,
                tx_rs_thresh: 16,
                tx_thresh: thresholds,
                ..Default::default()
            };
            (rx, tx)
        };
        let numbers = |tuning: &Tuning| {
            let (mut rx, mut tx) = like();
            tuning.apply_rx(&mut rx);
            tuning.apply_tx(&mut tx);
            let registers = |thresh: sys::rte_eth_thresh| [thresh.pthresh, thresh.hthresh, thresh.wthresh];
            let plain = [rx.rx_free_thresh, tx.tx_free_thresh, tx.tx_rs_thresh];
            (plain, rx.rx_drop_en, registers(rx.rx_thresh), registers(tx.tx_thresh))
        };
        assert_eq!(numbers(&Tuning::default()), ([32, 64, 16], 1, [1, 2, 3], [1, 2, 3]));
        let config = PortConfig::default().rx_free_threshold(0).tx_free_threshold(48).tx_report_threshold(24);
        let registers = |prefetch| RingRegisters { prefetch, host: 8, write_back: 9 };
        let config = config.rx_registers(registers(7)).tx_registers(registers(5)).rx_drop(false);
        assert_eq!(numbers(&config.tuning), ([0, 48, 24], 0, [7, 8, 9], [5, 8, 9]));
    }

    #[test]
    fn thresholds_are_less_than_descriptors() {
        let check = |config: PortConfig| config.tuning.check(256, 128).map_err(|(what, asked, _)| (what, asked));
        let config = PortConfig::default;
        assert_eq!(check(config().rx_free_threshold(255).tx_free_threshold(127).tx_report_threshold(127)), Ok(()));
        assert_eq!(check(config().rx_free_threshold(256)), Err(("threshold of RX descriptors", 256)));
        assert_eq!(check(config().tx_free_threshold(128)), Err(("threshold of TX descriptors", 128)));
        assert_eq!(check(config().tx_report_threshold(200)), Err(("reporting threshold of TX descriptors", 200)));
    }
}
