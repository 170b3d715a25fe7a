// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Where the JSON object goes.

use crate::{error::Error, report::Report};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process,
};

/// The destination of the result, opened before the run so that an error shows early.
#[derive(Debug)]
pub(crate) enum Output {
    Nowhere,
    Stdout,
    /// A device or a pipe, which must not be replaced by a file.
    Special(PathBuf, File),
    /// A file that gets its name once it is complete.
    File(Unfinished),
}

impl Output {
    pub(crate) fn open(path: Option<&OsStr>) -> Result<Self, Error> {
        let path = match path {
            None => return Ok(Self::Nowhere),
            Some(path) if path == "-" => return Ok(Self::Stdout),
            Some(path) => Path::new(path),
        };
        let special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        if special {
            let file = File::options().write(true).open(path).map_err(|error| cannot_write(path, &error))?;
            return Ok(Self::Special(path.to_owned(), file));
        }
        Unfinished::create(path).map(Self::File).map_err(|error| cannot_write(path, &error))
    }

    /// Writes the result.
    pub(crate) fn write(self, report: &Report) -> Result<(), Error> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stdout => report.write_json(&mut io::stdout()).map_err(|error| cannot_write(Path::new("-"), &error)),
            Self::Special(path, mut file) => report.write_json(&mut file).map_err(|error| cannot_write(&path, &error)),
            Self::File(mut file) => {
                let written = report.write_json(&mut file.file).and_then(|()| file.finish());
                written.map_err(|error| cannot_write(&file.path, &error))
            }
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    Error::Failed(format!("cannot write the result to '{}': {error}", path.display()))
}

/// A file under a temporary name, removed unless it is finished.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
}

impl Unfinished {
    fn create(path: &Path) -> io::Result<Self> {
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
        name.push(format!(".{}.part", process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create(&temporary)?;
        Ok(Self { path: path.to_owned(), temporary, file })
    }

    fn finish(&self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // A finished file no longer has this name.
        let _ = fs::remove_file(&self.temporary);
    }
}
