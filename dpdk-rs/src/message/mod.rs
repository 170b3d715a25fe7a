// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages between a primary process and its secondary processes: a few bytes and open files, over DPDK's own socket.
//!
//! The primary process sends messages and requests to all secondary processes at once, and a secondary process to its
//! primary. Use messages for rare events, and a [ring](crate::Ring) for frames.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use dpdk_rs::{Eal, EalOptions, message::Outgoing};
//!
//! let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
//! let _handler = eal.messages().on("greeter/greet", |message| {
//!     let name = String::from_utf8_lossy(message.bytes()).into_owned();
//!     if let Err(error) = Outgoing::bytes(format!("hello {name}").as_bytes()).and_then(|answer| message.reply(&answer)) {
//!         eprintln!("no greeting for {name}: {error}");
//!     }
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! A secondary process sends a request:
//!
//! ```no_run
//! # fn ask(primary: &dpdk_rs::secondary::Secondary) -> Result<(), Box<dyn std::error::Error>> {
//! use dpdk_rs::message::Outgoing;
//! use std::time::Duration;
//!
//! for reply in primary.messages().request("greeter/greet", &Outgoing::bytes(b"world")?, Duration::from_secs(1))? {
//!     println!("{}", String::from_utf8_lossy(reply.bytes()));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The name of a message contains a `/`, for example `program/what`. DPDK's own names have none, and DPDK's handlers
//! trust every byte that they receive. A received message has the bytes that the other process sent, up to
//! [`MAX_BYTES`] of them. [`Message::read`] converts them to a value if the length matches. Whether the value makes
//! sense is for the handler to check.
//!
//! # What can go wrong between processes
//!
//! - **One request per name at a time.** While a request waits, another one of the same name fails with
//!   [`MessageError::UnderWay`]. A late reply, one that arrives after the timeout, counts as a reply to the next
//!   request of that name: put a number into requests and replies where this matters.
//! - **All or nothing.** The primary process asks one secondary process after another. It gets nothing
//!   ([`MessageError::TimedOut`]) if one of them does not answer in time, is stopped or killed, or has no handler for
//!   the name. The files in the other replies then stay open, since DPDK forgets them.
//! - **A missing handler is not reported.** A process without a handler for a message drops it and only logs that. A
//!   primary process without secondary processes sends to nobody and gets no replies.
//! - **Sending can block.** The kernel queues about ten messages for a process (`net.unix.max_dgram_qlen`). If the
//!   queue is full since a handler is still running, whoever sends another message waits until the handler returns,
//!   without a timeout. A request then ends late too, and no reply to another request is received in the meantime.
//!   While a primary process waits for replies, no secondary process can start.
//! - **One DPDK thread** calls all handlers of a process, one message after another. A handler cannot make a request,
//!   since the same thread would have to receive the reply: [`MessageError::InHandler`]. Keep the message and
//!   [`reply`](Message::reply) on another thread, or use [`Messages::request_async`]. While a primary process attaches
//!   or detaches a device, that operation waits for replies. A handler that creates or drops a port, a pool, a ring or
//!   a table in that time waits for the operation, which therefore fails after 5 s.
//! - **Peers are trusted.** All processes with one file prefix belong to one user, and what they can write to shared
//!   memory is worse than any message. A process that writes other bytes than DPDK's to the socket ends the receiving
//!   thread: nothing is received any more, and requests time out. The number of files in a message is the sender's
//!   claim. A file that arrives when no descriptor is free ends the receiving thread too.

mod content;
mod handler;
mod request;

pub use content::{MAX_BYTES, MAX_FILES, Outgoing, Reply};
pub use handler::{Handler, Message};
pub use request::PendingReplies;

use crate::{Eal, Errno, environment::Environment, secondary::Secondary};
use core::{fmt, time::Duration};
use dpdk_sys as sys;
use std::sync::Arc;

/// Why a message was not sent, a handler was not registered, or a request was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The name is too long, has characters that DPDK's log cannot show, or could be one of DPDK's own names.
    #[error(
        "message name {0:?} cannot be used: give up to {most} visible ASCII characters, one of them a '/', which DPDK's own names lack",
        most = sys::RTE_MP_MAX_NAME_LEN - 1
    )]
    Name(String),
    /// The message has too many bytes.
    #[error("a message of {0} bytes cannot be sent: the maximum is {MAX_BYTES}")]
    TooLong(usize),
    /// The message has too many files.
    #[error("a message with {0} files cannot be sent: the maximum is {MAX_FILES}")]
    TooManyFiles(usize),
    /// The received message has another length than the requested type.
    #[error("message '{name}' has {has} bytes, but the requested type has {asked}")]
    Length {
        /// The name.
        name: String,
        /// The size of the requested type in bytes.
        asked: usize,
        /// The length of the message in bytes.
        has: usize,
    },
    /// The process already has a handler for this name.
    #[error("messages '{0}' already have a handler")]
    Taken(String),
    /// A child process created by `fork` has no messages: they belong to its parent.
    #[error("message '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// This process shares nothing with others.
    #[error("message '{0}': this process has no socket for messages: leave out --no-shconf and --in-memory")]
    Off(String),
    /// A handler cannot wait for replies: it blocks the thread that would receive them.
    #[error(
        "request '{0}' in a handler, which blocks the thread that would receive the reply: make the request on another thread, or use request_async"
    )]
    InHandler(String),
    /// Another thread is waiting for the replies to a request of this name.
    #[error("request '{0}' is already waiting for replies: wait for its end, or use another name")]
    UnderWay(String),
    /// The receiving process has ended. In a primary process, one of the receivers has just ended; others may have
    /// received the message.
    #[error("message '{name}': the receiving process has ended: {errno}")]
    Gone {
        /// The name.
        name: String,
        /// DPDK's error.
        errno: Errno,
    },
    /// A process did not answer the request.
    #[error("request '{name}': not every process answered within {timeout:?}")]
    TimedOut {
        /// The name.
        name: String,
        /// The timeout of the request.
        timeout: Duration,
    },
    /// DPDK or the system refused.
    #[error("message '{name}': {call} failed: {errno}")]
    Refused {
        /// The name.
        name: String,
        /// The name of the function.
        call: &'static str,
        /// Its error.
        errno: Errno,
    },
}

impl MessageError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Gone { errno, .. } | Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the failed function, if the cause is unknown.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }

    /// The error that a DPDK call has just left in `rte_errno`.
    fn of_call(name: &str, call: &'static str, errno: Errno) -> Self {
        let name = name.to_owned();
        match u32::try_from(errno.get()) {
            Ok(sys::ENOTSUP) => Self::Off(name),
            Ok(sys::ECONNREFUSED | sys::ENOENT) => Self::Gone { name, errno },
            _ => Self::Refused { name, call, errno },
        }
    }
}

/// The messages of this process; from [`Eal::messages`] or [`Secondary::messages`]. A clone is the same object. Any
/// thread may use it.
#[derive(Clone)]
pub struct Messages {
    environment: Arc<Environment>,
}

impl Eal {
    /// The messages from and to secondary processes. Sending needs the files by which secondary processes attach: it
    /// fails with `--no-shconf` and with `--in-memory`.
    #[must_use]
    pub fn messages(&self) -> Messages {
        Messages { environment: Arc::clone(self.environment()) }
    }
}

impl Secondary {
    /// The messages from and to the primary process.
    #[must_use]
    pub fn messages(&self) -> Messages {
        Messages { environment: Arc::clone(self.environment()) }
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").finish_non_exhaustive()
    }
}
