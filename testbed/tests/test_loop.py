# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is found in a loop's machine code, by lines such as objdump prints; and whose function is whose."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from testbed.bench.count import binary
from testbed.bench.count.binary import Component, Member, Symbol, component_of, member_of, parse_archives, parse_symbols
from testbed.bench.count.callgrind import Call, Function, Profile
from testbed.bench.count.instructions import Counted, share_out
from testbed.bench.count.loop import Rule, breaches, broken_rules, code_at, parse_disassembly
from testbed.bench.count.loop_command import how_often

# A loop from 10 to 2a, and what follows it. What is not executed stands after `ret`.
CODE = """\

program:     file format elf64-x86-64


Disassembly of section .text:

0000000000000010 <loop>:
      10:\tmov    (%rax),%rcx
      13:\tcmp    %rdi,%rcx
      16:\tjae    {first:x} <loop+0x30>
      18:\t{body}
      1c:\tjbe    {second:x} <loop+0x50>
      1e:\txchg   %ax,%ax
      20:\tadd    $0x8,%rax
      24:\tjne    10 <loop>
      26:\tret
      30:\tmov    %rdi,%rsi
      33:\tcall   200 <core::panicking::panic_bounds_check>
      38:\tud2
      40:\tmov    %rdi,%rsi
      43:\tjmp    30 <loop+0x20>
      48:\tcall   300 <drop_runts>
      4d:\tjmp    30 <loop+0x20>
      50:\tje     20 <loop+0x10>
      52:\tcall   *0x2000(%rip)        # 9000 <_GLOBAL_OFFSET_TABLE_+0x10>
      58:\tud2
      60:\tjmp    400 <core::slice::index::slice_index_fail>
      68:\tcall   500 <abort@plt>
"""
HOT = {0x10, 0x13, 0x16, 0x18, 0x1C, 0x1E, 0x20, 0x24}


def rules(first: int = 0x26, second: int = 0x26, body: str = "nop") -> list[Rule]:
    code = parse_disassembly(CODE.format(first=first, second=second, body=body))
    assert code[-1].address == 0x68
    return [rule for rule, _ in broken_rules(code, HOT, HOT | {0x26})]


def test_a_clean_loop_breaks_no_rule() -> None:
    assert rules() == []


@pytest.mark.parametrize("body", ["call   200 <f>", "call   *0x40(%rax)", "call   20 <f@plt>", "addr32 call 200 <f>"])
def test_a_call(body: str) -> None:
    assert rules(body=body) == [Rule.CALL]


@pytest.mark.parametrize("body", ["lock incq 0x28(%rdi)", "lock cmpxchg %ecx,(%rdx)", "xchg   %rax,(%rdi)"])
def test_an_atomic_operation(body: str) -> None:
    assert rules(body=body) == [Rule.ATOMIC]


@pytest.mark.parametrize(
    "target", [0x30, 0x40, 0x50, 0x60, 0x68], ids=["at once", "after a jump", "trap", "tail call", "C's abort"]
)
def test_a_branch_to_a_panic(target: int) -> None:
    assert rules(first=target) == [Rule.PANIC]
    assert rules(second=target) == [Rule.PANIC]


def test_a_function_that_is_called_first_may_panic_later() -> None:
    assert rules(first=0x48) == []


SOURCE = """\
#include <stdlib.h>
volatile int limit;
__attribute__((noinline)) int loop(const int *numbers, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        if (numbers[i] > limit)
            abort();
        sum += numbers[i];
    }
    return sum;
}
int main(int argc, char **argv) { (void)argv; return loop(&argc, 1); }
"""


