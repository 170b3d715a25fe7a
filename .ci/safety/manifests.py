# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Checks what the manifests of the crates let in: other sources, build scripts, crates, and milder lints."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The crates whose code, macros and build scripts are trusted.
CRATES = {
    "dpdk-rs": {"arrayvec", "bytemuck", "dpdk-sys", "serde", "smoltcp", "thiserror", "tracing"},
    "dpdk-sockets/c": {"arrayvec", "dpdk-rs", "dpdk-sockets", "dpdk-sys", "slotmap"},
    "dpdk-sys": {"bindgen", "cc", "pkg-config"},
}
BUILD_SCRIPTS = {"dpdk-rs": None, "dpdk-sockets/c": None, "dpdk-sys": "build/main.rs"}
EDITION = "2024"
# Each `unsafe` operation has a block, and each block one operation and a comment.
LINTS = {
    "rust": {"unsafe_op_in_unsafe_fn"},
    "clippy": {"macro_metavars_in_unsafe", "multiple_unsafe_ops_per_block", "undocumented_unsafe_blocks"},
}


def tables(manifest: dict[str, Any], kind: str) -> Iterator[str]:
    """The names of the dependencies of a kind, also those for some targets."""
    yield from manifest.get(kind, {})
    for target in manifest.get("target", {}).values():
        yield from target.get(kind, {})


def crate_complaints(folder: Path, crate: str) -> Iterator[str]:
    """What is wrong with one of the crates."""
    manifest = tomllib.loads((folder / "Cargo.toml").read_text())
    library, package = manifest.get("lib", {}), manifest.get("package", {})
    if "path" in library or library.get("proc-macro"):
        yield "the library's sources are elsewhere, or it is a macro: this audit reads `src`"
    if package.get("build") != BUILD_SCRIPTS[crate] or (
        BUILD_SCRIPTS[crate] is None and (folder / "build.rs").exists()
    ):
        yield f"its build script is not {BUILD_SCRIPTS[crate] or 'missing'}: a build script can write source text"
    if package.get("edition") not in (EDITION, {"workspace": True}):
        yield f"its edition is not {EDITION}, from which on attributes and `extern` blocks need `unsafe`"
    if crate != "dpdk-sys" and manifest.get("lints") != {"workspace": True}:
        yield "its lints are not those of the workspace"
    for kind in ("dependencies", "build-dependencies"):
        for name in sorted(set(tables(manifest, kind)) - CRATES[crate]):
            yield f"the crate '{name}' is none that this audit knows: it may bring in macros that expand to unsafe code"


def workspace_complaints(root: Path) -> Iterator[str]:
    """What is wrong with what the crates inherit."""
    workspace = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]
    if workspace.get("package", {}).get("edition") != EDITION:
        yield f"the edition is not {EDITION}, from which on attributes and `extern` blocks need `unsafe`"
    for tool, wanted in LINTS.items():
        lints = workspace.get("lints", {}).get(tool, {})
        for name in sorted(wanted):
            if lints.get(name) not in ("deny", "forbid"):
                yield f"the lint {name} is not denied"


def manifest_complaints(root: Path) -> list[str]:
    """What is wrong with the manifests; nothing is expected of a tree without."""
    found: list[str] = []
    if (root / "Cargo.toml").exists():
        found += [f"Cargo.toml: {words}" for words in workspace_complaints(root)]
    for crate in CRATES:
        if (root / crate / "Cargo.toml").exists():
            found += [f"{crate}/Cargo.toml: {words}" for words in crate_complaints(root / crate, crate)]
        for script in sorted((root / crate / "build").rglob("*.rs")):
            if "unsafe" in script.read_text():
                found.append(f"{script.relative_to(root).as_posix()}: a build script has no need of unsafe code")
    return found
