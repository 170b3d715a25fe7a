// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The content of a message, outgoing and received.

use super::{MessageError, Messages};
use bytemuck::{AnyBitPattern, NoUninit};
use core::ffi::{CStr, c_char};
use dpdk_sys as sys;
use std::{
    ffi::CString,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
};

/// The maximum number of bytes in a message.
#[doc(alias = "RTE_MP_MAX_PARAM_LEN")]
pub const MAX_BYTES: usize = sys::RTE_MP_MAX_PARAM_LEN as usize;

/// The maximum number of files in a message: 8 in DPDK 22.11, 253 in newer versions.
#[doc(alias = "RTE_MP_MAX_FD_NUM")]
pub const MAX_FILES: usize = sys::RTE_MP_MAX_FD_NUM as usize;

/// The content to send: up to [`MAX_BYTES`] bytes and up to [`MAX_FILES`] open files, for which the receiver gets its
/// own descriptors.
#[doc(alias = "rte_mp_msg")]
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Outgoing<'a> {
    bytes: &'a [u8],
    files: &'a [BorrowedFd<'a>],
}

impl<'a> Outgoing<'a> {
    /// A message without bytes: its arrival is the information.
    pub const fn empty() -> Self {
        Self { bytes: &[], files: &[] }
    }

    /// A value without padding, which [`Message::read`](super::Message::read) reads back. A value that is too long does
    /// not compile.
    pub fn of<T: NoUninit>(value: &'a T) -> Self {
        const { assert!(size_of::<T>() <= MAX_BYTES, "a message has room for 256 bytes: send it in parts, or by a ring") };
        Self { bytes: bytemuck::bytes_of(value), files: &[] }
    }

    /// Bytes.
    ///
    /// # Errors
    /// [`MessageError::TooLong`] for more than [`MAX_BYTES`].
    pub const fn bytes(bytes: &'a [u8]) -> Result<Self, MessageError> {
        if bytes.len() > MAX_BYTES {
            return Err(MessageError::TooLong(bytes.len()));
        }
        Ok(Self { bytes, files: &[] })
    }

    /// The same content with open files. The receiver reads, writes and maps the files that this process has opened.
    /// Closing one here does not close it there.
    ///
    /// # Errors
    /// [`MessageError::TooManyFiles`] for more than [`MAX_FILES`].
    pub const fn with_files(self, files: &'a [BorrowedFd<'a>]) -> Result<Self, MessageError> {
        if files.len() > MAX_FILES {
            return Err(MessageError::TooManyFiles(files.len()));
        }
        Ok(Self { files, ..self })
    }

    /// The content in DPDK's form, which DPDK copies. The files must stay open until then.
    pub(super) fn raw(&self, name: &CStr) -> sys::rte_mp_msg {
        let mut raw = sys::rte_mp_msg::default();
        // The constructors have checked that nothing is truncated here.
        for (to, from) in raw.name.iter_mut().zip(name.to_bytes()) {
            *to = from.cast_signed();
        }
        for (to, from) in raw.param.iter_mut().zip(self.bytes) {
            *to = *from;
        }
        for (to, from) in raw.fds.iter_mut().zip(self.files) {
            *to = from.as_raw_fd();
        }
        raw.len_param = i32::try_from(self.bytes.len()).unwrap_or(0);
        raw.num_fds = i32::try_from(self.files.len()).unwrap_or(0);
        raw
    }

    /// Duplicates of the file descriptors.
    pub(super) fn own_files(&self) -> std::io::Result<Vec<OwnedFd>> {
        self.files.iter().map(BorrowedFd::try_clone_to_owned).collect()
    }
}

/// Another process's reply to a request.
#[derive(Debug)]
pub struct Reply {
    pub(super) content: Content,
}

impl Reply {
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

    /// The files that came with the reply, until they are taken. Dropping the reply closes the remaining ones.
    pub const fn files(&mut self) -> &mut Vec<OwnedFd> {
        &mut self.content.files
    }
}

/// The content of a received message.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) name: CString,
    bytes: Vec<u8>,
    pub(super) files: Vec<OwnedFd>,
}

