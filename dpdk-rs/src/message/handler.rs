// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Handlers of received messages.

use super::{MessageError, Messages, Outgoing, content::Content};
use crate::{
    Errno,
    callback::{Callbacks, Uncancelled},
    environment::Environment,
    sync::global,
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

/// A message from another process, passed to a [`Handler`]'s closure. It can be kept, and answered later and by another
/// thread. It keeps the EAL alive.
pub struct Message {
    environment: Arc<Environment>,
    content: Content,
    /// The path of the sender's socket.
    peer: CString,
}

impl Message {
    /// Its bytes, exactly as the other process sent them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.content.bytes()
    }

    /// Its bytes as a value.
    ///
    /// # Errors
    /// [`MessageError::Length`] if the message is longer or shorter than a `T`.
    pub fn read<T: AnyBitPattern>(&self) -> Result<T, MessageError> {
        self.content.read()
    }

    /// The files that came with the message, until they are taken. Dropping the message closes the remaining ones.
    pub const fn files(&mut self) -> &mut Vec<OwnedFd> {
        &mut self.content.files
    }

    /// Answers a request. If the message was sent without asking for a reply, the other process drops the answer and
    /// logs that.
    ///
    /// # Errors
    /// [`MessageError::Gone`] if the primary process that asked has ended, [`MessageError::Forked`] or
    /// [`MessageError::Refused`]. If a secondary process that asked has ended, there is no error.
    #[doc(alias = "rte_mp_reply")]
    pub fn reply(self, answer: &Outgoing<'_>) -> Result<(), MessageError> {
        let name = self.content.name.to_string_lossy();
        if self.environment.is_forked() {
            return Err(MessageError::Forked(name.into_owned()));
        }
        let mut raw = answer.raw(&self.content.name);
        // SAFETY: the EAL is initialised, since this message keeps it alive. The call copies the message, whose files
        // are borrowed, and the path.
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

global! {
    /// The handlers, by name.
    static HANDLERS: Callbacks<CString, Entry> = Callbacks::new();
}

thread_local! {
    /// Whether this is the receiving thread and is running a handler.
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running a handler.
pub(super) fn is_in_handler() -> bool {
    IN_HANDLER.get()
}

/// Handles the messages of one name until it is dropped; from [`Messages::on`].
#[must_use = "messages are handled until this is dropped"]
pub struct Handler {
    environment: Arc<Environment>,
    name: CString,
}

impl Messages {
    /// Calls `handle` with each message of this name that another process sends or asks.
    ///
    /// The closure runs on a DPDK thread, one call at a time, and no other message of this process is handled during
    /// the call. A panic in the closure is caught, and a request then gets no reply. Dropping the [`Handler`] waits for
    /// a call that is running.
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
        // SAFETY: the EAL is initialised, since `self` keeps it alive. The call copies the name. DPDK calls `receive`
        // with a message and the path of a socket.
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
    /// The name of the handled messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }
}

impl Drop for Handler {
    #[doc(alias = "rte_mp_action_unregister")]
    fn drop(&mut self) {
        // In a child process created by `fork`, threads that it lacks may hold the locks.
        if self.environment.is_forked() {
            return;
        }
        // SAFETY: the EAL is initialised, since this handler keeps it alive. The call compares the name with others
        // under its own lock.
        unsafe { sys::rte_mp_action_unregister(self.name.as_ptr()) };
        // DPDK may have looked up the function before that: `receive` then finds no handler for the name.
        HANDLERS.remove(&self.name);
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// While this object lives, the thread counts as running a handler.
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

/// The function that DPDK calls for each message. Returns a negative number if nobody handled it; DPDK then logs that.
///
/// # Safety
/// `message` is one that DPDK has received, and nobody else owns its descriptors. `peer` is a string that is not longer
/// than the path of a socket.
unsafe extern "C" fn receive(message: *const sys::rte_mp_msg, peer: *const c_void) -> c_int {
    let _inside = InHandler::enter();
    let (Some(message), Some(peer)) = (NonNull::new(message.cast_mut()), NonNull::new(peer.cast_mut())) else {
        return -1;
    };
    // SAFETY: the caller promises a message.
    let message = unsafe { message.as_ref() };
    // SAFETY: the caller promises that nobody else owns the descriptors.
    let Some(content) = (unsafe { Content::of(message) }) else { return -1 };
    // SAFETY: the caller promises a string that is not longer than the path of a socket.
    let Some(peer) = (unsafe { path(peer.cast()) }) else { return -1 };
    let name = content.name.clone();
    let handled = HANDLERS.call(&name, |entry| {
        (entry.closure)(Message { environment: Arc::clone(&entry.environment), content, peer });
    });
    if handled.is_some() { 0 } else { -1 }
}

/// The maximum length of a socket's path in bytes, as in `struct sockaddr_un`.
const MAX_PATH: usize = 108;

/// The path of a socket; `None` without a NUL byte.
///
/// # Safety
/// There are [`MAX_PATH`] bytes, or fewer that end with a NUL byte.
unsafe fn path(start: NonNull<u8>) -> Option<CString> {
    let mut bytes = Vec::new();
    for index in 0..MAX_PATH {
        // SAFETY: the caller promises this many bytes, or a NUL byte after which the loop does not continue.
        let byte = unsafe { start.add(index) };
        // SAFETY: the byte is one of the promised ones.
        match unsafe { byte.read() } {
            0 => return CString::new(bytes).ok(),
            other => bytes.push(other),
        }
    }
    None
}
