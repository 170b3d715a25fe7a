// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why the EAL did not start.

use crate::error::{Error, UsageError};
use dpdk_rs::{
    EalError, Errno,
    diagnosis::{self, Finding},
};

/// `EACCES`: the EAL's number where it finds no hugepages that it may use.
const NO_HUGEPAGES: Errno = Errno::new(13);

/// Why the EAL did not start with these arguments. If another process holds the file prefix, the EAL sets no error number.
pub(crate) fn diagnose_init(eal_args: &[String], error: &EalError) -> Error {
    if *error == EalError::NoArguments {
        return UsageError::NoPortMask.into();
    }
    match diagnosis::of_start(eal_args, error).first() {
        Some(finding @ Finding::PrefixInUse { .. }) => Error::failed(format!("cannot initialize the EAL: {finding}")),
        _ if error.errno() == Some(NO_HUGEPAGES) => Error::failed(format!(
            "{error}: reserve hugepages that this user may use, such as by echo 512 \
             >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages, or give --no-huge"
        )),
        _ => Error::failed(error),
    }
}
