// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Generates the code of the schemas with `capnp`, Cap'n Proto's compiler.

use std::{error::Error, path::Path};

#[allow(clippy::print_stdout, reason = "to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut compiler = capnpc::CompilerCommand::new();
    compiler.src_prefix("schemas").default_parent_module(vec!["libraries".to_owned(), "capnp".to_owned()]);
    for case in ["carsales", "catrank", "eval"] {
        let schema = Path::new("schemas").join(case).with_extension("capnp");
        println!("cargo::rerun-if-changed={}", schema.display());
        compiler.file(schema);
    }
    compiler.run().map_err(|error| format!("{error}: the compiler `capnp` is in the package capnproto"))?;
    Ok(())
}
