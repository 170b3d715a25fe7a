// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages between processes. In most tests the other process is a socket of the test itself, which uses DPDK's
//! format: that needs no hugepages, and it can be as unreliable as a test requires.

use crate::{
    frames::until,
    others::{announce, ends_well, lacks_hugepages, primary, secondary, wait_for},
    process::{another, eal_args, init, isolated, isolated_bare, isolated_first, patience, runtime_folder},
};
use dpdk_rs::{
    Eal,
    message::{MAX_BYTES, MAX_FILES, MessageError, Outgoing},
};
use nix::sys::{
    signal::{Signal, kill},
    socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg},
};
use nix::unistd::Pid;
use std::{
    fs::File,
    io::{IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write},
    os::{
        fd::{AsFd, AsRawFd, RawFd},
        unix::net::UnixDatagram,
    },
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

/// Longer than any reply takes that arrives at all.
const LONG: Duration = Duration::from_secs(200);

/// What comes before the name in what DPDK sends: whether it is a message, a request or a reply.
const MESSAGE: i32 = 0;
const REQUEST: i32 = 1;
const REPLY: i32 = 2;

/// What is in one, as DPDK sends it.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    kind: i32,
    name: String,
    bytes: Vec<u8>,
}

/// Where the primary process of this test receives messages.
pub(crate) fn primary_socket() -> PathBuf {
    runtime_folder().join("mp_socket")
}

/// How DPDK sends a message: its kind, from this byte on its struct without the descriptors, and this many bytes in all. Newer ones
/// align it for values of 8 bytes.
fn layout() -> (usize, usize) {
    let align = align_of::<dpdk_sys::rte_mp_msg>();
    let whole = (align + size_of::<dpdk_sys::rte_mp_msg>()).next_multiple_of(align);
    (align, whole - MAX_FILES * size_of::<RawFd>())
}

/// Not a real secondary process: only a socket next to that of the primary.
struct Peer {
    socket: UnixDatagram,
    path: PathBuf,
    primary: PathBuf,
}

impl Peer {
    /// One of this number.
    fn new(number: u32) -> Self {
        let primary = primary_socket();
        let path = primary.with_file_name(format!("mp_socket_{number}_1"));
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(patience(Duration::from_secs(60)))).unwrap();
        Self { socket, path, primary }
    }

    fn say(&self, kind: i32, name: &str, bytes: &[u8], files: &[RawFd]) {
        let (start, len) = layout();
        let mut data = kind.to_ne_bytes().to_vec();
        data.resize(start, 0);
        data.extend(name.bytes().chain(std::iter::repeat(0)).take(64));
        data.extend([bytes.len(), files.len()].map(|count| i32::try_from(count).unwrap().to_ne_bytes()).as_flattened());
        data.extend(bytes.iter().copied().chain(std::iter::repeat(0)).take(MAX_BYTES));
        data.resize(len, 0);
        let to = UnixAddr::new(&self.primary).unwrap();
        let rights = [ControlMessage::ScmRights(files)];
        let rights = if files.is_empty() { &[][..] } else { &rights };
        let sent = sendmsg(self.socket.as_raw_fd(), &[IoSlice::new(&data)], rights, MsgFlags::empty(), Some(&to));
        assert_eq!(sent, Ok(len));
    }

    /// The next that comes, and the descriptors with it.
    fn hear(&self) -> (Said, Vec<RawFd>) {
        let (start, len) = layout();
        let mut data = vec![0; len];
        let mut room = nix::cmsg_space!([RawFd; 8]);
        let mut buffers = [IoSliceMut::new(&mut data)];
        let flags = MsgFlags::empty();
        let received = recvmsg::<UnixAddr>(self.socket.as_raw_fd(), &mut buffers, Some(&mut room), flags).unwrap();
        assert_eq!(received.bytes, len);
        let rights = received.cmsgs().unwrap().find_map(|message| match message {
            ControlMessageOwned::ScmRights(files) => Some(files),
            _ => None,
        });
        let number = |at: usize| i32::from_ne_bytes(data[at..at + 4].try_into().unwrap());
        let (name, bytes) = (start..start + 64, start + 72);
        let len = usize::try_from(number(name.end)).unwrap();
        let name = data[name].split(|&byte| byte == 0).next().unwrap();
        let name = String::from_utf8(name.to_vec()).unwrap();
        (Said { kind: number(0), name, bytes: data[bytes..bytes + len].to_vec() }, rights.unwrap_or_default())
    }
}

