// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is told and asked.

use super::{MessageError, Messages, Outgoing, Reply, content::Content, handler::is_in_handler};
use crate::{Errno, eal::Environment};
use core::{fmt, slice, time::Duration};
use dpdk_sys as sys;
use std::{sync::Arc, thread};

impl Messages {
    /// Sends without asking for a reply: from the primary process to all secondary ones, from a secondary process to its primary.
    /// It is no error if there is no secondary process, or if nobody there handles the name.
    ///
    /// # Errors
    /// [`MessageError::Gone`], [`MessageError::Name`], [`MessageError::Off`], [`MessageError::Forked`] or [`MessageError::Refused`].
    #[doc(alias = "rte_mp_sendmsg")]
    pub fn send(&self, name: &str, content: &Outgoing<'_>) -> Result<(), MessageError> {
        let mut raw = content.raw(&self.name(name)?);
        // SAFETY: the EAL is initialised, since `self` keeps it; the call copies the message, whose files are borrowed.
        if unsafe { sys::rte_mp_sendmsg(&raw mut raw) } < 0 {
            return Err(MessageError::of_call(name, "rte_mp_sendmsg", Errno::last()));
        }
        Ok(())
    }

    /// Asks, and waits for the reply of every process that was asked: a primary process asks all secondary ones, of which there may be
    /// none, a secondary process its primary. The order of the replies is any.
    ///
    /// # Errors
    /// [`MessageError::TimedOut`], [`MessageError::UnderWay`], [`MessageError::Gone`], [`MessageError::InHandler`],
    /// [`MessageError::Name`], [`MessageError::Off`], [`MessageError::Forked`] or [`MessageError::Refused`].
    #[doc(alias = "rte_mp_request_sync")]
    pub fn request(&self, name: &str, content: &Outgoing<'_>, timeout: Duration) -> Result<Vec<Reply>, MessageError> {
        let raw = content.raw(&self.name(name)?);
        if is_in_handler() {
            return Err(MessageError::InHandler(name.to_owned()));
        }
        // SAFETY: the EAL is initialised, since `self` keeps it, and the files of the message are borrowed.
        unsafe { ask(name, raw, timeout) }
    }

    /// As [`request`](Self::request), on a thread of its own, which the result waits for. A handler may ask so.
    ///
    /// DPDK's own call for this, `rte_mp_request_async`, is not used: it forgets its callback where nobody is asked, and stops
    /// receiving for ever if a reply comes in at the moment in which its time is over.
    ///
    /// # Errors
    /// [`MessageError::Name`], [`MessageError::Forked`], or [`MessageError::Refused`] if there is no thread or no descriptor left.
    #[doc(alias = "rte_mp_request_async")]
    pub fn request_async(
        &self,
        name: &str,
        content: &Outgoing<'_>,
        timeout: Duration,
    ) -> Result<PendingReplies, MessageError> {
        let c_name = self.name(name)?;
        let failed = |call, error: &std::io::Error| MessageError::Refused {
            name: name.to_owned(),
            call,
            errno: Errno::new(error.raw_os_error().unwrap_or_default()),
        };
        let files = content.own_files().map_err(|error| failed("fcntl", &error))?;
        let mut raw = content.raw(&c_name);
        for (to, from) in raw.fds.iter_mut().zip(&files) {
            *to = std::os::fd::AsRawFd::as_raw_fd(from);
        }
        let asked = name.to_owned();
        let run = move || {
            // SAFETY: the EAL is initialised, since whoever waits for this thread keeps it, and the files of the message are those that
            // this thread owns.
            let replies = unsafe { ask(&asked, raw, timeout) };
            drop(files);
            replies
        };
        let thread = thread::Builder::new().name("dpdk-rs-request".to_owned()).spawn(run);
        let thread = thread.map_err(|error| failed("pthread_create", &error))?;
        Ok(PendingReplies { thread: Some(thread), name: name.to_owned(), environment: Arc::clone(&self.environment) })
    }
}

type Replies = Result<Vec<Reply>, MessageError>;

/// A request that is under way; made by [`Messages::request_async`]. Dropping it waits until it has been answered, or its time is over.
#[must_use = "it is waited for when it is dropped"]
pub struct PendingReplies {
    thread: Option<thread::JoinHandle<Replies>>,
    name: String,
    /// Kept until the thread has ended.
    environment: Arc<Environment>,
}

impl PendingReplies {
    /// Whether [`wait`](Self::wait) would not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(thread::JoinHandle::is_finished)
    }

    /// Waits for the end of the request. In a handler that keeps replies from coming in, and the request times out.
    ///
    /// # Errors
    /// As [`Messages::request`].
    pub fn wait(mut self) -> Result<Vec<Reply>, MessageError> {
        self.join().unwrap_or_else(|| Err(MessageError::Forked(self.name.clone())))
    }

    /// What the thread has come to; `None` if there is none to wait for.
    fn join(&mut self) -> Option<Replies> {
        let thread = self.thread.take()?;
        // A child made by `fork` lacks the thread.
        if self.environment.is_forked() { None } else { thread.join().ok() }
    }
}

impl Drop for PendingReplies {
    fn drop(&mut self) {
        drop(self.join());
    }
}

impl fmt::Debug for PendingReplies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingReplies")
            .field("name", &self.name)
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

/// The longest time, in seconds: DPDK adds it to that since the machine was started.
const LONGEST: u32 = u32::MAX;

/// Sends a request and waits for the replies.
///
/// # Safety
/// The EAL is initialised until this returns, and the files in the message stay open.
unsafe fn ask(name: &str, mut raw: sys::rte_mp_msg, timeout: Duration) -> Replies {
    let time = sys::timespec {
        tv_sec: u32::try_from(timeout.as_secs()).unwrap_or(LONGEST).into(),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    let mut found = sys::rte_mp_reply::default();
    // SAFETY: the caller promises the EAL and the files; the call copies the message, and fills a struct of ours.
    if unsafe { sys::rte_mp_request_sync(&raw mut raw, &raw mut found, &raw const time) } < 0 {
        let errno = Errno::last();
        // It has freed what had come in.
        return Err(match u32::try_from(errno.get()) {
            Ok(sys::ETIMEDOUT) => MessageError::TimedOut { name: name.to_owned(), timeout },
            Ok(sys::EEXIST) => MessageError::UnderWay(name.to_owned()),
            _ => MessageError::of_call(name, "rte_mp_request_sync", errno),
        });
    }
    let count = usize::try_from(found.nb_received).unwrap_or(0);
    let received = if found.msgs.is_null() {
        &[]
    } else {
        // SAFETY: the call has allocated as many messages as it counts, and left them to us.
        unsafe { slice::from_raw_parts(found.msgs, count) }
    };
    // SAFETY: DPDK leaves the descriptors in replies to whoever has asked, which is this call.
    let contents = received.iter().filter_map(|message| unsafe { Content::of(message) });
    let replies = contents.map(|content| Reply { content }).collect();
    // SAFETY: what the call has allocated is freed once, and was copied.
    unsafe { sys::dpdk_sys_mp_reply_free(&raw mut found) };
    Ok(replies)
}
