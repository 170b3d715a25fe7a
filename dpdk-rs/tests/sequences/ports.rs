// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is done with ports.

use crate::{
    context::Context,
    model::{Behaviour, Setup, lock},
    operation::{End, PortPlan, Queues, Returned},
    shelf::{Hands, Kind, PortHeld, RxHeld, Shelf, Thing, TxHeld, choose, pick},
};
use dpdk_rs::{PortConfig, PortError, RxQueue, TxQueue, port::StopError};
use std::sync::{Arc, atomic::Ordering};

impl Queues {
    fn number(self, most: u16) -> u16 {
        match self {
            // Some drivers have hundreds.
            Self::Most if most > 16 => 3,
            Self::Most => most,
            Self::Exactly(number) => number,
            Self::OneTooMany => most.saturating_add(1),
        }
    }
}

impl Hands {
    pub(crate) fn configure<P: Kind>(&mut self, plan: &PortPlan) -> Option<()> {
        let pool = pick(&P::shelf(self).pools, plan.pool)?;
        let place = pick(&self.ports, plan.port)?;
        let PortHeld { port, token } = self.ports.remove(place);
        let shelf = P::shelf(self);
        let pool = &shelf.pools[pool];
        let info = port.info().expect("the device says what it can do");
        let (rx, tx) = (plan.rx.number(info.max_rx_queues), plan.tx.number(info.max_tx_queues));
        let (room, descriptors) = (pool.token.record.data_room, plan.descriptors);
        // The driver would write frames over the ends of buffers that are too short.
        let harmless = match token.record.behaviour {
            Behaviour::Null { len, copy, .. } => len <= pool.token.record.fresh_room() && !copy,
            _ => true,
        };
        let supported = (rx, tx) != (0, 0)
            && rx <= info.max_rx_queues
            && tx <= info.max_tx_queues
            && info.rx_descriptors.allows(descriptors)
            && info.tx_descriptors.allows(descriptors)
            && room >= info.min_data_room as usize
            && harmless
            && plan.thresholds.is_none_or(|(rx, tx)| rx.max(tx) < descriptors)
            && plan.mtu.is_none_or(|mtu| (info.min_mtu..=info.max_mtu).contains(&mtu));
        let config = PortConfig::default().rx_queues(rx).tx_queues(tx).scatter(plan.scatter);
        let mut config = config.rx_descriptors(descriptors).tx_descriptors(descriptors);
        if let Some(mtu) = plan.mtu {
            config = config.mtu(mtu);
        }
        if let Some((rx, tx)) = plan.thresholds {
            config = config.rx_free_threshold(rx).tx_free_threshold(tx);
        }
        let setup = Setup { pool: pool.token.clone(), rx, tx, read: vec![0; usize::from(rx)], given_back: (0, 0) };
        match port.configure(&config, &pool.pool) {
            Ok(port) => {
                assert!(supported, "{config:?} of {info:?}");
                if matches!(token.record.behaviour, Behaviour::Null { .. }) {
                    // The driver makes a frame for each queue, and never frees it.
                    token.record.leaks.store(usize::from(rx + tx), Ordering::SeqCst);
                }
                token.configured(setup);
                shelf.configured.push(PortHeld { port, token });
            }
            Err(PortError::Unsupported { .. }) => assert!(!supported, "{config:?} of {info:?}"),
            Err(error) => {
                assert!(supported, "{config:?} of {info:?}");
                // The driver asks DPDK for 0 bytes, which it does not get.
                let empty = matches!(token.record.behaviour, Behaviour::Null { len: 0, .. });
                assert!(empty || plan.mtu.is_some(), "{error}");
                token.configured(setup);
            }
        }
        Some(())
    }

    /// Starts a port; its TX queues go to another shelf.
    pub(crate) fn start<P: Kind, Q: Kind>(&mut self, port: u8) -> Option<()> {
        let shelf = P::shelf(self);
        let place = pick(&shelf.configured, port)?;
        let PortHeld { port, token } = shelf.configured.remove(place);
        let (port, rx_queues, tx_queues) = port.start().expect("the device starts");
        assert_eq!((rx_queues.len(), tx_queues.len()), token.start());
        shelf.rx.extend(rx_queues.into_iter().map(|queue| RxHeld { queue, token: Arc::clone(&token) }));
        shelf.started.push(PortHeld { port, token: Arc::clone(&token) });
        Q::shelf(self).tx.extend(tx_queues.into_iter().map(|queue| TxHeld { queue, token: Arc::clone(&token) }));
        Some(())
    }

