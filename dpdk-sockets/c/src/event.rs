// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a poll tells C.

use crate::error::Error;
use crate::handles::{Connection, Listener, UdpSocket};
use crate::stacks::Polled;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use dpdk_sockets::Ended;

/// A bit of dpdk_sockets_event.events: a peer has connected to a listener.
pub const DPDK_SOCKETS_EVENT_ACCEPTED: u32 = 1;
/// A bit of dpdk_sockets_event.events: the connection that dpdk_sockets_connect() began is established.
pub const DPDK_SOCKETS_EVENT_CONNECTED: u32 = 2;
/// A bit of dpdk_sockets_event.events: bytes have arrived, or the peer has closed its direction. It comes once for all that has
/// arrived: call dpdk_sockets_recv() until it returns 0 or an error.
pub const DPDK_SOCKETS_EVENT_READABLE: u32 = 4;
/// A bit of dpdk_sockets_event.events: there is space again, after dpdk_sockets_send() did not take all bytes, or
/// dpdk_sockets_space() was 0.
pub const DPDK_SOCKETS_EVENT_WRITABLE: u32 = 8;
/// A bit of dpdk_sockets_event.events: the connection has ended, as dpdk_sockets_event.error says. What has arrived before can still
/// be read. Then call dpdk_sockets_close().
pub const DPDK_SOCKETS_EVENT_ENDED: u32 = 16;
/// A bit of dpdk_sockets_event.events: datagrams have arrived. It comes once for all of them: call dpdk_sockets_recv_from() until it
/// returns an error.
pub const DPDK_SOCKETS_EVENT_DATAGRAM: u32 = 32;
/// A bit of dpdk_sockets_event.events: the network has given the stack other addresses, or has taken some away: see
/// dpdk_sockets_own_address().
pub const DPDK_SOCKETS_EVENT_ADDRESSES: u32 = 64;

/// What has happened to one socket. A connection is in the array of one poll once at most.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// One or more of DPDK_SOCKETS_EVENT_ACCEPTED and the others.
    pub events: u32,
    /// With DPDK_SOCKETS_EVENT_ENDED: 0 if both sides have closed, otherwise how the connection has ended:
    /// DPDK_SOCKETS_ERROR_REFUSED, _UNREACHABLE, _TIMED_OUT or _RESET.
    pub error: c_int,
    /// The connection, except with DPDK_SOCKETS_EVENT_DATAGRAM and DPDK_SOCKETS_EVENT_ADDRESSES.
    pub connection: Connection,
    /// With DPDK_SOCKETS_EVENT_ACCEPTED: who has accepted it.
    pub listener: Listener,
    /// With DPDK_SOCKETS_EVENT_DATAGRAM: the socket.
    pub socket: UdpSocket,
    /// The user pointer of the connection.
    pub user: *mut c_void,
}

const NOTHING: Event = Event {
    events: 0,
    error: 0,
    connection: Connection { id: 0 },
    listener: Listener { id: 0 },
    socket: UdpSocket { id: 0 },
    user: ptr::null_mut(),
};

/// Fills `events` from the front, and returns how many. The news of a connection, which the stack reports one after another, are
/// one event.
pub(crate) fn collect(polled: &mut Polled, events: &mut [MaybeUninit<Event>]) -> usize {
    let most = events.len();
    let mut places = events.iter_mut();
    let mut last: Option<&mut Event> = None;
    let mut filled = 0;
    while filled < most
        && let Some(news) = polled.stack.next_event()
    {
        // What a connection had to say when it was closed concerns nobody.
        let Some(event) = translated(news, polled) else { continue };
        match &mut last {
            Some(last) if event.connection.id != 0 && last.connection == event.connection => {
                last.events |= event.events;
                last.error = event.error;
            }
            _ => {
                last = places.next().map(|place| place.write(event));
                filled += 1;
            }
        }
    }
    filled
}

fn translated(news: dpdk_sockets::Event, polled: &mut Polled) -> Option<Event> {
    use dpdk_sockets::Event as News;
    let (id, event) = match news {
        News::Accepted(listener, id) => {
            polled.users.insert(id, ptr::null_mut());
            (id, Event { events: DPDK_SOCKETS_EVENT_ACCEPTED, listener: listener.into(), ..NOTHING })
        }
        News::Connected(id) => (id, Event { events: DPDK_SOCKETS_EVENT_CONNECTED, ..NOTHING }),
        News::Readable(id) => (id, Event { events: DPDK_SOCKETS_EVENT_READABLE, ..NOTHING }),
        News::Writable(id) => (id, Event { events: DPDK_SOCKETS_EVENT_WRITABLE, ..NOTHING }),
        News::Ended(id, how) => {
            let error = if how == Ended::Closed { 0 } else { Error::from(how) as c_int };
            (id, Event { events: DPDK_SOCKETS_EVENT_ENDED, error, ..NOTHING })
        }
        News::Datagram(socket) => {
            return Some(Event { events: DPDK_SOCKETS_EVENT_DATAGRAM, socket: socket.into(), ..NOTHING });
        }
        News::Addresses => return Some(Event { events: DPDK_SOCKETS_EVENT_ADDRESSES, ..NOTHING }),
        _ => return None,
    };
    polled.users.get(id).map(|user| Event { connection: id.into(), user: *user, ..event })
}
