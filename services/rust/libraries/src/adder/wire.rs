// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What hyper reads from and writes to: a connection, and what hyper has no options for.

use core::future::Future as _;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io::{self, ErrorKind};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The end of the answers that hyper gives by itself. All others have a body.
const WITHOUT_BODY: &[u8] = b"content-length: 0\r\n\r\n";
const VERSION: &[u8] = b"HTTP/1.";

#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    timeout: Duration,
    /// Until when the peer has to take something.
    deadline: Option<Pin<Box<Sleep>>>,
    /// The last byte that was read.
    last: u8,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, timeout: Duration) -> Self {
        Self { stream, timeout, deadline: None, last: 0 }
    }

    /// Ends the direction to the peer, and waits for the end of the other one.
    pub(super) async fn close(&mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        let mut room = [0; 1_024];
        while self.stream.read(&mut room).await? > 0 {}
        Ok(())
    }
}

impl AsyncRead for Wire {
    /// A line feed alone is the end of a line for hyper, and not for others. As NUL it is refused.
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let start = room.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, room))?;
        for byte in &mut room.filled_mut()[start..] {
            if *byte == b'\n' && self.last != b'\r' {
                *byte = 0;
            }
            self.last = *byte;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    /// The answers that hyper gives by itself have no sentence. They are left out, and others are written afterwards.
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let kept = without_refusal(bytes);
        if kept.is_empty() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, kept);
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let timeout = self.timeout;
        ready!(self.deadline.get_or_insert_with(|| Box::pin(sleep(timeout))).as_mut().poll(cx));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Something may have to be written afterwards: see [`close`](Wire::close).
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn without_refusal(bytes: &[u8]) -> &[u8] {
    if !bytes.ends_with(WITHOUT_BODY) {
        return bytes;
    }
    let start = bytes.windows(VERSION.len()).rposition(|window| window == VERSION);
    &bytes[..start.unwrap_or(bytes.len())]
}

#[cfg(test)]
mod tests {
    use super::without_refusal;

    #[test]
    fn only_the_last_answer_is_left_out_and_only_without_a_body() {
        let page = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n1 + 2 = 3\n";
        let refusal = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(without_refusal(page), page);
        assert_eq!(without_refusal(&[&page[..], refusal].concat()), page);
        assert_eq!(without_refusal(refusal), b"");
    }
}