    /// Hands the queues in question back to a port. TX queues may lie on any shelf, but only those of its own are handed back.
    pub(crate) fn stop<P: Kind>(&mut self, port: u8, returned: Returned) -> Option<()> {
        let shelf = P::shelf(self);
        let place = pick(&shelf.started, port)?;
        let PortHeld { port, token } = shelf.started.remove(place);
        let (mut rx, mut tx) = shelf.queues_of(&token);
        match returned {
            Returned::All => (),
            Returned::OneMissing => {
                if let Some(missing) = rx.pop() {
                    shelf.rx.push(missing);
                } else {
                    shelf.tx.extend(tx.pop());
                }
            }
            Returned::OneForeign => {
                if let (Some(foreign), Some(own)) = (shelf.rx.pop(), rx.pop()) {
                    rx.push(foreign);
                    shelf.rx.push(own);
                } else if let (Some(foreign), Some(own)) = (shelf.tx.pop(), tx.pop()) {
                    tx.push(foreign);
                    shelf.tx.push(own);
                }
            }
            Returned::None => {
                shelf.rx.append(&mut rx);
                shelf.tx.append(&mut tx);
            }
        }
        let own = |other: &Arc<crate::model::DeviceToken>| Arc::ptr_eq(&token, other);
        let complete = (rx.len(), tx.len()) == token.queues_out()
            && rx.iter().all(|held| own(&held.token))
            && tx.iter().all(|held| own(&held.token));
        let (rx, rx_tokens): (Vec<RxQueue<P>>, Vec<_>) = rx.into_iter().map(|held| (held.queue, held.token)).unzip();
        let (tx, tx_tokens): (Vec<TxQueue>, Vec<_>) = tx.into_iter().map(|held| (held.queue, held.token)).unzip();
        match port.stop(rx, tx) {
            Ok(port) => {
                assert!(complete);
                if let Some(setup) = lock(&token.setup).as_mut() {
                    // Stopped, the driver closes its file.
                    setup.read.fill(0);
                }
                shelf.configured.push(PortHeld { port, token });
            }
            Err(StopError::Queues(all)) => {
                assert!(!complete);
                let (port, rx, tx) = all.into_inner().unwrap();
                assert_eq!((rx.len(), tx.len()), (rx_tokens.len(), tx_tokens.len()));
                shelf.rx.extend(rx.into_iter().zip(rx_tokens).map(|(queue, token)| RxHeld { queue, token }));
                shelf.tx.extend(tx.into_iter().zip(tx_tokens).map(|(queue, token)| TxHeld { queue, token }));
                shelf.started.push(PortHeld { port, token });
            }
            Err(error) => panic!("{error}"),
        }
        Some(())
    }

    pub(crate) fn end_unconfigured(&mut self, context: &Context, port: u8, end: End) -> Option<()> {
        let place = pick(&self.ports, port)?;
        end.apply(context, self.ports.remove(place));
        Some(())
    }
}

impl<P: Kind> Shelf<P> {
    /// Takes what queues of a port are here.
    fn queues_of(&mut self, token: &Arc<crate::model::DeviceToken>) -> (Vec<RxHeld<P>>, Vec<TxHeld>) {
        let rx = self.rx.extract_if(.., |held| Arc::ptr_eq(&held.token, token)).collect();
        let tx = self.tx.extract_if(.., |held| Arc::ptr_eq(&held.token, token)).collect();
        (rx, tx)
    }

    pub(crate) fn set_mtu(&mut self, port: u8, mtu: u16) -> Option<()> {
        let held = choose(&self.configured, port)?;
        // Some of the drivers can, and some cannot.
        let _ = held.port.set_mtu(mtu);
        Some(())
    }

    /// Asks a started port all that it can be asked.
    pub(crate) fn look(&mut self, context: &Context, port: u8) -> Option<()> {
        let held = choose(&self.started, port)?;
        let port = &held.port;
        assert_eq!(port.name(), held.token.record.name);
        assert!(port.link().expect("the device has a link").up, "{port:?}");
        let stats = port.stats().expect("the device counts");
        port.reset_stats().expect("the counters can be reset");
        let again = port.stats().expect("the device counts");
        // Others may be receiving meanwhile.
        assert!(again.ipackets <= stats.ipackets || !context.is_quiet());
        let promiscuous = port.is_promiscuous();
        if port.set_promiscuous(!promiscuous).is_ok() {
            assert_ne!(port.is_promiscuous(), promiscuous);
        }
        port.mac_addr().expect("the device has an address");
        port.mtu().expect("the device has an MTU");
        let _ = port.socket();
        Some(())
    }

    pub(crate) fn end_configured(&mut self, context: &Context, port: u8, end: End, close: bool) -> Option<()> {
        let place = pick(&self.configured, port)?;
        let held = self.configured.remove(place);
        if close {
            held.port.close();
        } else {
            end.apply(context, held);
        }
        Some(())
    }

    pub(crate) fn end_started(&mut self, context: &Context, port: u8, end: End) -> Option<()> {
        let place = pick(&self.started, port)?;
        let held = self.started.remove(place);
        held.verify(context);
        end.apply(context, held);
        Some(())
    }
}
