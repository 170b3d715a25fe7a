# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is found in the machine code of a kernel: of a program made here for the purpose."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.bench.count.binary import BinaryError
from testbed.parsing.code import Program, memory_function

# `.rept` and `.p2align` make padding, which is not counted.
SOURCE = """\
    .macro function name
    .globl \\name
    .type \\name, @function
    .p2align 4
\\name:
    .endm
    .macro finish name
    .size \\name, . - \\name
    .endm
    .text

    function pb_w1_plain
    test %rdi, %rdi
    je 1f
    jmp 2f
1:  xor %eax, %eax
2:  nop
    ret
    finish pb_w1_plain

    function pb_w1_busy
    cmp $4, %rsi
    jb 1f
    call memcpy@PLT
    call *malloc@GOTPCREL(%rip)
    call copies
    call copies
    jmp *%rax
1:  call core_panicking_panic_bounds_check
    ud2
    finish pb_w1_busy

    function pb_w1_passes_on
    jmp c_kernel
    finish pb_w1_passes_on

    function copies
    test %rdi, %rdi
    jne 1f
    call deeper
    ret
1:  jmp slice_start_index_len_fail
    finish copies

    function deeper
    call copies
    ret
    finish deeper

    function c_kernel
    mov %rdi, %rax
    ret
    finish c_kernel

    function core_panicking_panic_bounds_check
    call deeper
    ud2
    finish core_panicking_panic_bounds_check

    function slice_start_index_len_fail
    ud2
    finish slice_start_index_len_fail

    function main
    xor %eax, %eax
    ret
    finish main
    .section .note.GNU-stack,"",@progbits
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    if shutil.which("cc") is None or shutil.which("objdump") is None:
        pytest.skip("'cc' or 'objdump' is not installed")
    folder = tmp_path_factory.mktemp("code")
    source, path = folder / "kernels.s", folder / "kernels"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-o", str(path), str(source)], check=True)
    return Program(path)


def test_a_kernel_without_calls(program: Program) -> None:
    code = program.kernel("pb_w1_plain")
    # The nop is padding to whoever reads machine code, and a jump always taken is no branch.
    assert (code.instructions, code.branches, code.calls, code.panic_paths) == (5, 1, 0, 0)
    assert (code.reachable_instructions, code.reachable_panic_paths, code.callees) == (5, 0, [])


def test_calls_by_what_they_are_for(program: Program) -> None:
    code = program.kernel("pb_w1_busy")
    assert (code.calls, code.panic_paths, code.branches) == (5, 1, 1)
    assert code.memory_calls == {"malloc": 1, "memcpy": 1}
    assert code.callees == ["copies"]
    # Eight of its own, five of `copies`, two of `deeper`, each once; what panics is not looked into.
    assert code.instructions == 8
    assert code.reachable_instructions == 8 + 5 + 2
    assert (code.reachable_panic_paths, code.reachable_memory_calls) == (2, 2)


def test_a_jump_to_another_function_is_a_call(program: Program) -> None:
    code = program.kernel("pb_w1_passes_on")
    assert (code.instructions, code.calls, code.callees, code.reachable_instructions) == (1, 1, ["c_kernel"], 3)


def test_a_symbol_that_is_not_there(program: Program) -> None:
    with pytest.raises(BinaryError, match="has no function 'pb_w9_none'"):
        program.kernel("pb_w9_none")


def test_names(program: Program) -> None:
    assert {"pb_w1_plain", "c_kernel", "main"} <= program.names()


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("__rustc::__rust_alloc", "malloc"),
        ("__rustc[1a2b]::__rust_dealloc", "free"),
        ("__rdl_realloc", "realloc"),
        ("memmove", "memmove"),
        ("bcmp", "bcmp"),
        ("free", "free"),
        ("alloc::vec::Vec<T,A>::push", None),
        ("memory_of", None),
        ("freeze", None),
    ],
)
def test_names_of_memory_functions(name: str, counted: str | None) -> None:
    assert memory_function(name) == counted


def test_a_missing_program(tmp_path: Path) -> None:
    with pytest.raises(BinaryError):
        Program(tmp_path / "none")