fn said(kind: i32, name: &str, bytes: &[u8]) -> Said {
    Said { kind, name: name.to_owned(), bytes: bytes.to_vec() }
}

/// An EAL with a socket for messages, and without hugepages, so that no process can attach.
fn eal() -> Eal {
    init(eal_args(&[]).into_iter().filter(|arg| arg != "--no-shconf")).unwrap().0
}

#[test]
fn without_a_socket_the_error_says_so() {
    isolated(&[], |eal| {
        let messages = eal.messages();
        let off = || MessageError::Off("test/a".to_owned());
        assert_eq!(messages.on("test/a", |_| ()).unwrap_err(), off());
        assert_eq!(messages.send("test/a", &Outgoing::empty()), Err(off()));
        assert_eq!(messages.request("test/a", &Outgoing::empty(), LONG).unwrap_err(), off());
        assert_eq!(messages.request_async("test/a", &Outgoing::empty(), LONG).unwrap().wait().unwrap_err(), off());
        assert!(off().to_string().contains("leave out --no-shconf and --in-memory"));
        // DPDK's handlers take what comes for structs of theirs.
        let refused = MessageError::Name("mp_malloc_request".to_owned());
        assert_eq!(messages.send("mp_malloc_request", &Outgoing::empty()), Err(refused.clone()));
        assert_eq!(messages.on("mp_malloc_request", |_| ()).unwrap_err(), refused);
    });
}

#[test]
fn messages_go_out_and_replies_come_in() {
    isolated_bare(|| {
        let eal = eal();
        let messages = eal.messages();
        assert!(messages.request("test/ask", &Outgoing::empty(), LONG).unwrap().is_empty(), "there is nobody to ask");
        let peers = [Peer::new(1), Peer::new(2)];
        messages.send("test/tell", &Outgoing::of(&7_u64)).unwrap();
        for peer in &peers {
            assert_eq!(peer.hear().0, said(MESSAGE, "test/tell", &7_u64.to_ne_bytes()));
        }
        let question = Outgoing::bytes(b"how many?").unwrap();
        // DPDK asks one after the other, in the order of the folder, which is any.
        let replies = thread::scope(|scope| {
            for (number, peer) in (0_u64..).zip(&peers) {
                scope.spawn(move || {
                    assert_eq!(peer.hear().0, said(REQUEST, "test/ask", b"how many?"));
                    peer.say(REPLY, "test/ask", &number.to_ne_bytes(), &[]);
                });
            }
            messages.request("test/ask", &question, LONG).unwrap()
        });
        let mut numbers: Vec<u64> = replies.iter().map(|reply| reply.read().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1]);
        // One that has ended is asked no more, and its socket removed.
        let [kept, ended] = peers;
        let path = ended.path.clone();
        drop(ended);
        let pending = messages.request_async("test/ask", &question, LONG).unwrap();
        assert_eq!(kept.hear().0, said(REQUEST, "test/ask", b"how many?"));
        // A second one would take the reply to the first.
        let again = messages.request("test/ask", &question, LONG).unwrap_err();
        assert_eq!(again, MessageError::UnderWay("test/ask".to_owned()));
        kept.say(REPLY, "test/ask", &[1, 2, 3], &[]);
        let replies = pending.wait().unwrap();
        assert_eq!((replies.len(), replies[0].bytes()), (1, &[1, 2, 3][..]));
        let wrong = MessageError::Length { name: "test/ask".to_owned(), asked: 8, has: 3 };
        assert_eq!(replies[0].read::<u64>(), Err(wrong));
        assert!(!path.exists());
        // A peer that does not answer.
        let short = Duration::from_millis(20);
        let late = messages.request("test/ask", &question, short).unwrap_err();
        assert_eq!(late, MessageError::TimedOut { name: "test/ask".to_owned(), timeout: short });
        let pending = messages.request_async("test/ask", &question, short).unwrap();
        until("it has timed out", || pending.is_finished());
        assert!(matches!(pending.wait(), Err(MessageError::TimedOut { .. })));
    });
}