def test_a_panic_that_the_compiler_has_put_elsewhere(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("'cc' is not installed")
    (tmp_path / "program.c").write_text(SOURCE)
    program = tmp_path / "program"
    subprocess.run([compiler, "-O2", "-o", program, tmp_path / "program.c"], check=True)
    by_name = {symbol.name: symbol for symbol in binary.symbols(program)}
    if "loop.cold" not in by_name:
        pytest.skip("this compiler leaves unlikely code where it is")
    symbol = by_name["loop"]
    function, profile = Function(str(program), "loop"), Profile()
    profile.instructions[function] = Counter(
        {instruction.address: 1000 for instruction in code_at(program, symbol.address)}
    )
    profile.self_cost[function] = profile.instructions[function].total()
    found = breaches(Counted("program", program, function, packets=1000, polls=1, profile=profile))
    assert [breach.rule for breach in found] == [Rule.PANIC]


def test_how_often_an_instruction_is_executed() -> None:
    assert [how_often(times) for times in (1, 2, 3, 5, 96, 24, 0.5)] == [
        *("a round", "an empty poll", "a burst", "a poll", "a packet", "0.25 a packet", "0.50 a round")
    ]


SYMBOLS = """\

Symbol table '.symtab' contains 7 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND
     1: 0000000000000000     0 FILE    LOCAL  DEFAULT  ABS x.c
     2: 0000000000000100    16 FUNC    LOCAL  DEFAULT   15 local
     3: 0000000000000200    32 OBJECT  LOCAL  DEFAULT   15 data
     4: 0000000000000050  0x20 FUNC    GLOBAL DEFAULT   15 global
     5: 0000000000000100    16 FUNC    GLOBAL DEFAULT   15 alias
     6: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND elsewhere@VERSION (2)
"""


def test_symbols_are_functions_by_address() -> None:
    listed = parse_symbols(SYMBOLS)
    assert listed == [Symbol(0x50, 32, "global"), Symbol(0x100, 16, "alias")]
    assert [binary.index_at(listed, address) for address in (0x4F, 0x50, 0x6F, 0x70, 0x10F, 0x110)] == [
        *(None, 0, 0, None, 1, None)
    ]


ARCHIVES = """\
/lib/librte_net_null.a:null.c.o:0000000000000000 t receive
/lib/librte_net_null.a:null.c.o:0000000000000000 t send
/lib/librte_net_null.a:null.c.o:                 U rte_free
/lib/librte_net_pcap.a:pcap.c.o:0000000000000000 t receive
/lib/librte_net_pcap.a:pcap.c.o:0000000000000000 r table
/lib/librte_eal.a:malloc.c.o:0000000000000000 T rte_free
/lib/librte_eal.a:malloc.c.o:0000000000000000 t add
"""


def test_a_function_comes_from_the_archive_of_its_neighbours() -> None:
    archived = parse_archives(ARCHIVES)
    assert "table" not in archived
    names = [("main", False), ("add", True), ("rewrite", True), *(("own", True),) * 20]
    names += [("receive", True), ("send", True), *(("own", True),) * 20, ("rte_free", False)]
    listed = [Symbol(16 * number, 16, name, local) for number, (name, local) in enumerate(names)]
    found = {symbol.name: member_of(listed, index, archived) for index, symbol in enumerate(listed)}
    assert found.pop("receive") == found.pop("send") == Member("librte_net_null.a", "null.c.o")
    assert found.pop("rte_free") == Member("librte_eal.a", "malloc.c.o")
    # Though the library has an `add` of its own.
    assert set(found.values()) == {None}
    assert "add" in found


def test_parts_by_library() -> None:
    components = {
        name: component_of(Path("/bin/program"), f"/usr/lib/{name}", 1)
        for name in ("librte_net_null.so.23", "librte_bus_pci.so.23", "librte_mempool_ring.so.23", "libc.so.6")
    }
    assert list(components.values()) == [Component.DEVICE, Component.DEVICE, Component.LIBRARY, Component.SYSTEM]


def test_what_is_called_of_the_system_counts_for_the_caller() -> None:
    loop, send, tls, start = (Function("", name) for name in ("loop", "send", "tls", "start"))
    profile = Profile()
    profile.self_cost.update({loop: 100, send: 50, tls: 30})
    profile.calls[start, loop] = Call(1, 180)
    profile.calls[loop, send] = Call(1, 70)
    profile.calls[send, tls] = Call(2, 20)
    profile.calls[loop, tls] = Call(1, 10)
    components = {loop: Component.APPLICATION, send: Component.DEVICE, tls: Component.SYSTEM}
    assert share_out(profile, components.__getitem__) == {
        Component.APPLICATION: 110,
        Component.LIBRARY: 0,
        Component.DEVICE: 70,
    }
