// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A stack, from the beginning to the end.

use crate::config::Config;
use crate::error::Error;
use crate::event::{Event, collect};
use crate::handles::{Address, Stack};
use crate::pointers::{input, output, outputs, text};
use crate::queues::{Queues, mac_of};
use crate::stacks::{Polled, guarded, insert, remove, with};
use core::ffi::{c_char, c_int};
use core::net::SocketAddr;
use core::ptr::NonNull;
use dpdk_sys::rte_mempool;

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Make a stack for the RX queue and the TX queue with one number of a port. The thread that makes it is the one that uses it.
///
/// The EAL and the port are the program's: it starts the port before dpdk_sockets_poll(), and stops it after
/// dpdk_sockets_free(). The MAC address is the port's. Frames to send are allocated from pool, which may be the one of the RX queue.
///
/// What the port is configured for, the device does: it verifies checksums, writes those of IPv4 (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM),
/// TCP and UDP (_TCP_CKSUM and _UDP_CKSUM, both), and with these cuts long segments in IPv4 packets (_TCP_TSO), which are as long
/// as an mbuf of the pool has room for.
///
/// Returns 0 and writes *stack, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_DEVICE, _NO_SUCH_QUEUE, _SMALL_POOL, _ADDRESS,
/// _PREFIX_LENGTH, _GATEWAY, _MTU or _BUFFER.
///
/// # Safety
/// pool is NULL or a pool of packet mbufs (rte_pktmbuf_pool_create); config and stack are NULL or point to such structs. Until
/// dpdk_sockets_free() the pool is not freed, the port is neither closed nor configured anew, and nobody else uses the two queues.
pub unsafe extern "C" fn dpdk_sockets_new(
    port_id: u16,
    queue_id: u16,
    pool: *mut rte_mempool,
    config: *const Config,
    stack: *mut Stack,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller promises a config.
        let config = unsafe { input(config) }?;
        // SAFETY: the caller promises room for a handle.
        let made = unsafe { output(stack) }?;
        let pool = NonNull::new(pool).ok_or(Error::NullPointer)?;
        let config = config.complete(mac_of(port_id)?)?;
        // SAFETY: the caller promises a pool of packet mbufs and two queues, until the stack is freed.
        let queues = unsafe { Queues::new(port_id, queue_id, pool, frame_len(&config)) }?;
        let stack = dpdk_sockets::Stack::new(queues, config)?;
        made.write(insert(Polled::new(stack))?);
        Ok(0)
    })
}

/// The length of the longest frame that a stack makes itself.
pub(crate) fn frame_len(config: &dpdk_sockets::Config) -> usize {
    config.mtu + if config.vlan.is_some() { 18 } else { 14 }
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Free a stack, its sockets and its mbufs, without a word to the peers.
///
/// Returns 0 or DPDK_SOCKETS_ERROR_NO_SUCH_STACK.
pub extern "C" fn dpdk_sockets_free(stack: Stack) -> c_int {
    guarded(|| remove(stack).map(drop).map(|()| 0))
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Send what there is to send, handle the frames that have arrived, 32 at most, and report what has happened to the sockets. It
/// never waits: call it all the time. What does not fit into events is reported by the next call.
///
/// Returns how many events it has written, 0 to max_events, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_EVENTS if max_events is less
/// than 1, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// events is NULL or points to room for max_events of struct dpdk_sockets_event.
pub unsafe extern "C" fn dpdk_sockets_poll(stack: Stack, events: *mut Event, max_events: c_int) -> c_int {
    with(stack, |polled| {
        let most = usize::try_from(max_events).ok().filter(|most| *most > 0).ok_or(Error::NoEvents)?;
        // SAFETY: the caller promises room for so many events.
        let events = unsafe { outputs(events, most) }?;
        polled.stack.poll();
        Ok(collect(polled, events) as c_int)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Write what a stack has counted since it was made, by the name of the counter, such as "retransmits" or "overflows";
/// "connections" and "time_waits" are how many there are now. struct Counters of the Rust crate describes them all.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_COUNTER, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// name is NULL or points to a string; value is NULL or points to room for a number.
pub unsafe extern "C" fn dpdk_sockets_counter(stack: Stack, name: *const c_char, value: *mut u64) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises a string.
        let name = unsafe { text(name) }?;
        // SAFETY: the caller promises room for a number.
        let value = unsafe { output(value) }?;
        let stack = &polled.stack;
        let now = [("connections", stack.connections() as u64), ("time_waits", stack.time_waits() as u64)];
        let counters = stack.counters();
        let found = counters.iter().chain(now).find(|(other, _)| other.as_bytes() == name);
        value.write(found.ok_or(Error::NoSuchCounter)?.1);
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Write an address of a stack, by its number from 0, with port 0: first those of its configuration, a link-local one of IPv6 among
/// them, then those that the network has given.
///
/// Returns 1, or 0 if there are fewer, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// address is NULL or points to room for an address.
pub unsafe extern "C" fn dpdk_sockets_own_address(stack: Stack, number: usize, address: *mut Address) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises room for an address.
        let room = unsafe { output(address) }?;
        let Some(net) = polled.stack.addresses().get(number) else { return Ok(0) };
        room.write(SocketAddr::from((net.addr(), 0)).into());
        Ok(1)
    })
}
