// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! DPDK's error numbers.

use core::{ffi::CStr, fmt};

/// An error number of DPDK or of the system, always positive. It is displayed in the words of `rte_strerror`.
#[doc(alias = "rte_errno")]
#[doc(alias = "rte_strerror")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(i32);

impl Errno {
    /// `EBUSY`.
    pub(crate) const BUSY: Self = Self(dpdk_sys::EBUSY as i32);

    /// `ENOMEM`.
    pub(crate) const NO_MEMORY: Self = Self(dpdk_sys::ENOMEM as i32);

    /// Converts an error number of either sign, such as that of `std::io::Error::raw_os_error`.
    #[must_use]
    pub const fn new(number: i32) -> Self {
        Self(number.wrapping_abs())
    }

    /// The number, as in `errno.h`.
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }

    /// The calling thread's `rte_errno`.
    pub(crate) fn last() -> Self {
        // SAFETY: the call reads a variable of this thread, which exists even without an EAL.
        Self::new(unsafe { dpdk_sys::dpdk_sys_errno() })
    }

    /// Sets the calling thread's `rte_errno` to this number.
    pub(crate) fn set(self) {
        // SAFETY: the call writes a variable of this thread, which exists even without an EAL.
        unsafe { dpdk_sys::dpdk_sys_set_errno(self.0) };
    }

    /// Advice to append to the error of a creation; empty if the error needs none.
    pub(crate) const fn remedy(self) -> &'static str {
        match self.0 {
            12 => ": request less, or give the EAL more memory (-m MEGABYTES, or more hugepages)",
            17 => ": the name is in use, or its last object has not been freed yet",
            _ => "",
        }
    }

    /// Applies the convention of most calls: a negative result is an error, any other is the value.
    pub(crate) const fn check(result: i32) -> Result<i32, Self> {
        if result < 0 { Err(Self::new(result)) } else { Ok(result) }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the call takes any number, and writes only to a buffer of this thread.
        let text = unsafe { dpdk_sys::rte_strerror(self.0) };
        // Copied before it is written, since the formatter may format other error numbers in the meantime.
        // SAFETY: `rte_strerror` returned a string that lives until this thread's next call of it, which comes after
        // this use.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        f.write_str(&text)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({}: {self})", self.0)
    }
}

impl core::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::Errno;
    use core::fmt::{self, Write};

    #[test]
    fn sign_does_not_matter() {
        assert_eq!(Errno::new(-22), Errno::new(22));
        assert_eq!(Errno::check(-12), Err(Errno::new(12)));
        assert_eq!(Errno::check(3), Ok(3));
    }

    /// Formats another error number each time it is written to, and stores the text that it gets with the text of that
    /// number.
    struct Formats(Vec<(String, String)>);

    impl Write for Formats {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let before = text.to_owned();
            assert_eq!(Errno::new(12).to_string(), "Cannot allocate memory");
            self.0.push((before, text.to_owned()));
            Ok(())
        }
    }

    #[test]
    fn words_do_not_change_while_a_formatter_has_them() {
        let mut formats = Formats(Vec::new());
        assert_eq!(write!(formats, "{}", Errno::new(22)), Ok(()));
        assert!(formats.0.iter().all(|(before, after)| before == after), "{:?}", formats.0);
    }

    #[test]
    fn words_are_those_of_dpdk() {
        assert_eq!(Errno::new(12).to_string(), "Cannot allocate memory");
        assert_eq!(Errno::new(17).to_string(), "File exists");
    }
}