#[test]
fn handlers_are_called_until_they_are_dropped() {
    isolated_bare(|| {
        let eal = eal();
        let (messages, peer) = (eal.messages(), Peer::new(1));
        let (heard, hears) = mpsc::channel();
        let alive = Arc::new(());
        let (kept, inner) = (Arc::clone(&alive), messages.clone());
        let handler = messages.on("test/greet", move |message| {
            let _kept = &kept;
            let name = String::from_utf8(message.bytes().to_vec()).expect("it is greeted by its name");
            // Nobody would take the reply in.
            let refused = inner.request("test/other", &Outgoing::empty(), LONG).unwrap_err();
            assert_eq!(refused, MessageError::InHandler("test/other".to_owned()));
            message.reply(&Outgoing::bytes(format!("hello {name}").as_bytes()).unwrap()).unwrap();
        });
        let handler = handler.unwrap();
        assert_eq!(messages.on("test/greet", |_| ()).unwrap_err(), MessageError::Taken("test/greet".to_owned()));
        let late = messages.on("test/late", move |message| heard.send(message).unwrap()).unwrap();
        assert_eq!((handler.name(), late.name()), ("test/greet", "test/late"));
        peer.say(REQUEST, "test/greet", b"peer", &[]);
        assert_eq!(peer.hear().0, said(REPLY, "test/greet", b"hello peer"));
        // Bytes that are no text make it panic: that is caught, and the next one is answered.
        peer.say(REQUEST, "test/greet", &[0xff; MAX_BYTES], &[]);
        peer.say(REQUEST, "test/greet", b"again", &[]);
        assert_eq!(peer.hear().0, said(REPLY, "test/greet", b"hello again"));
        // One can be answered by another thread, and when others have come meanwhile.
        peer.say(REQUEST, "test/late", b"1", &[]);
        let first = hears.recv().unwrap();
        peer.say(REQUEST, "test/greet", b"meanwhile", &[]);
        assert_eq!(peer.hear().0, said(REPLY, "test/greet", b"hello meanwhile"));
        first.reply(&Outgoing::empty()).unwrap();
        assert_eq!(peer.hear().0, said(REPLY, "test/late", b""));
        drop(handler);
        assert_eq!(Arc::strong_count(&alive), 1, "what the closure had is dropped");
        // Nobody takes the first of these; they are handled in their order.
        peer.say(REQUEST, "test/greet", b"nobody", &[]);
        peer.say(MESSAGE, "test/late", b"2", &[]);
        assert_eq!(hears.recv().unwrap().bytes(), b"2");
        // It can be handled again.
        let again = messages.on("test/greet", |message| message.reply(&Outgoing::empty()).unwrap()).unwrap();
        peer.say(REQUEST, "test/greet", b"somebody", &[]);
        assert_eq!(peer.hear().0, said(REPLY, "test/greet", b""));
        drop((eal, messages, late));
        peer.say(REQUEST, "test/greet", b"still", &[]);
        assert_eq!(peer.hear().0, said(REPLY, "test/greet", b""), "the handler keeps the EAL");
        drop(again);
    });
}

#[test]
fn files_go_with_messages() {
    isolated_bare(|| {
        let eal = eal();
        let (messages, peer) = (eal.messages(), Peer::new(1));
        // What is written to one end of a pipe comes out of the other as soon as all ends for writing are closed.
        let (mut reader, writer) = std::io::pipe().unwrap();
        let handler = messages.on("test/write", |mut message| {
            let files = std::mem::take(message.files());
            let count = files.len();
            for file in files {
                File::from(file).write_all(message.bytes()).unwrap();
            }
            message.reply(&Outgoing::of(&count)).unwrap();
        });
        peer.say(REQUEST, "test/write", b"a line\n", &[writer.as_raw_fd(), writer.as_raw_fd()]);
        assert_eq!(peer.hear().0, said(REPLY, "test/write", &2_usize.to_ne_bytes()));
        // What nobody takes is closed, with a handler or without.
        drop(handler.unwrap());
        let (heard, hears) = mpsc::channel();
        let handler = messages.on("test/drop", move |_| heard.send(()).unwrap()).unwrap();
        peer.say(MESSAGE, "test/write", b"", &[writer.as_raw_fd()]);
        peer.say(MESSAGE, "test/drop", b"", &[writer.as_raw_fd()]);
        hears.recv().unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a line\na line\n");
        // Out, and back in a reply.
        let (mut reader, writer) = std::io::pipe().unwrap();
        let files = [writer.as_fd()];
        let pending =
            messages.request_async("test/back", &Outgoing::empty().with_files(&files).unwrap(), LONG).unwrap();
        let (question, files) = peer.hear();
        assert_eq!((question, files.len()), (said(REQUEST, "test/back", b""), 1));
        peer.say(REPLY, "test/back", b"", &files);
        nix::unistd::close(files[0]).unwrap();
        drop(writer);
        let mut replies = pending.wait().unwrap();
        let back = replies[0].files().pop().unwrap();
        let flags = nix::fcntl::fcntl(&back, nix::fcntl::FcntlArg::F_GETFD).unwrap();
        assert_eq!(flags, nix::libc::FD_CLOEXEC, "no program that is started inherits it");
        File::from(back).write_all(b"and back").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "and back");
        drop(handler);
    });
}

