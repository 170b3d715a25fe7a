# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The words of `services/RESULTS.md`. None of them states a ratio that the raw data has: those are computed."""

from __future__ import annotations

INTRODUCTION = """\
# Results

What a language costs a network service, and what a network stack costs it. `./x bench results` makes this page from
the raw data in `services/results/`, and a test compares: do not edit it. What the programs are, and how they are
raced, says [README.md](README.md).

A row of *Pairs* compares two programs in one run: A / B is the median over the blocks of the ratio of requests, or of
bytes, per second of CPU time. The 95 % intervals are those of the sign test. p is that of Wilcoxon's signed-rank test,
corrected by Holm's method over all {rows} rows of this page; so *faster* and *slower* hold for all of them together
with 95 %. *Again* is a program against a second run of itself: the noise floor. There are rows for two stacks under
one program, and for Rust by hand against all others on its stack; the raw data has the others.

CPU time of a server on Linux's sockets is all that its CPU does, interrupts included. On dpdk-sockets and on lwIP it
is that of the process, which polls all the time: where the client is slower than the server, the polls that find
nothing (*Idle*) are in it, and the ratio is a lower bound."""

ANSWERS = """\
- **The stack matters most.** On Linux's sockets nearly all CPU time is the kernel's, whatever the language: see the
  tables of user, system and interrupt time. A program that has a CPU to poll with, and whose connections are many or
  busy, gains several times as many requests from a stack in its own process. This is so for small requests most of
  all, and less for pages and long messages, where bytes cost more than segments.
- **C or Rust does not matter** for what these programs do: no difference between the twins is shown on either stack.
- **Other languages** differ by what they do outside of the kernel. On Linux's sockets the compiled ones are within a
  factor of about two of each other, Java among them once it is warm, and the web frameworks of Python and JavaScript
  cost several times as much as all else.
- **lwIP**, a stack in C, costs as much as dpdk-sockets with 100 connections and short requests, opens connections
  faster, and moves long messages more slowly.
- **When not.** At low load a stack that polls takes a whole CPU, and the kernel next to none. A new connection on
  dpdk-sockets has 2,048 bytes on their way at first, and one on Linux's sockets 14,600 (RFC 6928), which costs round
  trips where they are long, as the tables of loss show for messages of 4 KiB and pages.
- **Where frames are lost**, both stacks repeat a short request or answer after some 200 ms. Messages and pages of
  several segments take longer on dpdk-sockets where much is lost: it repeats one lost segment of a window at once, and
  the others later.
- The high percentiles of all programs here, but for those with loss, are pauses of the virtual machine (*Pause* is the
  client's longest), and say nothing of stacks."""

RUNS = """\
A virtual machine without a NIC, with Debian 12, two CPUs, and no other work. Server and client have a CPU each. Rows
of different runs must not be divided by each other. Read the raw data with `xz -dc FILE`.

In the runs of commit bee57596, the programs in Rust by hand looked twice at a connection that could be read and
written, which cost them calls of the kernel that find nothing. Those in C did not, and Rust does not any more."""

SERVICES = {
    "adder": """\
## The adder

`GET /add/A/B`, one request on its way on each connection. The server has exactly one CPU.""",
    "echo": """\
## The echo server

Requests are messages of 100 bytes, each sent when the one before has come back. In bulk, up to 32 connections have
64 KiB on their way each, in messages of one length, and all others wait for their turn.""",
    "proxy": """\
## The proxy

Pages of 10 KiB through a TCP proxy; the client is the back end, which answers at once. *origin* is the origin of
`services/` without a proxy. With *50 requests each*, the back end closes a connection after its 50th page.""",
}

PAIRS = "Requests, or bytes, per second of CPU time."

# Why what an article found is not found here.
ARTICLES = {
    "adder": """\
The article's service in C# needs the .NET tools, which the package registries used here do not have: its row is
missing. Its Rust was given more than one core, and its client ran on the same CPUs. FastAPI and Express answer fewer
requests here, on a slower core that handles the interrupts of its requests as well.""",
    "echo": """\
The article counts its client's time as well, and both ends are on one host, whose loopback carries 64 KiB in a packet;
a run takes 0.1 s. Here packets have 1,460 bytes, and the server and the kernel's work for it have one core. The
article's best machine is faster than Linux's sockets here, and slower than dpdk-sockets.""",
    "proxy": """\
The article gives its proxies two cores, and nginx two more; its client waits for a token of a rate limiter before its
clock starts. Here one core has all of a proxy's work, interrupts included, so no proxy on Linux's sockets carries
25,000 pages a second. Those on dpdk-sockets and lwIP do.""",
}

SOURCES = """\
## Size and complexity

Counted by `./x bench services --sources`. *Lines* are all that the files have, as article 000 counts; *Code* and what
follows is without blank lines, comments and tests. *Shared* is code that other programs have too. The twins, C and
Rust by hand, have what others take from libraries: the loop of events, buffers, and two stacks."""

DEFECTS = """\
## Defects

What the cases, sanitizers and readers found in these programs, by kind and language, as the history of the repository
records it. Whoever wrote them knew the cases, so this says where such programs go wrong, and not which language is
safer.

| Kind | Rust | C | C++ | Go | Java | JavaScript | Python |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| memory, threads | 0 | 0 | 1 | 0 | 0 | 0 | 0 |
| loss of data | 1 | 1 | 0 | 0 | 0 | 0 | 0 |
| rules of HTTP or TCP | 2 | 2 | 1 | 1 | 2 | 1 | 1 |
| an error that ended more than its connection | 1 | 0 | 0 | 0 | 0 | 0 | 0 |

- A connection was handed to a thread of the pool without a lock (C++).
- Both twins' proxies lost what a back end said before they knew that they were connected.
- An answer to HEAD had content (all but hyper); a reset after the end of a connection was not passed on (both twins);
  a connection over the limit was closed without a reset (C++); Netty 4.2.18 broke connections that are closed one way.
- An error while a connection was set up left the loop of events (Rust)."""
