// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several stacks with the same addresses, one for each queue of a port, from which threads take theirs.

use crate::config::Config;
use crate::error::Error;
use crate::handles::{Group, Stack};
use crate::pointers::{input, output};
use crate::queues::{Queues, mac_of, steering};
use crate::stack::frame_len;
use crate::stacks::{Polled, guarded, insert};
use core::ffi::c_int;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use dpdk_sockets::group::Steering;
use dpdk_sys::rte_mempool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The stacks of a group that were not taken, by their queues.
struct Waiting {
    id: u64,
    stacks: Vec<Option<dpdk_sockets::Stack<Queues>>>,
}

static GROUPS: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

/// Each change of the list is one call, so a panic leaves it whole.
fn groups() -> MutexGuard<'static, Vec<Waiting>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Make a group: a stack with the same addresses for each of the queues 0 to nb_queues - 1 of a port, so that several lcores serve
/// them. Each lcore takes its stack by dpdk_sockets_take(), and polls it: segments that come to the wrong queue, and what hosts
/// say of their MAC addresses, are passed on between the stacks.
///
/// If the device distributes segments by their addresses and ports (RSS), start the port before: the stacks then know which of
/// them has which connection. Else they compute that. Neither dhcp nor slaac can be set. The rest is as with dpdk_sockets_new().
///
/// Returns 0 and writes *group, or the errors of dpdk_sockets_new(), or DPDK_SOCKETS_ERROR_AUTOMATIC_GROUP.
///
/// # Safety
/// As of dpdk_sockets_new(), for all of these queues, until all stacks are freed. The pool is for several producers and consumers,
/// as rte_pktmbuf_pool_create() makes it.
pub unsafe extern "C" fn dpdk_sockets_new_group(
    port_id: u16,
    nb_queues: u16,
    pool: *mut rte_mempool,
    config: *const Config,
    group: *mut Group,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller promises a config.
        let config = unsafe { input(config) }?;
        // SAFETY: the caller promises room for a handle.
        let made = unsafe { output(group) }?;
        let pool = NonNull::new(pool).ok_or(Error::NullPointer)?;
        let config = config.complete(mac_of(port_id)?)?;
        if nb_queues == 0 {
            return Err(Error::NoSuchQueue);
        }
        let queues = |queue| {
            // SAFETY: the caller promises a pool of packet mbufs and these queues, until the stacks are freed.
            unsafe { Queues::new(port_id, queue, pool, frame_len(&config)) }
        };
        let wires = (0..nb_queues).map(queues).collect::<Result<Vec<_>, _>>()?;
        let device = steering(port_id).filter(|steering| steering.stacks() == usize::from(nb_queues));
        let steering = device.unwrap_or_else(|| Steering::computed(nb_queues));
        let stacks = dpdk_sockets::Stack::group(wires, &config, steering)?.into_iter().map(Some).collect();
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Relaxed);
        groups().push(Waiting { id, stacks });
        made.write(Group { id });
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Take the stack of a queue out of a group. From now on it is like one of dpdk_sockets_new() that this thread has made.
///
/// Returns 0 and writes *stack, or DPDK_SOCKETS_ERROR_NULL_POINTER or _NO_SUCH_GROUP.
///
/// # Safety
/// stack is NULL or points to room for a handle.
pub unsafe extern "C" fn dpdk_sockets_take(group: Group, queue_id: u16, stack: *mut Stack) -> c_int {
    guarded(|| {
        // SAFETY: the caller promises room for a handle.
        let taken = unsafe { output(stack) }?;
        let mut groups = groups();
        let waiting = groups.iter_mut().find(|waiting| waiting.id == group.id).ok_or(Error::NoSuchGroup)?;
        let stack = waiting.stacks.get_mut(usize::from(queue_id)).and_then(Option::take).ok_or(Error::NoSuchGroup)?;
        groups.retain(|waiting| waiting.stacks.iter().any(Option::is_some));
        drop(groups);
        taken.write(insert(Polled::new(stack))?);
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Free those stacks of a group that nobody has taken; the others stay. After the last one was taken, there is nothing to free.
///
/// Returns 0 or DPDK_SOCKETS_ERROR_NO_SUCH_GROUP.
pub extern "C" fn dpdk_sockets_free_group(group: Group) -> c_int {
    guarded(|| {
        let mut groups = groups();
        let place = groups.iter().position(|waiting| waiting.id == group.id).ok_or(Error::NoSuchGroup)?;
        let waiting = groups.swap_remove(place);
        drop(groups);
        drop(waiting);
        Ok(0)
    })
}
