// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A wire of shared memory between two processes: `net_vhost` at this end, `net_virtio_user` at the other.

use crate::{
    forked::{Ended, Forked},
    frames::until,
    process::{eal_args, folder, init},
};
use dpdk_rs::{Eal, Mempool, Port, PortConfig, RxQueue, TxQueue, port::Started};
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
};

/// One end, with all that is made from its EAL.
pub(crate) struct End {
    // Dropped in this order.
    pub(crate) rx: RxQueue,
    pub(crate) tx: TxQueue,
    pub(crate) port: Port<Started>,
    pub(crate) pool: Mempool,
    pub(crate) eal: Eal,
    /// The other end: a byte for each step that both must have reached.
    steps: UnixStream,
}

/// What differs from one wire to another.
#[derive(Clone)]
pub(crate) struct Setup {
    /// Arguments of the virtio device, each with a comma before it.
    pub(crate) virtio_args: &'static str,
    pub(crate) config: PortConfig,
    /// Mbufs in the pool of each end, and the data room of each.
    pub(crate) pool: (u32, u16),
}

impl Default for Setup {
    fn default() -> Self {
        let config = PortConfig::default().rx_descriptors(256).tx_descriptors(256);
        Self { virtio_args: "", config, pool: (2047, 2176) }
    }
}

impl End {
    fn start(setup: &Setup, device: &str, steps: UnixStream) -> Self {
        let (eal, _) = init(eal_args(&[device])).unwrap();
        let pool = Mempool::builder("pool").size(setup.pool.0).cache(0).data_room(setup.pool.1).build(&eal).unwrap();
        let port = eal.ports().remove(0).configure(&setup.config, &pool).unwrap();
        let (port, mut rx, mut tx) = port.start().unwrap();
        Self { rx: rx.remove(0), tx: tx.remove(0), port, pool, eal, steps }
    }

    /// Waits until the other end has come to the same step.
    pub(crate) fn meet(&mut self) {
        meet(&mut self.steps);
    }

    /// Stops and closes the port.
    pub(crate) fn close(self) -> (Mempool, Eal) {
        self.port.stop(vec![self.rx], vec![self.tx]).unwrap().close();
        (self.pool, self.eal)
    }

    /// Goes on with another process at the other end.
    pub(crate) fn turn_to(&mut self, steps: UnixStream) {
        self.steps = steps;
        self.meet();
        self.wait_for_link();
        self.meet();
    }

    pub(crate) fn wait_for_link(&self) {
        until("the link is up", || self.port.link().unwrap().up);
    }
}

fn meet(steps: &mut UnixStream) {
    steps.write_all(b".").expect("the other end is there");
    steps.read_exact(&mut [0]).expect("the other end comes to this step too");
}

fn socket() -> PathBuf {
    folder().join("wire.sock")
}

/// The vhost end, once the other is there.
pub(crate) fn vhost_end(setup: &Setup, steps: UnixStream) -> End {
    let mut end = End::start(setup, &format!("net_vhost0,iface={}", socket().display()), steps);
    end.meet();
    end.wait_for_link();
    end.meet();
    end
}

/// The virtio end, once the other is there: the driver connects to the socket that the other has made.
pub(crate) fn virtio_end(setup: &Setup, mut steps: UnixStream) -> End {
    meet(&mut steps);
    let device = format!("net_virtio_user0,path={}{}", socket().display(), setup.virtio_args);
    let mut end = End::start(setup, &device, steps);
    end.wait_for_link();
    end.meet();
    end
}

/// Runs `vhost` here and `virtio` in a forked process, each with its end of a wire that is up. Returns how the other
/// process ended, unless `vhost` is done with it before.
pub(crate) fn over_wire(setup: &Setup, vhost: impl FnOnce(&mut End), virtio: impl FnOnce(&mut End)) -> Ended {
    let (here, there) = UnixStream::pair().unwrap();
    let other = Forked::start(|| {
        virtio(&mut virtio_end(setup, there));
        0
    });
    let mut end = vhost_end(setup, here);
    let here = panic::catch_unwind(AssertUnwindSafe(|| vhost(&mut end)));
    if let Err(panic) = here {
        // What happened over there may be the reason.
        other.kill();
        panic::resume_unwind(panic);
    }
    // DPDK's virtio driver does not survive in all cases that its peer leaves while it closes the device (guarantees.md).
    let ended = other.wait();
    drop(end);
    ended
}
