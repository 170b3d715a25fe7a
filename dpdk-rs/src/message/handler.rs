// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a process does with messages that come in.

use super::{MessageError, Messages, Outgoing, content::Content};
use crate::{
    Errno,
    callback::{Callbacks, Uncancelled},
    eal::Environment,
};
use bytemuck::AnyBitPattern;
use core::{
    cell::Cell,
    ffi::{c_int, c_void},
    fmt,
    ptr::NonNull,
};
use dpdk_sys as sys;
use std::{ffi::CString, os::fd::OwnedFd, sync::Arc};

/// A message of another process, given to a [`Handler`]'s closure. It may be kept, and answered later and by another thread; it keeps
/// the EAL meanwhile.
pub struct Message {
    environment: Arc<Environment>,
    content: Content,
    /// The path of the socket that it came from.
    peer: CString,
}

impl Message {
    /// Its bytes: as many as the other process has sent, and whatever it has sent.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.content.bytes()
    }

    /// Its bytes as a value.
    ///
    /// # Errors
    /// [`MessageError::Length`] if they are more or fewer.
    pub fn read<T: AnyBitPattern>(&self) -> Result<T, MessageError> {
        self.content.read()
    }

    /// The files that came with it, until they are taken. What is left of them is closed when this is dropped.
    pub const fn files(&mut self) -> &mut Vec<OwnedFd> {
        &mut self.content.files
    }

    /// Answers a request. To what was sent without asking nobody waits for an answer: the other process drops it, and its log says so.
    ///
    /// # Errors
    /// [`MessageError::Gone`] if a primary process that asked has ended, [`MessageError::Forked`] or [`MessageError::Refused`]. That a
    /// secondary process has ended is no error.
    #[doc(alias = "rte_mp_reply")]
    pub fn reply(self, answer: &Outgoing<'_>) -> Result<(), MessageError> {
        let name = self.content.name.to_string_lossy();
        if self.environment.is_forked() {
            return Err(MessageError::Forked(name.into_owned()));
        }
        let mut raw = answer.raw(&self.content.name);
        // SAFETY: the EAL is initialised, since this message keeps it; the call copies the message, whose files are borrowed, and the
        // path.
        if unsafe { sys::rte_mp_reply(&raw mut raw, self.peer.as_ptr()) } < 0 {
            return Err(MessageError::of_call(&name, "rte_mp_reply", Errno::last()));
        }
        Ok(())
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("name", &self.content.name)
            .field("bytes", &self.bytes())
            .field("files", &self.content.files)
            .finish_non_exhaustive()
    }
}

struct Entry {
    environment: Arc<Environment>,
    closure: Box<dyn FnMut(Message) + Send>,
}

/// What handles messages, by their names.
static HANDLERS: Callbacks<CString, Entry> = Callbacks::new();

thread_local! {
    /// Whether this thread is the one that receives, and is in a handler.
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a handler.
pub(super) fn is_in_handler() -> bool {
    IN_HANDLER.get()
}

/// Handles the messages of a name, until it is dropped; made by [`Messages::on`].
#[must_use = "messages are handled until this is dropped"]
pub struct Handler {
    environment: Arc<Environment>,
    name: CString,
}

impl Messages {
    /// Has `handle` called with each message of this name that other processes send or ask.
    ///
    /// The closure runs on a thread of DPDK, one call at a time, and no other message of this process is handled meanwhile. A panic
    /// in it is caught, and a request is not answered then. When the [`Handler`] is dropped, the drop waits for a call that is under
    /// way.
    ///
    /// # Errors
    /// [`MessageError::Taken`], [`MessageError::Name`], [`MessageError::Off`], [`MessageError::Forked`] or [`MessageError::Refused`].
    #[doc(alias = "rte_mp_action_register")]
    pub fn on(&self, name: &str, handle: impl FnMut(Message) + Send + 'static) -> Result<Handler, MessageError> {
        let c_name = self.name(name)?;
        let environment = Arc::clone(&self.environment);
        let entry = Entry { environment: Arc::clone(&environment), closure: Box::new(handle) };
        if !HANDLERS.add(c_name.clone(), entry) {
            return Err(MessageError::Taken(name.to_owned()));
        }
        // SAFETY: the EAL is initialised, since `self` keeps it; the call copies the name. `receive` is called with a message and the
        // path of a socket.
        if unsafe { sys::rte_mp_action_register(c_name.as_ptr(), Some(receive)) } < 0 {
            let errno = Errno::last();
            HANDLERS.remove(&c_name);
            return Err(match u32::try_from(errno.get()) {
                Ok(sys::EEXIST) => MessageError::Taken(name.to_owned()),
                _ => MessageError::of_call(name, "rte_mp_action_register", errno),
            });
        }
        Ok(Handler { environment, name: c_name })
    }
}

impl Handler {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }
}

impl Drop for Handler {
    #[doc(alias = "rte_mp_action_unregister")]
    fn drop(&mut self) {
        // In a child made by `fork` the locks may be held by threads that it lacks.
        if self.environment.is_forked() {
            return;
        }
        // SAFETY: the EAL is initialised, since this handler keeps it; the call compares the name with others under a lock of its own.
        unsafe { sys::rte_mp_action_unregister(self.name.as_ptr()) };
        // DPDK may have looked the function up before: that finds nothing under the name.
        HANDLERS.remove(&self.name);
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// While it lives, this thread is in a handler.
struct InHandler {
    _uncancelled: Uncancelled,
}

impl InHandler {
    fn enter() -> Self {
        IN_HANDLER.set(true);
        Self { _uncancelled: Uncancelled::hold() }
    }
}

impl Drop for InHandler {
    fn drop(&mut self) {
        IN_HANDLER.set(false);
    }
}

/// What DPDK calls for each message; negative if nothing has come of it, which its log says.
///
/// # Safety
/// `message` is one that DPDK has received, whose descriptors are nobody's else. `peer` is a string of at most as many bytes as the path
/// of a socket has.
unsafe extern "C" fn receive(message: *const sys::rte_mp_msg, peer: *const c_void) -> c_int {
    let _inside = InHandler::enter();
    let (Some(message), Some(peer)) = (NonNull::new(message.cast_mut()), NonNull::new(peer.cast_mut())) else {
        return -1;
    };
    // SAFETY: the caller promises a message.
    let message = unsafe { message.as_ref() };
    // SAFETY: the caller promises that the descriptors are nobody's else.
    let Some(content) = (unsafe { Content::of(message) }) else { return -1 };
    // SAFETY: the caller promises a string within the path of a socket.
    let Some(peer) = (unsafe { path(peer.cast()) }) else { return -1 };
    let name = content.name.clone();
    let handled = HANDLERS.call(&name, |entry| {
        (entry.closure)(Message { environment: Arc::clone(&entry.environment), content, peer });
    });
    if handled.is_some() { 0 } else { -1 }
}

/// The most bytes of a socket's path, as in `struct sockaddr_un`.
const MAX_PATH: usize = 108;

/// The path of a socket; `None` if nothing ends it.
///
/// # Safety
/// There are [`MAX_PATH`] bytes, or a NUL byte before.
unsafe fn path(start: NonNull<u8>) -> Option<CString> {
    let mut bytes = Vec::new();
    for index in 0..MAX_PATH {
        // SAFETY: the caller promises as many bytes, or a NUL byte before, behind which this does not come.
        let byte = unsafe { start.add(index) };
        // SAFETY: the byte is one of those that the caller promises.
        match unsafe { byte.read() } {
            0 => return CString::new(bytes).ok(),
            other => bytes.push(other),
        }
    }
    None
}
