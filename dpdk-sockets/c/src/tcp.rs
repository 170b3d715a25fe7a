// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TCP: listeners and connections.

use crate::error::Error;
use crate::handles::{Address, Connection, Listener, Stack};
use crate::pointers::{bytes, input, output, room};
use crate::stacks::with;
use core::ffi::{c_int, c_void};
use dpdk_sockets::ConnectionId;

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Accept connections to a TCP port. They are reported by DPDK_SOCKETS_EVENT_ACCEPTED.
///
/// Returns 0 and writes *listener, or DPDK_SOCKETS_ERROR_NULL_POINTER, _PORT_ZERO, _IN_USE, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// listener is NULL or points to room for a handle.
pub unsafe extern "C" fn dpdk_sockets_listen(stack: Stack, port: u16, listener: *mut Listener) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises room for a handle.
        let made = unsafe { output(listener) }?;
        made.write(polled.stack.listen(port)?.into());
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Accept no more connections. Those that were accepted go on; those whose handshake is not complete are reset. A listener that was
/// closed before is no error.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_STACK or _INTERNAL.
pub extern "C" fn dpdk_sockets_close_listener(stack: Stack, listener: Listener) -> c_int {
    with(stack, |polled| {
        polled.stack.close_listener(listener.into());
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Begin to connect to a host. DPDK_SOCKETS_EVENT_CONNECTED follows, or DPDK_SOCKETS_EVENT_ENDED with the reason. All events of the
/// connection have the pointer user.
///
/// Returns 0 and writes *connection, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_PEER, _NO_ROUTE, _NO_PORT, _FULL, _NO_SUCH_STACK or
/// _INTERNAL.
///
/// # Safety
/// peer is NULL or points to an address, connection is NULL or points to room for a handle. user may be anything.
pub unsafe extern "C" fn dpdk_sockets_connect(
    stack: Stack,
    peer: *const Address,
    user: *mut c_void,
    connection: *mut Connection,
) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises an address.
        let peer = unsafe { input(peer) }?;
        // SAFETY: the caller promises room for a handle.
        let made = unsafe { output(connection) }?;
        let id = polled.stack.connect(peer.into())?;
        polled.users.insert(id, user);
        made.write(id.into());
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Change the pointer that all further events of a connection have. It is NULL for an accepted connection at first. The library
/// does not use what it points to.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
pub extern "C" fn dpdk_sockets_set_user(stack: Stack, connection: Connection, user: *mut c_void) -> c_int {
    with(stack, |polled| {
        *polled.users.get_mut(connection.into()).ok_or(Error::NoSuchConnection)? = user;
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Write the address of a connection's peer.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// peer is NULL or points to room for an address.
pub unsafe extern "C" fn dpdk_sockets_peer(stack: Stack, connection: Connection, peer: *mut Address) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises room for an address.
        let peer = unsafe { output(peer) }?;
        peer.write(polled.stack.peer(connection.into())?.into());
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Copy received bytes into buf, len at most.
///
/// Returns how many bytes; 0 if the peer has closed its direction and everything was read; or DPDK_SOCKETS_ERROR_AGAIN if there is
/// nothing to read now or len is 0, _NULL_POINTER, _NO_SUCH_CONNECTION, the reason for which the connection has ended (_REFUSED,
/// _UNREACHABLE, _TIMED_OUT or _RESET), _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// buf is NULL or points to room for len bytes.
pub unsafe extern "C" fn dpdk_sockets_recv(
    stack: Stack,
    connection: Connection,
    buf: *mut c_void,
    len: usize,
) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises room for so many bytes.
        let room = unsafe { room(buf, len) }?;
        polled.stack.recv(connection.into(), room)?.map(|len| len as c_int).ok_or(Error::Again)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Copy bytes to send into the connection's buffer. They leave with the next dpdk_sockets_poll().
///
/// Returns how many bytes it took. If these are less than len, DPDK_SOCKETS_EVENT_WRITABLE follows when there is space. Or returns
/// DPDK_SOCKETS_ERROR_NULL_POINTER, _NO_SUCH_CONNECTION, _NOT_ESTABLISHED, _SHUT_DOWN, the reason for which the connection has ended
/// (_CLOSED, _REFUSED, _UNREACHABLE, _TIMED_OUT or _RESET), _NO_SUCH_STACK or _INTERNAL.
///
/// # Safety
/// buf is NULL or points to len bytes.
pub unsafe extern "C" fn dpdk_sockets_send(
    stack: Stack,
    connection: Connection,
    buf: *const c_void,
    len: usize,
) -> c_int {
    with(stack, |polled| {
        // SAFETY: the caller promises so many bytes.
        let bytes = unsafe { bytes(buf, len) }?;
        Ok(polled.stack.send(connection.into(), bytes)? as c_int)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// How many bytes dpdk_sockets_send() takes now. If that is 0, DPDK_SOCKETS_EVENT_WRITABLE follows when there is space.
///
/// Returns the number of bytes, or an error as dpdk_sockets_send().
pub extern "C" fn dpdk_sockets_space(stack: Stack, connection: Connection) -> c_int {
    with(stack, |polled| Ok(polled.stack.space(connection.into())? as c_int))
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Close the direction to the peer, after all that was sent. The peer can go on.
///
/// Returns 0, or an error as dpdk_sockets_send().
pub extern "C" fn dpdk_sockets_shutdown(stack: Stack, connection: Connection) -> c_int {
    with(stack, |polled| {
        polled.stack.shutdown(connection.into())?;
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// Give a connection back. What was sent still reaches the peer; what was received and not read is lost, and the peer gets a
/// reset. The handle stands for nothing afterwards, and no event follows.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
pub extern "C" fn dpdk_sockets_close(stack: Stack, connection: Connection) -> c_int {
    with(stack, |polled| {
        let id = ConnectionId::from(connection);
        polled.stack.close(id)?;
        polled.users.remove(id);
        Ok(0)
    })
}

// SAFETY: nothing else has this name: the prefix is this library's.
#[unsafe(no_mangle)]
/// End a connection at once: the peer gets a reset, and what was sent may be lost. The handle stands for nothing afterwards, and no
/// event follows.
///
/// Returns 0, or DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION, _NO_SUCH_STACK or _INTERNAL.
pub extern "C" fn dpdk_sockets_abort(stack: Stack, connection: Connection) -> c_int {
    with(stack, |polled| {
        let id = ConnectionId::from(connection);
        polled.stack.abort(id)?;
        polled.users.remove(id);
        Ok(0)
    })
}
