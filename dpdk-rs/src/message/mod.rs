// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages between a primary process and its secondary ones: a few bytes and open files, over DPDK's own socket.
//!
//! The primary process tells and asks all secondary ones at once, a secondary one its primary. Frames belong into a
//! [ring](crate::Ring): a message is for what happens now and then.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use dpdk_rs::{Eal, message::Outgoing};
//!
//! let (eal, _args) = Eal::init(std::env::args())?;
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
//! A secondary process asks:
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
//! Names have a `/`, such as `program/what`: DPDK's own messages have none, and its handlers believe every byte that they are
//! sent. What comes in is bytes of another process, in any number up to [`MAX_BYTES`]: [`Message::read`] takes them for a
//! value if they are as many, and what they mean is for the handler to check.
//!
//! # What can go wrong between processes
//!
//! - **One request of a name at a time.** While one is under way, another of the same name is [`MessageError::UnderWay`]. A reply
//!   that comes after the time is over is taken for one to the next request of that name: put a number into both where they could
//!   be mistaken for each other.
//! - **All or nothing.** The primary process asks one secondary process after the other, and gets nothing if one of them does not
//!   answer in time, is stopped or is killed meanwhile, or knows no such name: [`MessageError::TimedOut`]. Files in the replies of
//!   the others stay open then: DPDK forgets them.
//! - **Nobody is told that nobody listens.** A message without a handler at the other end is dropped there, which only its log
//!   says. A primary process without secondary ones sends to nobody, and gets no replies.
//! - **Sending waits for room.** The kernel keeps some ten messages for a process (`net.unix.max_dgram_qlen`). While its handler
//!   runs and they are full, whoever sends it another one waits, for ever if the handler does: a request then ends late too, and
//!   no reply to another one comes in meanwhile. While a primary process waits for replies, no secondary process can start.
//! - **One thread** of DPDK calls all handlers of a process, one message after the other. In a handler no request can be made,
//!   since that thread would have to take the reply: [`MessageError::InHandler`]. Keep the message and [`reply`](Message::reply)
//!   on another thread, or use [`Messages::request_async`]. While a primary process attaches or detaches a device, a handler that
//!   makes or drops a port, a pool, a ring or a table waits for the end of that, which waits for replies: it fails after 5 s.
//! - **A peer is trusted**: all processes with a file prefix are of one user, and what they could write to shared memory is worse
//!   than any message. One that sends to the socket what DPDK did not write ends the thread that receives: nothing comes in any
//!   more, and requests time out. How many files a message has is what the sender says; a file that comes where no descriptor is
//!   free ends the thread too.

mod content;
mod handler;
mod request;

pub use content::{MAX_BYTES, MAX_FILES, Outgoing, Reply};
pub use handler::{Handler, Message};
pub use request::PendingReplies;

use crate::{Eal, Errno, eal::Environment, secondary::Secondary};
use core::{fmt, time::Duration};
use dpdk_sys as sys;
use std::sync::Arc;

/// Why a message was not sent, a handler not registered, or a request not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The name is too long, has other characters than DPDK's log can show, or could be one of DPDK's own.
    #[error(
        "message name {0:?} cannot be used: give up to {most} visible ASCII characters, one of them a '/', which DPDK's own names lack",
        most = sys::RTE_MP_MAX_NAME_LEN - 1
    )]
    Name(String),
    /// There are too many bytes.
    #[error("a message of {0} bytes cannot be sent: {MAX_BYTES} are the most")]
    TooLong(usize),
    /// There are too many files.
    #[error("a message with {0} files cannot be sent: {MAX_FILES} are the most")]
    TooManyFiles(usize),
    /// What came has another length than the type that it was taken for.
    #[error("message '{name}' has {has} bytes, {asked} are asked for")]
    Length {
        /// The name.
        name: String,
        /// Bytes of the type asked for.
        asked: usize,
        /// Bytes that came.
        has: usize,
    },
    /// The process has a handler of this name already.
    #[error("messages '{0}' have a handler already")]
    Taken(String),
    /// A child made by `fork` has no messages: they are its parent's.
    #[error("message '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// This process shares nothing with others.
    #[error("message '{0}': this process has no socket for messages: leave out --no-shconf and --in-memory")]
    Off(String),
    /// A handler waits for no replies: it would keep them from coming in.
    #[error(
        "request '{0}' in a handler, which keeps its reply from coming in: make it on another thread, or use request_async"
    )]
    InHandler(String),
    /// Another thread waits for the replies to a request of this name.
    #[error("request '{0}' is under way already: wait for its end, or give it another name")]
    UnderWay(String),
    /// The process that it was for has ended; for a primary process one of them, just now, and others may have got it.
    #[error("message '{name}': the process that it was for has ended: {errno}")]
    Gone {
        /// The name.
        name: String,
        /// DPDK's error.
        errno: Errno,
    },
    /// A process that was asked has not answered.
    #[error("request '{name}': not every process that was asked has answered within {timeout:?}")]
    TimedOut {
        /// The name.
        name: String,
        /// The time that it was given.
        timeout: Duration,
    },
    /// DPDK or the system refused.
    #[error("message '{name}': {call} failed: {errno}")]
    Refused {
        /// The name.
        name: String,
        /// The call.
        call: &'static str,
        /// Its error.
        errno: Errno,
    },
}

impl MessageError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Gone { errno, .. } | Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call that failed, if it is not known why.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }

    /// What a call of DPDK has just left in its error number.
    fn of_call(name: &str, call: &'static str, errno: Errno) -> Self {
        let name = name.to_owned();
        match u32::try_from(errno.get()) {
            Ok(sys::ENOTSUP) => Self::Off(name),
            Ok(sys::ECONNREFUSED | sys::ENOENT) => Self::Gone { name, errno },
            _ => Self::Refused { name, call, errno },
        }
    }
}

/// The messages of this process; from [`Eal::messages`] or [`Secondary::messages`]. A clone is the same. Any thread may use it.
#[derive(Clone)]
pub struct Messages {
    environment: Arc<Environment>,
}

impl Eal {
    /// Messages from and to secondary processes. They can be sent where those can attach: neither with `--no-shconf` nor with
    /// `--in-memory`.
    #[must_use]
    pub fn messages(&self) -> Messages {
        Messages { environment: Arc::clone(self.environment()) }
    }
}

impl Secondary {
    /// Messages from and to the primary process.
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
