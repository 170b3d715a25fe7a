// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The stack of one lcore and queue pair.

mod addresses;
mod calls;
mod connections;
mod datagrams;
mod fetch;
mod grouped;
mod growth;
mod runtime;
mod segments;
mod trace;
mod undelivered;
mod watch;

use crate::config::Config;
use crate::demux::{Inbound, Packet, inbound};
use crate::engine::{Automatic, Buffers, Engine, PathMtu};
use crate::error::ConfigError;
use crate::event::{ConnectionId, ListenerId, UdpId};
use crate::group::Member;
use crate::icmp;
use crate::link::{Hop, Link};
use crate::tcp::{ConnectionTable, InitialSequence, Patience, SynCookies, TimeWait};
use crate::time::Time;
use crate::timers::Wheel;
use crate::udp::{Datagram, Place, UdpPorts};
use crate::watch::{Counters, Watched};
use crate::wire::{BURST, Checksums, Wire};
use ahash::RandomState;
use core::fmt;
use core::net::IpAddr;
pub(crate) use runtime::Calls;
use slotmap::SlotMap;
use smoltcp::wire::Icmpv4DstUnreachable;
use std::collections::{HashMap, VecDeque};

/// A stack for the frames of one [`Wire`].
///
/// The program calls [`poll`](Self::poll) again and again, and after it [`next_event`](Self::next_event) until that returns
/// `None`. What it sends meanwhile leaves with the next `poll`, together with the acknowledgments.
pub struct Stack<W: Wire> {
    link: Link<W>,
    engine: Engine,
    config: Config,
    /// Those of new connections.
    buffers: Buffers,
    patience: Patience,
    connections: ConnectionTable,
    time_wait: TimeWait,
    listeners: SlotMap<ListenerId, Listener>,
    ports: HashMap<u16, ListenerId>,
    /// How many connections each peer has opened, if that is limited.
    peers: HashMap<IpAddr, usize, RandomState>,
    initial: InitialSequence,
    cookies: SynCookies,
    /// Until when segments may have a cookie.
    cookies_until: Time,
    /// Before this time, too many connections are not reported again.
    overflow_reported_until: Time,
    /// How many local ports were tried for connections that the program has asked for.
    ports_tried: u64,
    timers: Wheel<ConnectionId>,
    due: Vec<ConnectionId>,
    /// Connections that may have something to send.
    dirty: VecDeque<ConnectionId>,
    /// Connections with news.
    ready: VecDeque<ConnectionId>,
    /// The hosts to which packets must be short, and until when.
    paths: HashMap<IpAddr, (PathMtu, Time), RandomState>,
    udp: UdpPorts<W::Frame>,
    /// Sockets whose program has to be told of datagrams.
    datagrams: VecDeque<UdpId>,
    /// Who asks the network for addresses.
    automatic: Option<Automatic>,
    /// Whether the program has to be told of other addresses.
    has_other_addresses: bool,
    /// When the link asks again for hosts.
    maintained: Time,
    counters: Counters,
    /// Whether the last poll has neither received frames nor sent segments.
    was_idle: bool,
    /// Who asks for counters and connections.
    watched: Option<Watched>,
    /// Received frames that are not handled yet.
    arrived: VecDeque<W::Frame>,
    /// The connections that they are for, most probably.
    guesses: VecDeque<ConnectionId>,
    /// That of the frame which is handled.
    guess: ConnectionId,
    /// Its place among other stacks of the same host.
    member: Option<Member<W::Frame>>,
}

/// What becomes of a frame that was handled.
enum Fate {
    /// Nothing.
    Done,
    /// It waits for the program of a UDP socket.
    Kept(UdpId, Place),
    /// It goes to another stack of the group, which may pass it to so many others.
    Passed(usize, usize),
}

/// Who waits for connections to a port.
#[derive(Debug)]
struct Listener {
    port: u16,
    /// Connections whose handshake is not complete.
    half_open: usize,
}

/// The link looks after its neighbors so often.
const MAINTAIN_EVERY: Time = Time::from_millis(100);

impl<W: Wire> fmt::Debug for Stack<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack")
            .field("addresses", &self.config.addresses)
            .field("connections", &self.connections.len())
            .finish_non_exhaustive()
    }
}

impl<W: Wire> Stack<W> {
    /// A stack without connections and listeners.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if an address, a length or a limit cannot be used.
    pub fn new(mut wire: W, config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let keep_alive = config.keep_alive.map(Time::from);
        let uncut = wire.cut(config.mtu);
        let mut link = Link::new(wire, &config);
        link.read_clock();
        Ok(Self {
            engine: Engine::new(config.mtu, uncut, keep_alive, config.congestion_control),
            automatic: Automatic::new(&config, &mut link),
            has_other_addresses: false,
            link,
            buffers: Buffers {
                receive: config.receive_buffer.min(config.initial_buffer),
                send: config.send_buffer.min(config.initial_buffer),
            },
            patience: Patience {
                opening: config.handshake_timeout.into(),
                open: config.user_timeout.into(),
                keep_alive,
                idle: config.idle_timeout.map(Time::from),
                repeating: config.min_retransmission_timeout.into(),
            },
            connections: ConnectionTable::default(),
            time_wait: TimeWait::new(config.time_wait.into(), config.time_waits),
            listeners: SlotMap::with_key(),
            ports: HashMap::new(),
            peers: HashMap::default(),
            initial: InitialSequence::default(),
            cookies: SynCookies::default(),
            cookies_until: Time::ZERO,
            overflow_reported_until: Time::ZERO,
            ports_tried: 0,
            timers: Wheel::new(),
            due: Vec::new(),
            dirty: VecDeque::new(),
            ready: VecDeque::new(),
            paths: HashMap::default(),
            udp: UdpPorts::default(),
            datagrams: VecDeque::new(),
            maintained: Time::ZERO,
            counters: Counters::default(),
            was_idle: false,
            watched: None,
            arrived: VecDeque::new(),
            guesses: VecDeque::new(),
            guess: ConnectionId::default(),
            member: None,
            config,
        })
    }

