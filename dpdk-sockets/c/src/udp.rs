// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! UDP.

use crate::error::Error;
use crate::handles::{Address, Stack, UdpSocket};
use crate::pointers::{bytes, input, output, room};
use crate::stacks::with;
use core::ffi::{c_int, c_void};

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Receive the datagrams for a UDP port. DPDK_SOCKETS_EVENT_DATAGRAM reports them. At most 64 wait for the program.
///
/// Returns 0 and writes *socket, or DPDK_SOCKETS_ERROR_NULL_POINTER, _PORT_ZERO, _IN_USE, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// socket is NULL or points to room for a handle.
pub unsafe extern "C" fn dpdk_sockets_bind_udp(stack: Stack, port: u16, socket: *mut UdpSocket) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises room for a handle.
        let made = unsafe { output(socket) }?;
        made.write(polled.stack.bind_udp(port)?.into());
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Receive no more datagrams for a port. Those that wait are lost. A socket that was closed before is no error.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_STACK or _INTERNAL.
pub extern "C" fn dpdk_sockets_close_udp(stack: Stack, socket: UdpSocket) -> c_int {
    with(stack, |polled| {
        polled.stack.close_udp(socket.into());
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Copy the oldest datagram into buf, len bytes at most, and write who has sent it. What does not fit is lost.
///
/// Returns the datagram's length in bytes, which may be more than len, or DPDK_SOCKETS_ERROR_AGAIN if none waits, _NULL_POINTER,
/// _NO_SUCH_SOCKET, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// buf is NULL or points to room for len bytes, from is NULL or points to room for an address.
pub unsafe extern "C" fn dpdk_sockets_recv_from(
    stack: Stack,
    socket: UdpSocket,
    buf: *mut c_void,
    len: usize,
    from: *mut Address,
) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises room for so many bytes.
        let room = unsafe { room(buf, len) }?;
        // SAFETY: the caller promises room for an address.
        let from = unsafe { output(from) }?;
        let (len, address) = polled.stack.recv_from(socket.into(), room)?.ok_or(Error::Again)?;
        from.write(address.into());
        Ok(len as c_int)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Send a datagram, with the next dpdk_sockets_poll() at the latest.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_AGAIN if there is no room before the next dpdk_sockets_poll(), _NULL_POINTER, _TOO_LONG,
/// _NO_PEER, _NO_ROUTE, _NO_SUCH_SOCKET, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// buf is NULL or points to len bytes, to is NULL or points to an address.
pub unsafe extern "C" fn dpdk_sockets_send_to(
    stack: Stack,
    socket: UdpSocket,
    buf: *const c_void,
    len: usize,
    to: *const Address,
) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises so many bytes.
        let bytes = unsafe { bytes(buf, len) }?;
        // SAFETY: the caller promises an address.
        let to = unsafe { input(to) }?;
        if polled.stack.send_to(socket.into(), bytes, to.into())? { Ok(0) } else { Err(Error::Again) }
    })
}
