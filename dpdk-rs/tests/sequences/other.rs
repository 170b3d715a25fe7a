// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A secondary process that does what it is told, a line at a time over a socket, and says in a line what came of it.

use crate::{
    frames::{bytes, frame},
    others::secondary,
    process::{FINISHED, Running, another, folder},
};
use dpdk_rs::{
    Mempool, Packet, Port, Ring,
    secondary::{Foreign, LookupError, Secondary},
};
use std::{
    collections::BTreeMap,
    fmt::Display,
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    process,
    str::SplitWhitespace,
};

/// The case of the test that a secondary process runs.
pub(crate) const CASE: usize = 1_000_000;

fn path() -> PathBuf {
    folder().join("desk")
}

/// Where secondary processes connect to.
pub(crate) fn listen() -> UnixListener {
    UnixListener::bind(path()).expect("the socket can be made")
}

/// A secondary process, as the primary one has it.
pub(crate) struct Other {
    running: Running,
    lines: BufReader<UnixStream>,
}

impl Other {
    /// Starts one, and waits until it has attached.
    pub(crate) fn start(listener: &UnixListener) -> Self {
        let running = another(CASE);
        let (stream, _) = listener.accept().expect("it connects, or the test is ended from outside");
        let mut other = Self { running, lines: BufReader::new(stream) };
        assert_eq!(other.answer(), "attached");
        other
    }

    /// Has it do something; what it answers.
    pub(crate) fn ask(&mut self, order: impl Display) -> String {
        writeln!(self.lines.get_mut(), "{order}").expect("it reads");
        self.answer()
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        // No line, if it has ended: that fits no answer, and its stderr is in the test's output.
        let _ = self.lines.read_line(&mut line);
        line.trim_end().to_owned()
    }

    /// Has it end, with its objects dropped before or not.
    pub(crate) fn end(mut self, dropped: bool) {
        writeln!(self.lines.get_mut(), "{}", if dropped { "end" } else { "exit" }).expect("it reads");
        let finished = self.running.finish(|_| {});
        assert_eq!(finished.status.code(), Some(FINISHED), "the secondary process: {}", finished.stderr);
    }

    /// Kills it while it waits for an order.
    pub(crate) fn kill(mut self) {
        self.running.child.kill().expect("the child is ours");
        let finished = self.running.finish(|_| {});
        assert_eq!(finished.status.code(), None, "it was killed");
    }
}

/// What the secondary process has.
struct Desk {
    primary: Secondary,
    pools: BTreeMap<String, Vec<Mempool<u64>>>,
    rings: BTreeMap<String, Ring<Packet<u64>>>,
    packets: BTreeMap<u64, Packet<u64>>,
    ports: Vec<Port<Foreign>>,
}

/// In the secondary process: does what it is told, to its end.
pub(crate) fn serve() -> ! {
    let (pools, rings, packets) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut desk = Desk { primary: secondary(), pools, rings, packets, ports: Vec::new() };
    let mut stream = UnixStream::connect(path()).expect("the primary process listens");
    writeln!(stream, "attached").expect("the primary process reads");
    let orders = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
    for order in orders.lines() {
        let order = order.expect("orders are text");
        match order.as_str() {
            "exit" => process::exit(FINISHED),
            "end" => {
                drop(desk);
                process::exit(FINISHED);
            }
            order => {
                let mut words = order.split_whitespace();
                let deed = words.next().expect("an order is not empty");
                writeln!(stream, "{}", desk.apply(deed, &mut words)).expect("the primary process reads");
            }
        }
    }
    panic!("the primary process has ended");
}

fn word<'a>(words: &mut SplitWhitespace<'a>) -> &'a str {
    words.next().expect("an order is complete")
}

fn number(words: &mut SplitWhitespace<'_>) -> u64 {
    word(words).parse().expect("a number")
}

impl Desk {
    fn apply(&mut self, deed: &str, words: &mut SplitWhitespace<'_>) -> String {
        match deed {
            "pool" => {
                let name = word(words);
                outcome(self.primary.pool(name).map(|pool| self.pools.entry(name.to_owned()).or_default().push(pool)))
            }
            "unpool" => {
                let handles = self.pools.get_mut(word(words)).expect("it was found");
                drop(handles.pop().expect("there is a handle"));
                "done".to_owned()
            }
            "ring" => {
                let name = word(words);
                // SAFETY: the primary process makes rings of these names for such packets, and shares them.
                let ring = unsafe { self.primary.ring(name) };
                outcome(ring.map(|ring| drop(self.rings.insert(name.to_owned(), ring))))
            }
            "alloc" => {
                let pool = self.pools[word(words)].last().expect("there is a handle");
                let (id, len) = (number(words), number(words));
                let Some(mut packet) = pool.alloc() else { return "none".to_owned() };
                *packet.private_mut() = id;
                packet.append(len as usize).expect("it fits").copy_from_slice(&frame(id as usize, len as usize));
                self.packets.insert(id, packet);
                "done".to_owned()
            }
            "flip" => {
                let packet = self.packets.get_mut(&number(words)).expect("it is here");
                packet.data_mut().expect("it is not shared").iter_mut().for_each(|byte| *byte ^= 0xff);
                "done".to_owned()
            }
            "drop" => {
                drop(self.packets.remove(&number(words)).expect("it is here"));
                "done".to_owned()
            }
            "put" => {
                let ring = &self.rings[word(words)];
                let id = number(words);
                match ring.enqueue(self.packets.remove(&id).expect("it is here")) {
                    Ok(()) => "done".to_owned(),
                    Err(full) => {
                        self.packets.insert(id, full.0);
                        "full".to_owned()
                    }
                }
            }
            "take" => match self.rings[word(words)].dequeue() {
                Some(packet) => {
                    let said = describe(&packet);
                    self.packets.insert(*packet.private(), packet);
                    said
                }
                None => "none".to_owned(),
            },
            "zone" => match self.primary.memzone(word(words)) {
                Some(zone) => {
                    // SAFETY: the zone is not freed before this is answered, and nobody writes to it meanwhile.
                    let bytes = unsafe { std::slice::from_raw_parts(zone.addr, zone.len) };
                    format!("{bytes:?}")
                }
                None => "none".to_owned(),
            },
            "ports" => {
                // SAFETY: the primary process does not close its port.
                self.ports.extend(unsafe { self.primary.ports() }.expect("the device says what it is"));
                let names = self.ports.iter().map(|port| (port.name(), port.queue_counts()));
                format!("{:?}", names.collect::<Vec<_>>())
            }
            "unports" => {
                self.ports.clear();
                "done".to_owned()
            }
            "available" => self.pools[word(words)].last().expect("there is a handle").available().to_string(),
            other => panic!("no such order: {other}"),
        }
    }
}

fn outcome(result: Result<(), LookupError>) -> String {
    result.map_or_else(|error| format!("{error:?}"), |()| "done".to_owned())
}

/// What a packet is, for both processes.
pub(crate) fn describe(packet: &Packet<u64>) -> String {
    format!("{} {:?}", packet.private(), bytes(packet))
}
