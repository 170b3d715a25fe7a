// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Streams as those of tokio and of futures-io.

use super::stream::{OwnedReadHalf, OwnedWriteHalf, TcpStream};
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;

impl AsRef<Self> for TcpStream {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The reading traits, for whatever refers to a stream.
macro_rules! read {
    ($reader:ty) => {
        #[cfg(feature = "tokio")]
        impl tokio::io::AsyncRead for $reader {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffer: &mut tokio::io::ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                if buffer.remaining() == 0 {
                    return Poll::Ready(Ok(()));
                }
                let mut put = |bytes: &[u8]| {
                    let len = bytes.len().min(buffer.remaining());
                    buffer.put_slice(&bytes[..len]);
                    len
                };
                TcpStream::poll_read_with((*self).as_ref(), context, &mut put).map_ok(|_| ())
            }
        }

        #[cfg(feature = "futures")]
        impl futures_io::AsyncRead for $reader {
            fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut [u8]) -> Poll<io::Result<usize>> {
                TcpStream::poll_read((*self).as_ref(), context, bytes)
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                pieces: &mut [io::IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                TcpStream::poll_read_vectored((*self).as_ref(), context, pieces)
            }
        }
    };
}

/// The writing traits, for whatever refers to a stream. What is written needs no flush: it leaves with the next poll.
macro_rules! write {
    ($writer:ty) => {
        #[cfg(feature = "tokio")]
        impl tokio::io::AsyncWrite for $writer {
            fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                TcpStream::poll_write((*self).as_ref(), context, bytes)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(TcpStream::close_write((*self).as_ref()))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                pieces: &[io::IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                TcpStream::poll_write_vectored((*self).as_ref(), context, pieces)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }
        }

        #[cfg(feature = "futures")]
        impl futures_io::AsyncWrite for $writer {
            fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                TcpStream::poll_write((*self).as_ref(), context, bytes)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                pieces: &[io::IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                TcpStream::poll_write_vectored((*self).as_ref(), context, pieces)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(TcpStream::close_write((*self).as_ref()))
            }
        }
    };
}

read!(TcpStream);
read!(OwnedReadHalf);
write!(TcpStream);
write!(OwnedWriteHalf);