    /// Sends what there is to send, as far as the wire has room, and handles what has arrived. Returns the number of frames
    /// received. It never waits.
    pub fn poll(&mut self) -> usize {
        let last = self.link.now();
        let now = self.link.read_clock();
        if self.was_idle {
            self.counters.idle_micros += now.since(last).as_micros() as u64;
        }
        let sent = self.counters.segments_sent;
        self.run_timers(now);
        self.send_dirty();
        let others = self.member.as_ref().map_or(0, Member::others);
        let mut frames = 0;
        // An answer to each frame must have room.
        while frames < W::BURST && self.link.wire.has_room() {
            let Some(frame) = self.next_frame() else { break };
            frames += 1;
            self.frame(frame, others);
        }
        self.counters.frames += frames as u64;
        if others > 0 {
            frames += self.read_messages();
        }
        self.link.wire.flush();
        self.was_idle = frames == 0 && self.counters.segments_sent == sent;
        frames
    }

    /// Handles a frame, which may be passed to so many other stacks.
    #[inline]
    fn frame(&mut self, frame: W::Frame, others: usize) {
        let Some(bytes) = W::bytes(&frame) else {
            self.counters.ignored += 1;
            return;
        };
        match self.handle(bytes, self.link.wire.verified(&frame), others) {
            Fate::Done => (),
            Fate::Kept(socket, at) => self.datagram(socket, Datagram { frame, at }),
            Fate::Passed(to, others) => self.pass_on(to, frame, others),
        }
    }

    /// The wire, for what it counts.
    pub const fn wire(&self) -> &W {
        &self.link.wire
    }

    /// The wire, for tests that put frames in and take them out.
    pub const fn wire_mut(&mut self) -> &mut W {
        &mut self.link.wire
    }

    /// Ends the stack without a word to the peers, and returns its wire.
    pub fn into_wire(self) -> W {
        self.link.wire
    }

    /// How many connections there are: those that the program has not closed, those whose handshake is not complete, and
    /// those that were closed and have not ended. Those in TIME-WAIT are not among them.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Handles what is in a frame.
    fn handle(&mut self, bytes: &[u8], verified: Checksums, others: usize) -> Fate {
        let inbound = inbound(bytes, &self.link, verified);
        if !matches!(inbound, Inbound::Tcp(..)) && self.give(bytes) {
            return Fate::Done;
        }
        match inbound {
            Inbound::Tcp(segment, from) => return self.segment(&segment, Hop::Mac(from), others),
            Inbound::Arp(packet) => {
                let neighbor = self.link.arp(packet);
                self.share(neighbor);
            }
            Inbound::Neighbor(packet, from) => {
                let neighbor = self.link.neighbor_discovery(packet, from);
                self.share(neighbor);
            }
            Inbound::Udp(datagram) => match (self.udp.bound(datagram.port), &self.member) {
                (Some(socket), _) => return Fate::Kept(socket, datagram.place),
                (None, Some(member)) if others > 0 => return Fate::Passed(member.next(), others - 1),
                (None, _) => self.refuse(datagram.packet, Icmpv4DstUnreachable::PortUnreachable),
            },
            Inbound::Undelivered(segment) => self.undelivered(segment, others),
            Inbound::Icmp(packet) => self.engine.answer(packet, &mut self.link),
            Inbound::Unserved(packet) => self.refuse(packet, Icmpv4DstUnreachable::ProtoUnreachable),
            Inbound::Damaged => self.counters.damaged += 1,
            Inbound::Fragment => self.counters.fragments += 1,
            Inbound::Ignored => self.counters.ignored += 1,
        }
        Fate::Done
    }

    /// Says that nobody serves a packet.
    fn refuse(&mut self, packet: Packet<'_>, reason: Icmpv4DstUnreachable) {
        if packet.to.is_ipv4() {
            icmp::refuse(packet.bytes, reason, &mut self.link, Hop::Mac(packet.from));
        } else {
            self.engine.answer(packet, &mut self.link);
        }
    }

    fn datagram(&mut self, socket: UdpId, datagram: Datagram<W::Frame>) {
        let (is_kept, is_news) = self.udp.arrived(socket, datagram);
        self.counters.datagrams_dropped += u64::from(!is_kept);
        if is_news {
            self.datagrams.push_back(socket);
        }
    }

    fn run_timers(&mut self, now: Time) {
        let mut due = core::mem::take(&mut self.due);
        self.timers.expire(now.tick(), &mut due);
        let tick = now.tick();
        for burst in due.chunks(BURST) {
            self.fetch_connections(burst.iter().copied());
            for id in burst.iter().copied() {
                self.timer(id, tick);
            }
        }
        due.clear();
        self.due = due;
        if now >= self.maintained + MAINTAIN_EVERY {
            self.maintained = now;
            self.time_wait.expire(now);
            self.paths.retain(|_, (_, end)| *end > now);
            self.maintain_addresses();
            let gone = self.link.maintain(now);
            if !gone.is_empty() {
                self.unreachable(gone);
            }
            self.answer();
        }
    }
}
