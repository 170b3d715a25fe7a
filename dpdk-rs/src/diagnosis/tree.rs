// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A simulated machine: a folder with the files that a test needs, removed after the test.
#![allow(clippy::unwrap_used)]

use super::host::Host;
use std::{
    env, fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

pub(super) struct Tree(PathBuf);

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

impl Tree {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("dpdk-rs-tree-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(super) fn place(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    fn with_parent(&self, path: &str) -> PathBuf {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        place
    }

    pub(super) fn file(self, path: &str, text: &str) -> Self {
        fs::write(self.with_parent(path), text).unwrap();
        self
    }

    pub(super) fn folder(self, path: &str) -> Self {
        fs::create_dir_all(self.place(path)).unwrap();
        self
    }

    pub(super) fn link(self, path: &str, target: impl AsRef<Path>) -> Self {
        symlink(target, self.with_parent(path)).unwrap();
        self
    }

    pub(super) fn mode(self, path: &str, mode: u32) -> Self {
        fs::set_permissions(self.place(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// The user and the group that own the test's files.
    pub(super) fn owner(&self, path: &str) -> (u32, u32) {
        let metadata = fs::metadata(self.place(path)).unwrap();
        (metadata.uid(), metadata.gid())
    }

    pub(super) fn host(&self) -> Host {
        Host::at(&self.0)
    }
}
