// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sending messages, and requests that wait for replies.

use super::{MessageError, Messages, Outgoing, Reply, content::Content, handler::is_in_handler};
use crate::{Errno, environment::Environment};
use core::{fmt, slice, time::Duration};
use dpdk_sys as sys;
use std::{sync::Arc, thread};

impl Messages {
    /// Sends a message without asking for a reply: from the primary process to all secondary processes, or from a
    /// secondary process to its primary. There is no error if no secondary process exists or has a handler for the
    /// name.
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

    /// Sends a request and waits for the reply of every process that receives it. A primary process asks all secondary
    /// processes, if any; a secondary process asks its primary. The replies are in no particular order.
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

    /// Like [`request`](Self::request), on a new thread, for which the result waits. A handler may call this.
    ///
    /// DPDK's own function for this purpose, `rte_mp_request_async`, is not used: it forgets its callback if there is
    /// no process to ask, and stops receiving for ever if a reply arrives at the moment of the timeout.
    ///
    /// # Errors
    /// [`MessageError::Name`], [`MessageError::Forked`], or [`MessageError::Refused`] if no thread or no descriptor is
    /// available.
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
            // SAFETY: the EAL is initialised, since whoever waits for this thread keeps it alive, and this thread owns
            // the files of the message.
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

/// A request that is waiting for replies; from [`Messages::request_async`]. Dropping it waits for the replies or the
/// timeout.
#[must_use = "it is waited for when it is dropped"]
pub struct PendingReplies {
    thread: Option<thread::JoinHandle<Replies>>,
    name: String,
    /// Kept until the thread has ended.
    environment: Arc<Environment>,
}

impl PendingReplies {
    /// Whether [`wait`](Self::wait) would return at once.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(thread::JoinHandle::is_finished)
    }

    /// Waits for the end of the request. In a handler, the wait blocks the thread that receives the replies, so the
    /// request times out.
    ///
    /// # Errors
    /// The errors of [`Messages::request`].
    pub fn wait(mut self) -> Result<Vec<Reply>, MessageError> {
        self.join().unwrap_or_else(|| Err(MessageError::Forked(self.name.clone())))
    }

    /// The thread's result; `None` if there is no thread to wait for.
    fn join(&mut self) -> Option<Replies> {
        let thread = self.thread.take()?;
        // A child process created by `fork` lacks the thread.
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

/// The maximum timeout in seconds: DPDK adds it to the time since the machine started.
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
        // The call has freed the replies that had arrived.
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
        // SAFETY: the call has allocated `count` messages, which this process now owns.
        unsafe { slice::from_raw_parts(found.msgs, count) }
    };
    // SAFETY: DPDK leaves the descriptors in replies to the caller of the request, which is this function.
    let contents = received.iter().filter_map(|message| unsafe { Content::of(message) });
    let replies = contents.map(|content| Reply { content }).collect();
    // SAFETY: the call allocated this memory, its content was copied, and it is freed once.
    unsafe { sys::dpdk_sys_mp_reply_free(&raw mut found) };
    Ok(replies)
}
