// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Copies of the packets of one connection.

use crate::peer::{PORT, Peer, config, events, peer_socket};
use dpdk_sockets::Event;
use smoltcp::wire::TcpControl;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// A file that the test keeps.
#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What tcpdump says of each packet; `None` if it is missing.
fn tcpdump(pcap: &[u8]) -> Option<Vec<String>> {
    let mut command = Command::new("tcpdump");
    command.args(["-n", "-t", "-v", "-r", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut tcpdump) = command.spawn() else {
        println!("skipped: what tcpdump says of a capture, since it is missing");
        return None;
    };
    tcpdump.stdin.take().unwrap().write_all(pcap).unwrap();
    let output = tcpdump.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // A packet has a line of IP, and an indented one.
    Some(text.replace("\n    ", " ").lines().map(str::to_owned).collect())
}

#[test]
fn packets_of_one_connection_are_copied() {
    let mut peer = Peer::new(config());
    let file = File::default();
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    peer.stack.capture(id, file.clone()).unwrap();
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    (peer.ports, peer.ack) = ((443, syn.ports.0), Some(syn.seq + 1));
    peer.send(TcpControl::Syn, b"");
    peer.poll();
    // Another connection, whose packets are not copied.
    let mut own = (peer.ports, peer.ack, peer.seq);
    let swap = |peer: &mut Peer, own: &mut (_, _, _)| {
        core::mem::swap(&mut peer.ports, &mut own.0);
        core::mem::swap(&mut peer.ack, &mut own.1);
        core::mem::swap(&mut peer.seq, &mut own.2);
    };
    own.0 = (40_000, PORT);
    swap(&mut peer, &mut own);
    peer.handshake();
    swap(&mut peer, &mut own);
    peer.send(TcpControl::Psh, b"request");
    peer.poll();
    peer.stack.send(id, b"response").unwrap();
    peer.poll();
    peer.stack.abort(id).unwrap();
    peer.poll();
    assert!(peer.stack.end_capture(id).is_some_and(|end| end.is_ok()));
    assert!(peer.stack.end_capture(id).is_none());
    let after = file.0.lock().unwrap().len();
    peer.send(TcpControl::Psh, b"to nobody");
    peer.poll();
    let pcap = file.0.lock().unwrap().clone();
    assert_eq!(pcap.len(), after, "nothing is copied after the end");

    let Some(packets) = tcpdump(&pcap) else { return };
    let told = [
        ("192.0.2.1", "Flags [S],", "length 0"),
        ("192.0.2.2.443 > ", "Flags [S.],", "length 0"),
        ("192.0.2.1", "Flags [.],", "length 0"),
        ("192.0.2.2.443 > ", "Flags [P.],", "length 7"),
        ("192.0.2.1", "Flags [.],", "length 0"),
        ("192.0.2.1", "Flags [P.],", "length 8"),
        ("192.0.2.1", "Flags [R.],", "length 0"),
    ];
    assert_eq!(packets.len(), told.len(), "{packets:#?}");
    for (packet, (from, flags, length)) in packets.iter().zip(told) {
        let words = [&format!(") {from}"), flags, length, "(correct)"];
        assert!(words.iter().all(|word| packet.contains(*word)), "{packet}: not {words:?}");
    }
}

/// A disk that is full for a moment.
#[derive(Clone, Default)]
struct Full(File);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.0.lock().unwrap().is_empty() {
            self.0.write(b"full")?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_capture_that_fails_disturbs_nothing() {
    let (mut peer, id) = Peer::connected();
    let full = Full::default();
    peer.stack.capture(id, full.clone()).unwrap();
    peer.send(TcpControl::Psh, b"request");
    assert_eq!(peer.poll().len(), 1);
    assert!(matches!(events(&mut peer.stack)[..], [Event::Readable(_)]));
    let end = peer.stack.end_capture(id).unwrap();
    assert_eq!(end.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(*full.0.0.lock().unwrap(), b"full", "a file with a gap cannot be read");
    peer.stack.abort(id).unwrap();
    assert!(peer.stack.capture(id, full).is_err());
}