impl Content {
    /// Converts what DPDK has received; `None` for an invalid message, whose files are closed all the same.
    ///
    /// # Safety
    /// The caller gives up ownership of the descriptors that the message counts.
    pub(super) unsafe fn of(raw: &sys::rte_mp_msg) -> Option<Self> {
        // SAFETY: the caller gives up ownership of the descriptors.
        let files = unsafe { take_files(raw) };
        let name = text(&raw.name)?;
        let bytes = raw.param.get(..usize::try_from(raw.len_param).ok()?)?.to_vec();
        Some(Self { name, bytes, files })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn read<T: AnyBitPattern>(&self) -> Result<T, MessageError> {
        bytemuck::try_pod_read_unaligned(&self.bytes).map_err(|_| MessageError::Length {
            name: self.name.to_string_lossy().into_owned(),
            asked: size_of::<T>(),
            has: self.bytes.len(),
        })
    }
}

/// The text in an array; `None` without a NUL byte.
fn text(array: &[c_char]) -> Option<CString> {
    let bytes: Vec<u8> = array.iter().map(|&character| character.cast_unsigned()).collect();
    CStr::from_bytes_until_nul(&bytes).ok().map(CStr::to_owned)
}

/// The descriptors that a message counts. If the count exceeds the array, there are none. Negative numbers and
/// duplicates are left out: the kernel gives each received file its own number.
fn file_numbers(raw: &sys::rte_mp_msg) -> Vec<RawFd> {
    let count = usize::try_from(raw.num_fds).unwrap_or(0);
    let mut numbers = Vec::new();
    for &number in raw.fds.get(..count).unwrap_or_default() {
        if number >= 0 && !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

/// The files that came with a message. Programs that this process starts do not inherit them.
///
/// # Safety
/// The caller gives up ownership of the descriptors that the message counts.
unsafe fn take_files(raw: &sys::rte_mp_msg) -> Vec<OwnedFd> {
    // SAFETY: the call sets a flag of a descriptor, or reports that the descriptor does not exist.
    let open = |number: &RawFd| unsafe { sys::dpdk_sys_close_on_exec(*number) } >= 0;
    // SAFETY: the caller gives up ownership of the descriptors, each is open, and none occurs twice.
    file_numbers(raw).into_iter().filter(open).map(|number| unsafe { OwnedFd::from_raw_fd(number) }).collect()
}

impl Messages {
    /// The message name in DPDK's form, after checking that the process may send and that DPDK does not use such names.
    pub(super) fn name(&self, name: &str) -> Result<CString, MessageError> {
        if self.environment.is_forked() {
            return Err(MessageError::Forked(name.to_owned()));
        }
        checked_name(name)
    }
}

/// Checks a name for a message of the program.
fn checked_name(name: &str) -> Result<CString, MessageError> {
    let fits = name.len() < sys::RTE_MP_MAX_NAME_LEN as usize;
    let ours = name.contains('/') && name.bytes().all(|byte| byte.is_ascii_graphic());
    CString::new(name).ok().filter(|_| fits && ours).ok_or_else(|| MessageError::Name(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Content, MAX_BYTES, MAX_FILES, MessageError, Outgoing, checked_name, file_numbers};
    use dpdk_sys::rte_mp_msg;
    use std::os::fd::AsFd;

    fn raw(name: &str) -> rte_mp_msg {
        let mut raw = rte_mp_msg::default();
        for (to, from) in raw.name.iter_mut().zip(name.bytes()) {
            *to = from.cast_signed();
        }
        raw
    }

    fn content(raw: &rte_mp_msg) -> Option<Content> {
        // SAFETY: these messages count no open descriptors.
        unsafe { Content::of(raw) }
    }

    #[test]
    fn names_of_dpdk_are_refused() {
        for name in ["", "/\0", "eal_dev_mp_request", "mp_malloc_request", "with a/space", "für/alle", &"/".repeat(64)]
        {
            assert_eq!(checked_name(name), Err(MessageError::Name(name.to_owned())));
        }
        for name in ["a/b", "/", &"/".repeat(63)] {
            assert_eq!(checked_name(name).map(|name| name.into_bytes().len()), Ok(name.len()));
        }
    }

    #[test]
    fn a_message_is_what_it_was_made_of() {
        let value = [1_u32, 2, 3];
        let came = content(&Outgoing::of(&value).raw(c"a/b")).map(|content| (content.name.clone(), content.read()));
        assert_eq!(came, Some((c"a/b".to_owned(), Ok(value))));
        let most = [7; MAX_BYTES];
        let came = Outgoing::bytes(&most).ok().and_then(|sent| content(&sent.raw(c"a/b")));
        assert_eq!(came.map(|content| content.bytes().to_vec()), Some(most.to_vec()));
        assert_eq!(Outgoing::bytes(&[0; MAX_BYTES + 1]).err(), Some(MessageError::TooLong(MAX_BYTES + 1)));
        let input = std::io::stdin();
        let files = [input.as_fd(); MAX_FILES + 1];
        let refused = Outgoing::empty().with_files(&files).err();
        assert_eq!(refused, Some(MessageError::TooManyFiles(MAX_FILES + 1)));
    }

    #[test]
    fn lengths_and_names_are_not_believed() {
        for len in [-1, i32::MIN, 257, i32::MAX] {
            let mut raw = raw("a/b");
            raw.len_param = len;
            assert!(content(&raw).is_none(), "{len}");
        }
        assert!(content(&raw(&"x".repeat(64))).is_none(), "nothing ends the name");
        let short = content(&Outgoing::of(&[0_u8; 3]).raw(c"a/b")).map(|content| content.read::<u32>());
        assert_eq!(short, Some(Err(MessageError::Length { name: "a/b".to_owned(), asked: 4, has: 3 })));
    }

    #[test]
    fn descriptors_are_looked_at() {
        let mut raw = raw("a/b");
        raw.fds[..8].copy_from_slice(&[5, -1, 5, 6, i32::MIN, 0, 1, 2]);
        let most = i32::try_from(MAX_FILES).unwrap_or(i32::MAX - 1);
        for (count, numbers) in
            [(-1, &[][..]), (0, &[]), (4, &[5, 6]), (8, &[5, 6, 0, 1, 2]), (most + 1, &[]), (i32::MAX, &[])]
        {
            raw.num_fds = count;
            assert_eq!(file_numbers(&raw), numbers, "{count}");
        }
        raw.fds = [i32::MAX; MAX_FILES];
        raw.num_fds = 3;
        assert_eq!(content(&raw).map(|content| content.files.len()), Some(0), "no such descriptor is open");
    }
}
