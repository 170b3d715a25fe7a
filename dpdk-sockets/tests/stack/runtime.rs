// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Two runtimes on one wire. Their clock moves by a tenth of a millisecond with each step.

use core::cell::{Cell, RefCell};
use core::future::{Future, pending, poll_fn};
use core::net::{Ipv4Addr, SocketAddr};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::runtime::{
    Elapsed, JoinHandle, Runtime, TcpListener, TcpStream, UdpSocket, sleep, spawn, timeout, yield_now,
};
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, IpNet, Stack};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};

const STEP: Duration = Duration::from_micros(100);

const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

fn at(port: u16) -> SocketAddr {
    (SERVER, port).into()
}

fn runtime(last: u8, address: Ipv4Addr) -> Runtime<Memory> {
    let mut config = Config::new(MacAddr([2, 0, 0, 0, 0, last]), IpNet::new_assert(address.into(), 24));
    (config.receive_buffer, config.send_buffer) = (4_000, 4_000);
    Runtime::new(Stack::new(Memory::default(), config).unwrap())
}

struct Pair {
    server: Runtime<Memory>,
    client: Runtime<Memory>,
}

impl Pair {
    fn new() -> Self {
        Self { server: runtime(1, SERVER), client: runtime(2, CLIENT) }
    }

    fn step(&mut self) {
        self.server.poll();
        self.client.poll();
        let take = |stack: &mut Stack<Memory>| core::mem::take(&mut stack.wire_mut().from_stack);
        let (to_client, to_server) = (self.server.with_stack(take), self.client.with_stack(take));
        for (runtime, frames) in [(&mut self.client, to_client), (&mut self.server, to_server)] {
            runtime.with_stack(|stack| {
                stack.wire_mut().to_stack.extend(frames);
                stack.wire_mut().now += STEP;
            });
        }
    }

    /// Steps until a task is done.
    fn join<T>(&mut self, handle: JoinHandle<T>) -> T {
        let mut steps = 0;
        while !handle.is_finished() {
            steps += 1;
            assert!(steps < 100_000, "the task hangs");
            self.step();
        }
        result(handle).unwrap()
    }

    fn on_client<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> T {
        let handle = self.client.spawn(future);
        self.join(handle)
    }

    fn on_server<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> T {
        let handle = self.server.spawn(future);
        self.join(handle)
    }

    /// A connection: the client's end of it, and the server's.
    fn connected(&mut self) -> (TcpStream, TcpStream) {
        let listener = self.on_server(TcpListener::bind(at(80))).unwrap();
        let accepted = self.server.spawn(async move { listener.accept().await.unwrap().0 });
        let stream = self.on_client(TcpStream::connect(at(80))).unwrap();
        (stream, self.join(accepted))
    }
}

/// The result of a task that is done.
fn result<T>(mut handle: JoinHandle<T>) -> Result<T, dpdk_sockets::runtime::JoinError> {
    let Poll::Ready(result) = Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the task is not done")
    };
    result
}

fn bytes(number: usize, len: usize) -> Vec<u8> {
    (0..len).map(|position| (position * 7 + position / 256 + number) as u8).collect()
}

/// More bytes than the buffers hold, both ways at once, by tokio's functions.
#[test]
fn tasks_echo() {
    const CONNECTIONS: usize = 30;
    let mut pair = Pair::new();
    let listener = pair.on_server(TcpListener::bind(at(7))).unwrap();
    pair.server.spawn(async move {
        while let Ok((stream, peer)) = listener.accept().await {
            assert_eq!((stream.peer_addr().unwrap(), stream.local_addr().unwrap()), (peer, at(7)));
            spawn(async move {
                let (mut reader, mut writer) = stream.into_split();
                copy(&mut reader, &mut writer).await.unwrap();
            });
        }
    });
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            pair.client.spawn(async move {
                let (mut reader, mut writer) = TcpStream::connect(at(7)).await.unwrap().into_split();
                let sent = bytes(number, 50_000);
                let again = sent.clone();
                let sender = spawn(async move { writer.write_all(&again).await });
                let mut received = Vec::new();
                reader.read_to_end(&mut received).await.unwrap();
                sender.await.unwrap().unwrap();
                assert!(received == sent, "connection {number} gets other bytes than it sends");
            })
        })
        .collect();
    for client in clients {
        pair.join(client);
    }
    pair.server.close_listeners();
    while !(pair.server.is_idle() && pair.client.is_idle()) {
        pair.step();
    }
}

