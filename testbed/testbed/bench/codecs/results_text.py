# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The words of `codec-bench/RESULTS.md`. None of them states a ratio that the raw data has: those are computed."""

from __future__ import annotations

INTRODUCTION = """\
# Results

What it costs to pass messages by a serialization library, in Rust and in C++. `./x bench results` makes this page from
the raw data in `codec-bench/results/` and from `codec-bench/counts.json`, and a test compares: do not edit it. What is
measured says [README.md](README.md).

A round is a request, its response, and both read. A / B is the median over the blocks of the ratio of rounds per
second of CPU time. The 95 % intervals are those of the sign test. p is that of Wilcoxon's signed-rank test, corrected
by Holm's method over all {rows} rows of this page."""

CHOICE = """\
## Which one to take

By bytes in memory, with buffers that are used again. The time has the work of client and server in it: *plain* is that
work alone, with structs that are copied. Compare libraries within a table."""

LANGUAGES = """\
## Cap'n Proto in Rust and in C++

As the article compared them: each case, and each way to pass messages. Above 1, Rust is faster.

Not all of it is the library's. The work of a case is faster in C++ for `carsales` and in Rust for the two others, as
the pairs of *plain-rust* and *plain-cpp* show: texts and vectors of the two languages, and what their compilers make of
the same loops. And the crate is compiled with the program, where `libcapnp` is a shared library, whose functions cannot
become part of their callers. With a pipe, the kernel takes most of the time of
short messages."""

SINCE = """\
In 2013, the article found Rust about even with C++ for numbers, a bit slower for strings, and much slower for nested
structures that pass through a pipe. Its figures can no longer be found. Then the crate copied strings once more than
C++ did, and each program was timed once, with its start."""

RUNS = """\
## The runs

A virtual machine with two CPUs, and no other work. Rows of different runs must not be divided by each other. Read the
raw data with `xz -dc FILE`."""

COUNTS = """\
## Instructions

Counted by callgrind, of client and server. Fewer instructions need not take less time."""

RATES = """\
## Each library

With a pipe or TCP, CPU time is that of both processes, and bytes are those of requests."""

PAIRS = """\
## Pairs

A library in two languages, and two libraries in one. *Again* is a library against a second run of itself: the noise
floor."""
