// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Queues of a started port, stopped one by one.

use crate::{PortError, PortId, PrivateData, RxQueue, TxQueue, port::Direction};
use core::fmt;
use std::sync::Mutex;

/// An RX queue that receives nothing until it is started; from [`RxQueue::stop`] or
/// [`Port::start_stopped`](crate::Port::start_stopped).
pub struct StoppedRxQueue<P: PrivateData = ()>(RxQueue<P>);

/// A TX queue that sends nothing until it is started; from [`TxQueue::stop`] or
/// [`Port::start_stopped`](crate::Port::start_stopped).
pub struct StoppedTxQueue(TxQueue);

/// A queue that could not be started or stopped, returned unchanged.
#[derive(thiserror::Error)]
#[error("{error}")]
pub struct QueueRefused<Q> {
    /// The queue, in a mutex because errors must be `Sync`, as `anyhow` requires, and a queue is not.
    pub queue: Mutex<Q>,
    /// The reason.
    #[source]
    pub error: Box<PortError>,
}

impl<Q> fmt::Debug for QueueRefused<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueueRefused({:?})", self.error)
    }
}

/// The methods that start and stop the queues `$running` and `$stopped`.
macro_rules! switching {
    ($running:ident, $stopped:ident, $direction:ident, $words:literal, $stop:literal, $start:literal $(, <$p:ident>)?) => {
        impl$(<$p: PrivateData>)? $running$(<$p>)? {
            #[doc = concat!("Stops this ", $words, " queue alone; the port and its other queues go on.")]
            ///
            /// # Errors
            /// [`QueueRefused`], with the queue: [`PortError::Lacks`] if the device cannot stop single queues, or
            /// [`PortError::Refused`]. Of the virtual devices, `net_pcap`, `net_tap` and `net_failsafe` can.
            #[doc(alias = $stop)]
            pub fn stop(self) -> Result<$stopped$(<$p>)?, QueueRefused<Self>> {
                // SAFETY: this is the only handle of the queue, which nobody polls meanwhile.
                match unsafe { self.device().switch_queue(Direction::$direction, self.id(), false) } {
                    Ok(()) => Ok($stopped(self)),
                    Err(error) => Err(QueueRefused { queue: Mutex::new(self), error: Box::new(error) }),
                }
            }
        }

        impl$(<$p: PrivateData>)? $stopped$(<$p>)? {
            /// A queue that is stopped.
            pub(crate) const fn new(queue: $running$(<$p>)?) -> Self {
                Self(queue)
            }

            /// Starts the queue.
            ///
            /// # Errors
            /// [`QueueRefused`], with the queue and [`PortError::Refused`].
            #[doc(alias = $start)]
            pub fn start(self) -> Result<$running$(<$p>)?, QueueRefused<Self>> {
                // SAFETY: this is the only handle of the queue, which nobody polls meanwhile.
                match unsafe { self.0.device().switch_queue(Direction::$direction, self.0.id(), true) } {
                    Ok(()) => Ok(self.0),
                    Err(error) => Err(QueueRefused { queue: Mutex::new(self), error: Box::new(error) }),
                }
            }

            /// Gives up the queue until the port is stopped and started again: [`Port::stop`](crate::Port::stop) then
            /// takes only the other queues.
            pub fn give_back(self) {
                let device = self.0.shared_device();
                // Dropped before it is counted, since the port may be stopped right after that.
                drop(self);
                // SAFETY: this was the only handle of the queue.
                unsafe { device.take_back_queue(Direction::$direction) };
            }

            /// The port of the queue.
            #[must_use]
            pub const fn port(&self) -> PortId {
                self.0.port()
            }

            /// The number of the queue.
            #[must_use]
            pub const fn id(&self) -> u16 {
                self.0.id()
            }
        }

        impl$(<$p: PrivateData>)? fmt::Debug for $stopped$(<$p>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($stopped)).field(&self.0).finish()
            }
        }
    };
}

switching!(RxQueue, StoppedRxQueue, Rx, "RX", "rte_eth_dev_rx_queue_stop", "rte_eth_dev_rx_queue_start", <P>);
switching!(TxQueue, StoppedTxQueue, Tx, "TX", "rte_eth_dev_tx_queue_stop", "rte_eth_dev_tx_queue_start");