#[test]
fn several_pieces_are_read_and_written_at_once() {
    let mut pair = Pair::new();
    let (mut client, mut server) = pair.connected();
    let written = pair.on_client(async move {
        let pieces = [IoSlice::new(b"one"), IoSlice::new(b""), IoSlice::new(b"two"), IoSlice::new(b"three")];
        assert!(tokio::io::AsyncWrite::is_write_vectored(&client));
        let written =
            poll_fn(|context| futures_io::AsyncWrite::poll_write_vectored(Pin::new(&mut client), context, &pieces));
        (written.await.unwrap(), client)
    });
    assert_eq!(written.0, 11);
    let read = pair.on_server(async move {
        let (mut first, mut second) = ([0; 4], [0; 20]);
        let mut pieces = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut []), IoSliceMut::new(&mut second)];
        let read =
            poll_fn(|context| futures_io::AsyncRead::poll_read_vectored(Pin::new(&mut server), context, &mut pieces));
        (read.await.unwrap(), first, second[..7].to_vec())
    });
    assert_eq!(read, (11, *b"onet", b"wothree".to_vec()));
}

#[test]
fn a_reader_is_told_of_the_end_and_of_a_reset() {
    let mut pair = Pair::new();
    let (client, mut server) = pair.connected();
    let ended = pair.server.spawn(async move {
        let mut text = String::new();
        server.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "last");
        server.write_all(b"unread").await.unwrap();
        loop {
            if let Err(error) = server.write(b"more").await {
                break error.kind();
            }
            yield_now().await;
        }
    });
    pair.on_client(async move {
        let mut client = client;
        client.write_all(b"last").await.unwrap();
        client.shutdown().await.unwrap();
        assert_eq!(client.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        // What the server sends is not read.
        client.readable().await.unwrap();
    });
    assert_eq!(pair.join(ended), ErrorKind::ConnectionReset);
}

#[test]
fn nothing_is_read_or_written_without_waiting() {
    let mut pair = Pair::new();
    let (client, server) = pair.connected();
    let kind = |error: io::Error| error.kind();
    assert_eq!(server.try_read(&mut [0; 9]).map_err(kind), Err(ErrorKind::WouldBlock));
    let mut sent = 0;
    while let Ok(len) = client.try_write(&[1; 3_000]) {
        sent += len;
    }
    assert_eq!(sent, 4_000);
    assert_eq!(client.try_write(b"more").map_err(kind), Err(ErrorKind::WouldBlock));
    let client = pair.on_client(async move {
        client.writable().await.unwrap();
        client
    });
    let server = pair.on_server(async move {
        server.readable().await.unwrap();
        server
    });
    assert!(server.try_read(&mut [0; 9]).is_ok_and(|len| len == 9));
    assert!(client.try_write(b"more").is_ok());
}

#[test]
fn addresses_that_cannot_be_used_are_errors() {
    let kind = |error: Option<io::Error>| error.map(|error| error.kind());
    let none = pin!(TcpStream::connect(at(80))).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(none, Poll::Ready(Err(error)) if error.to_string().contains("no runtime")));
    let mut pair = Pair::new();
    let connect = |pair: &mut Pair, address: SocketAddr| kind(pair.on_client(TcpStream::connect(address)).err());
    assert_eq!(connect(&mut pair, at(80)), Some(ErrorKind::ConnectionRefused));
    assert_eq!(connect(&mut pair, at(0)), Some(ErrorKind::InvalidInput));
    assert_eq!(connect(&mut pair, "198.51.100.1:80".parse().unwrap()), Some(ErrorKind::NetworkUnreachable));
    assert_eq!(connect(&mut pair, "192.0.2.9:80".parse().unwrap()), Some(ErrorKind::HostUnreachable));
    let kinds = pair.on_server(async move {
        let first = TcpListener::bind(([0, 0, 0, 0], 80).into()).await.unwrap();
        assert_eq!(first.local_addr().unwrap().port(), 80);
        let second = TcpListener::bind(at(80)).await.err();
        drop(first);
        let third = TcpListener::bind(at(80)).await.err();
        let foreign = TcpListener::bind((CLIENT, 80).into()).await.err();
        let socket = UdpSocket::bind((CLIENT, 80).into()).await.err();
        [second, third, foreign, socket].map(|error| error.map(|error| error.kind()))
    });
    let none = Some(ErrorKind::AddrNotAvailable);
    assert_eq!(kinds, [Some(ErrorKind::AddrInUse), None, none, none]);
}

