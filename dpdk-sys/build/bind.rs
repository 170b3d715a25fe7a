// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Runs bindgen over `src/wrapper.h`, from an allow-list, and compiles the wrappers of static inline functions.

use crate::{
    allow_list::{FUNCTIONS, TYPES, VARIABLES},
    probe::Dpdk,
};
use std::{fs, panic, path::Path};

const HEADER: &str = "src/wrapper.h";
const BUNDLED: &str = "bindings/dpdk-22.11.rs";

/// Writes `bindings.rs` to `out`, and links the wrappers' object code.
pub fn generate(dpdk: &Dpdk, out: &Path) -> Result<(), String> {
    let wrappers = out.join("static_inlines");
    let mut builder = bindgen::Builder::default()
        .header(HEADER)
        .clang_args(&dpdk.cflags)
        .rust_target(bindgen::RustTarget::stable(85, 0).map_err(|error| error.to_string())?)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .use_core()
        .wrap_static_fns(true)
        .wrap_static_fns_path(&wrappers)
        // dpdk-rs accesses an mbuf's fields by the offsets in wrapper.h, and a pool only by pointer.
        .opaque_type("rte_lpm")
        .opaque_type("rte_mbuf")
        .opaque_type("rte_mempool")
        .opaque_type("rte_mempool_cache")
        .opaque_type("rte_memzone.*")
        .opaque_type("rte_rcu_qsbr")
        .opaque_type("rte_ring.*")
        .opaque_type("rte_timer")
        .opaque_type("rte_eth_(conf__bindgen_.*|intr_conf|rxseg|rxseg_capa|txmode)")
        .no_debug("rte_eth_(conf|rxseg)")
        // What only these consist of.
        .blocklist_type("rte_(mbuf|mempool|memzone|ring)__bindgen_.*")
        .blocklist_type("rte_eth_((dcb|vmdq)_.*|nb_pools|rxseg_split)|rte_mbuf_sched")
        .derive_default(true)
        .prepend_enum_name(false)
        .generate_comments(false)
        .merge_extern_blocks(true)
        .layout_tests(true);
    for name in FUNCTIONS {
        builder = builder.allowlist_function(name);
    }
    for name in TYPES {
        builder = builder.allowlist_type(name);
    }
    for name in VARIABLES {
        builder = builder.allowlist_var(name);
    }
    // bindgen panics when it cannot load libclang. This becomes our own message.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| builder.generate()));
    panic::set_hook(hook);
    let bindings = match result {
        Ok(Ok(bindings)) => bindings,
        Ok(Err(error)) => {
            return Err(one_line(&format!("bindgen cannot read DPDK's headers: {error}")));
        }
        Err(_) => return Err("libclang was not found: install the package libclang-dev, or set LIBCLANG_PATH".into()),
    };
    bindings.write_to_file(out.join("bindings.rs")).map_err(|error| format!("cannot write the bindings: {error}"))?;
    compile(dpdk, &wrappers.with_extension("c"))
}

fn compile(dpdk: &Dpdk, source: &Path) -> Result<(), String> {
    let mut build = cc::Build::new();
    for flag in &dpdk.cflags {
        build.flag(flag);
    }
    build
        .file(source)
        .include(".")
        .opt_level(3)
        .warnings(false)
        .try_compile("dpdk_sys_static_inlines")
        .map_err(|error| one_line(&format!("cannot compile the wrappers of DPDK's inline functions: {error}")))
}

/// Copies the checked-in bindings instead of generating them.
pub fn copy_bundled(out: &Path) -> Result<(), String> {
    println!("cargo:rerun-if-changed={BUNDLED}");
    fs::copy(BUNDLED, out.join("bindings.rs"))
        .map(|_| ())
        .map_err(|error| format!("cannot copy the checked-in bindings {BUNDLED}: {error}"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