#[test]
fn processes_send_and_request() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| {
        if case > 0 {
            let primary = secondary();
            let messages = primary.messages();
            let _handler = messages.on("test/double", |message| {
                let number: u64 = message.read().unwrap();
                message.reply(&Outgoing::of(&(2 * number))).unwrap();
            });
            announce(&format!("{case} listens"));
            let path = crate::process::folder().join(format!("file {case}"));
            let mut file = File::options().create_new(true).read(true).write(true).open(path).unwrap();
            let files = [file.as_fd()];
            let question = Outgoing::of(&case).with_files(&files).unwrap();
            let replies = messages.request("test/write", &question, LONG).unwrap();
            assert_eq!((replies.len(), replies[0].bytes()), (1, &b"written"[..]));
            let mut text = String::new();
            file.seek(SeekFrom::Start(0)).unwrap();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, format!("for {case}"));
            wait_for("all have answered");
            return;
        }
        let eal = primary(&[]);
        let messages = eal.messages();
        let _handler = messages.on("test/write", |mut message| {
            let case: usize = message.read().unwrap();
            let file = message.files().pop().unwrap();
            File::from(file).write_all(format!("for {case}").as_bytes()).unwrap();
            message.reply(&Outgoing::bytes(b"written").unwrap()).unwrap();
        });
        let others = [another(1), another(2)];
        wait_for("1 listens");
        wait_for("2 listens");
        let replies = messages.request("test/double", &Outgoing::of(&21_u64), LONG).unwrap();
        assert_eq!(replies.iter().map(|reply| reply.read().unwrap()).collect::<Vec<u64>>(), [42, 42]);
        announce("all have answered");
        for other in others {
            ends_well(other);
        }
    });
}

/// Case 1 is the primary process, which is killed while case 2 waits for its reply.
#[test]
fn a_primary_that_is_killed_leaves_an_error() {
    if lacks_hugepages() {
        return;
    }
    isolated_first(|case| match case {
        1 => {
            let eal = primary(&[]);
            let _handler = eal.messages().on("test/ask", |_| announce("it was asked")).unwrap();
            announce("it is there");
            loop {
                thread::park();
            }
        }
        2 => {
            let primary = secondary();
            let messages = primary.messages();
            let pending = messages.request_async("test/ask", &Outgoing::empty(), Duration::from_secs(1)).unwrap();
            wait_for("the primary was killed");
            assert!(matches!(pending.wait(), Err(MessageError::TimedOut { .. })));
            let gone = messages.request("test/ask", &Outgoing::empty(), LONG).unwrap_err();
            let MessageError::Gone { name, errno } = &gone else { panic!("{gone}") };
            assert_eq!((name.as_str(), errno.get()), ("test/ask", nix::libc::ECONNREFUSED));
            assert!(matches!(messages.send("test/ask", &Outgoing::empty()), Err(MessageError::Gone { .. })));
            assert!(!primary.is_primary_alive());
        }
        _ => {
            let first = another(1);
            wait_for("it is there");
            let second = another(2);
            wait_for("it was asked");
            kill(Pid::from_raw(first.child.id().cast_signed()), Signal::SIGKILL).unwrap();
            assert_eq!(first.finish(|_| {}).status.code(), None);
            announce("the primary was killed");
            ends_well(second);
        }
    });
}