#[test]
fn connections_that_nobody_accepts_are_reset_with_their_listener() {
    let mut pair = Pair::new();
    let listener = pair.on_server(TcpListener::bind(at(80))).unwrap();
    let stream = pair.on_client(TcpStream::connect(at(80))).unwrap();
    for _ in 0..10 {
        pair.step();
    }
    drop(listener);
    let error = pair.on_client(async move { { stream }.read(&mut [0; 9]).await }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(pair.server.is_idle());
}

#[test]
fn datagrams_go_both_ways() {
    let mut pair = Pair::new();
    let socket = pair.on_server(UdpSocket::bind(at(53))).unwrap();
    pair.server.spawn(async move {
        let mut bytes = [0; 5];
        loop {
            let (len, from) = socket.recv_from(&mut bytes).await.unwrap();
            socket.send_to(&bytes[..len], from).await.unwrap();
        }
    });
    let (len, bytes, from) = pair.on_client(async move {
        let socket = UdpSocket::bind((CLIENT, 1_053).into()).await.unwrap();
        assert_eq!(socket.send_to(b"longer than 5", at(53)).await.unwrap(), 13);
        let mut bytes = [0; 9];
        let (len, from) = socket.recv_from(&mut bytes).await.unwrap();
        let error = socket.send_to(&[0; 1_473], at(53)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(socket.try_recv_from(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        (len, bytes, from)
    });
    assert_eq!((len, &bytes[..5], from), (5, &b"longe"[..], at(53)));
}

/// The clock is the stack's, and a time-out that does not come is taken back.
#[test]
fn times_come_when_the_clock_says_so() {
    let mut pair = Pair::new();
    let log = Rc::new(RefCell::new(Vec::new()));
    for millis in [5, 1, 3, 3] {
        let log = Rc::clone(&log);
        pair.client.spawn(async move {
            sleep(Duration::from_millis(millis)).await;
            log.borrow_mut().push(millis);
        });
    }
    // A task sleeps from its first poll on.
    pair.client.poll();
    let mut woken = Vec::new();
    for step in 0..60 {
        pair.step();
        while woken.len() < log.borrow().len() {
            woken.push((step, log.borrow()[woken.len()]));
        }
    }
    assert_eq!(woken, [(10, 1), (30, 3), (30, 3), (50, 5)]);
    let outcomes = pair.on_client(async {
        let soon = timeout(Duration::from_secs(60), sleep(Duration::from_millis(1))).await;
        let never = timeout(Duration::from_millis(2), pending::<()>()).await;
        let mut later = pin!(sleep(Duration::ZERO));
        later.reset(Duration::from_millis(1));
        assert!(!later.is_elapsed());
        later.await;
        (soon, never)
    });
    assert_eq!(outcomes, (Ok(()), Err(Elapsed)));
}

/// Whether something was dropped.
struct Dropped(Rc<Cell<bool>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[test]
fn tasks_end_by_result_abort_or_panic() {
    let mut pair = Pair::new();
    let dropped = Rc::new(Cell::new(false));
    let witness = Dropped(Rc::clone(&dropped));
    let aborted = pair.client.spawn(async move {
        let _witness = witness;
        pending::<()>().await;
    });
    let panicked = pair.client.spawn(async { panic!("on purpose") });
    let done = pair.client.spawn(async { Rc::new(7) });
    pair.step();
    assert!(!aborted.is_finished() && !dropped.get());
    aborted.abort();
    assert!(dropped.get());
    assert!(result(aborted).unwrap_err().is_cancelled());
    let error = result(panicked).unwrap_err();
    assert!(error.is_panic());
    assert_eq!(error.try_into_panic().unwrap().downcast_ref(), Some(&"on purpose"));
    assert_eq!(*result(done).unwrap(), 7);
    // One that aborts itself.
    let own = Rc::new(RefCell::new(None::<JoinHandle<()>>));
    let inside = Rc::clone(&own);
    *own.borrow_mut() = Some(pair.client.spawn(async move {
        inside.borrow().as_ref().unwrap().abort();
        yield_now().await;
    }));
    pair.step();
    assert!(result(own.take().unwrap()).unwrap_err().is_cancelled());
    assert!(pair.client.is_idle());
    // Tasks that are left end with their runtime.
    let witness = Dropped(Rc::clone(&dropped));
    dropped.set(false);
    let left = pair.client.spawn(async move {
        let _witness = witness;
        let _stream = TcpStream::connect(at(80)).await;
    });
    pair.client.poll();
    drop(pair);
    assert!(dropped.get() && result(left).unwrap_err().is_cancelled());
}

/// A wake during a poll is seen, and so is the last of many that come at any time.
#[test]
fn other_threads_wake_tasks() {
    const THREADS: usize = 4;
    const TIMES: usize = 2_000;
    let mut runtime = runtime(2, CLIENT);
    let mut polls = 0;
    let during = runtime.spawn(poll_fn(move |context| {
        polls += 1;
        let waker = context.waker().clone();
        std::thread::spawn(move || waker.wake()).join().unwrap();
        if polls < 5 { Poll::Pending } else { Poll::Ready(()) }
    }));
    for _ in 0..5 {
        assert!(!during.is_finished());
        runtime.poll();
    }
    result(during).unwrap();

    let (sum, waker) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None::<Waker>)));
    let (seen, place) = (Arc::clone(&sum), Arc::clone(&waker));
    let at_any_time = runtime.spawn(poll_fn(move |context| {
        *place.lock().unwrap() = Some(context.waker().clone());
        if seen.load(SeqCst) == THREADS * TIMES { Poll::Ready(()) } else { Poll::Pending }
    }));
    runtime.poll();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (sum, waker) = (Arc::clone(&sum), Arc::clone(&waker));
            std::thread::spawn(move || {
                for _ in 0..TIMES {
                    sum.fetch_add(1, SeqCst);
                    let waker = waker.lock().unwrap().clone();
                    waker.unwrap().wake();
                }
            })
        })
        .collect();
    while !threads.iter().all(std::thread::JoinHandle::is_finished) {
        runtime.poll();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    runtime.poll();
    result(at_any_time).unwrap();
    assert_eq!(runtime.block_on(async { spawn(async { 7 }).await.unwrap() }), 7);
}

#[test]
fn connections_finish_before_the_end_or_are_reset() {
    let mut pair = Pair::new();
    let listener = pair.on_server(TcpListener::bind(at(80))).unwrap();
    let server = pair.server.spawn(async move {
        let error = loop {
            match listener.accept().await {
                Ok((mut stream, _)) => drop(spawn(async move {
                    let mut text = String::new();
                    stream.read_to_string(&mut text).await.unwrap();
                    stream.write_all(text.as_bytes()).await.unwrap();
                })),
                Err(error) => break error,
            }
        };
        (error.kind(), TcpListener::bind(at(81)).await.map(|_| ()).map_err(|error| error.kind()))
    });
    let (mut one, other) = pair.on_client(async {
        let mut one = TcpStream::connect(at(80)).await.unwrap();
        one.write_all(b"first").await.unwrap();
        (one, TcpStream::connect(at(80)).await.unwrap())
    });
    // The last handshake ends at the server.
    for _ in 0..10 {
        pair.step();
    }
    pair.server.close_listeners();
    assert_eq!(pair.join(server), (ErrorKind::ConnectionAborted, Err(ErrorKind::ConnectionAborted)));
    let text = pair.on_client(async move {
        one.write_all(b" and last").await.unwrap();
        one.shutdown().await.unwrap();
        let mut text = String::new();
        one.read_to_string(&mut text).await.unwrap();
        text
    });
    assert_eq!(text, "first and last");
    for _ in 0..10 {
        pair.step();
    }
    assert!(!pair.server.is_idle());
    assert_eq!(pair.server.abort(), 1);
    assert!(pair.server.is_idle());
    let error = pair.on_client(async move { { other }.read(&mut [0; 9]).await }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}
