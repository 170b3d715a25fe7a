// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The socket of one connection, and its buffers.

use crate::config::CongestionControl;
use crate::watch::TcpState;
use core::ptr::from_ref;
use dpdk_rs::prefetch;
use smoltcp::iface::{SocketHandle, SocketSet, SocketStorage};
/// The states of a connection (RFC 9293, section 3.3.2).
pub(crate) use smoltcp::socket::tcp::State;
use smoltcp::socket::tcp::{self, Socket as Tcp, SocketBuffer};
use smoltcp::time::Duration;

/// So much of what arrives is expected to be short.
const SOME_BYTES: usize = 128;

impl From<State> for TcpState {
    fn from(state: State) -> Self {
        match state {
            State::Closed => Self::Closed,
            State::Listen => Self::Listen,
            State::SynSent => Self::SynSent,
            State::SynReceived => Self::SynReceived,
            State::Established => Self::Established,
            State::FinWait1 => Self::FinWait1,
            State::FinWait2 => Self::FinWait2,
            State::CloseWait => Self::CloseWait,
            State::Closing => Self::Closing,
            State::LastAck => Self::LastAck,
            State::TimeWait => Self::TimeWait,
        }
    }
}

/// The bytes of each buffer of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    pub(crate) receive: usize,
    pub(crate) send: usize,
}

/// A set of one socket.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) set: SocketSet<'static>,
    handle: SocketHandle,
    /// The addresses of the socket, and of the buffer for what is sent, which are known without reading the set.
    place: usize,
    send_place: usize,
}

impl Socket {
    /// A silent peer is asked for a sign after `keep_alive`.
    pub(super) fn new(buffers: Buffers, keep_alive: Option<Duration>, congestion: Option<CongestionControl>) -> Self {
        let (receive, send) = (vec![0; buffers.receive], vec![0; buffers.send]);
        let send_place = send.as_ptr().addr();
        let mut tcp = Tcp::new(SocketBuffer::new(receive), SocketBuffer::new(send));
        // Segments are sent when the stack is polled next, with all that the program has written until then.
        tcp.set_nagle_enabled(false);
        tcp.set_ack_delay(None);
        tcp.set_keep_alive(keep_alive);
        tcp.set_congestion_control(match congestion {
            None => tcp::CongestionControl::None,
            Some(CongestionControl::Reno) => tcp::CongestionControl::Reno,
            Some(CongestionControl::Cubic) => tcp::CongestionControl::Cubic,
        });
        let mut set = SocketSet::new(vec![SocketStorage::EMPTY]);
        let handle = set.add(tcp);
        let place = from_ref::<Tcp<'_>>(set.get(handle)).addr();
        Self { set, handle, place, send_place }
    }

    fn tcp(&self) -> &Tcp<'static> {
        self.set.get(self.handle)
    }

    pub(super) fn tcp_mut(&mut self) -> &mut Tcp<'static> {
        self.set.get_mut(self.handle)
    }

    /// Begins to bring the socket into the cache.
    pub(crate) fn fetch(&self) {
        prefetch(self.place, size_of::<Tcp<'_>>());
        // If everything sent before is acknowledged, the next bytes go where the buffer begins.
        prefetch(self.send_place, SOME_BYTES);
    }

    /// Begins to bring the place in the buffer for what arrives next into the cache.
    pub(crate) fn fetch_room(&mut self) {
        if let Ok(unread) = self.tcp_mut().peek(1) {
            prefetch(unread.as_ptr().addr(), SOME_BYTES);
        }
    }

    pub(crate) fn state(&self) -> State {
        self.tcp().state()
    }

    /// Whether there is nothing left to send, a reset included.
    pub(crate) fn is_over(&self) -> bool {
        self.tcp().remote_endpoint().is_none()
    }

    /// Bytes that were received and not read.
    pub(crate) fn unread(&self) -> usize {
        self.tcp().recv_queue()
    }

    /// How large the buffers are.
    pub(crate) fn buffers(&self) -> Buffers {
        Buffers { receive: self.tcp().recv_capacity(), send: self.tcp().send_capacity() }
    }

    /// The bytes of the receive buffer, and how many of them are free.
    pub(crate) fn window(&self) -> (usize, usize) {
        let capacity = self.tcp().recv_capacity();
        (capacity, capacity - self.unread())
    }

    /// Bytes that were written and not acknowledged.
    pub(crate) fn unacknowledged(&self) -> usize {
        self.tcp().send_queue()
    }

    /// Bytes that can be written.
    pub(crate) fn space(&self) -> usize {
        self.tcp().send_capacity() - self.tcp().send_queue()
    }

    /// Whether the peer has sent its FIN, and everything before it has arrived.
    pub(crate) fn is_at_end(&self) -> bool {
        matches!(self.state(), State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
    }

    /// Copies received bytes, and returns how many.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> usize {
        self.tcp_mut().recv_slice(bytes).unwrap_or(0)
    }

    /// Shows received bytes, which lie together, to `take`, which says how many it took.
    pub(crate) fn read_with(&mut self, take: impl FnOnce(&[u8]) -> usize) -> usize {
        let show = |bytes: &mut [u8]| {
            let taken = take(bytes).min(bytes.len());
            (taken, taken)
        };
        self.tcp_mut().recv(show).unwrap_or(0)
    }

    /// Copies bytes to send, and returns how many.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        self.tcp_mut().send_slice(bytes).unwrap_or(0)
    }

    /// Sends a FIN after what was written.
    pub(crate) fn close(&mut self) {
        self.tcp_mut().close();
    }

    /// Sends a reset.
    pub(crate) fn abort(&mut self) {
        self.tcp_mut().abort();
    }
}
