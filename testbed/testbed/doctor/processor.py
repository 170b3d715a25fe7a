# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The processor: its model, whether it has what the programs were compiled for, and who shares a core."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.doctor.check import Check, Question, fail, ok, warn
from testbed.host.files import Host
from testbed.host.processors import CPUS, cpu_flags, cpu_list, online, siblings

GROUP = "processor"

# The levels of the x86-64 psABI, by the names that /proc/cpuinfo has for their features. Each has those below.
_LEVELS = {
    2: "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3",
    3: "abm avx avx2 bmi1 bmi2 f16c fma movbe",
    4: "avx512bw avx512cd avx512dq avx512f avx512vl",
}
# DPDK itself does not start without SSE 4.2, which is level 2 (doc/guides/linux_gsg/sys_reqs).
_FLOOR = 2
_MARCHES = {
    **dict.fromkeys(("corei7", "nehalem", "westmere", "silvermont", "sandybridge", "ivybridge", "x86-64-v2"), 2),
    **dict.fromkeys(("haswell", "broadwell", "skylake", "znver1", "znver2", "znver3", "x86-64-v3"), 3),
    **dict.fromkeys(("skylake-avx512", "cascadelake", "icelake-server", "sapphirerapids", "znver4", "x86-64-v4"), 4),
}


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group."""
    yield _model(host)
    yield _simd(host, question)
    yield from _cores(host, question)
    yield _smt(host, question)


def _model(host: Host) -> Check:
    model = host.field("/proc/cpuinfo", "model name") or "unknown"
    microcode = host.field("/proc/cpuinfo", "microcode")
    found = f"{model}, {len(online(host))} logical CPUs" + (f", microcode {microcode}" if microcode else "")
    return ok("model", found, "figures compare only on the same model and microcode")


def _simd(host: Host, question: Question) -> Check:
    name, why = (
        "SIMD level",
        "a program compiled for a higher level ends with 'Illegal instruction'; drivers choose their code by it",
    )
    flags = cpu_flags(host)
    if not flags:
        return ok(name, "this kind of CPU does not report it", why)
    wanted = max([_FLOOR, *(_MARCHES.get(march, _FLOOR) for march in question.marches)])
    level = 1
    for number, names in _LEVELS.items():
        missing = sorted(set(names.split()) - flags)
        if missing:
            break
        level = number
    built = f"the build is for x86-64-v{wanted}" + (f" ({', '.join(question.marches)})" if question.marches else "")
    found = f"x86-64-v{level}; {built}"
    if level >= wanted:
        return ok(name, found, why)
    lacking = f"the CPU lacks {', '.join(missing)}"
    if wanted == _FLOOR:
        return fail(
            name, f"{found}; {lacking}", why, "use another machine, or in QEMU -cpu host or max: DPDK needs SSE 4.2"
        )
    return fail(
        name,
        f"{found}; {lacking}",
        why,
        f"build here, or for this CPU: meson -Dcpu=x86-64-v{level}, -C target-cpu likewise",
    )


def _cores(host: Host, question: Question) -> Iterator[Check]:
    missing = [cpu for cpu in question.cores if cpu not in online(host)]
    if missing:
        found = f"CPU {cpu_list(missing)} is not online; online: {cpu_list(online(host))}"
        yield fail("cores", found, "an lcore needs its CPU", "name CPUs that are online")


def _smt(host: Host, question: Question) -> Check:
    name, why = "SMT", "two threads of one core share its units: the second takes up to half of the rate"
    shared = {cpu: siblings(host, cpu) for cpu in question.cores or online(host)}
    pairs = {tuple(threads) for threads in shared.values() if len(threads) > 1}
    if not pairs:
        return ok(name, "off" if host.exists(f"{CPUS}/smt") else "none", why)
    off = "echo off >/sys/devices/system/cpu/smt/control, or nosmt on the kernel's command line"
    if not question.cores:
        return warn(
            name, f"on: {len(pairs)} cores have two threads", why, f"name cores with --cores; to turn it off: {off}"
        )
    for threads in sorted(pairs):
        both = [cpu for cpu in threads if cpu in question.cores]
        if len(both) > 1:
            return fail(name, f"CPUs {cpu_list(both)} are one core", why, f"take one of them: ls {CPUS}; or {off}")
    others = cpu_list(cpu for threads in pairs for cpu in threads if cpu not in question.cores)
    return warn(
        name, f"the chosen cores' other threads are online: {others}", why, f"keep them idle (isolcpus), or {off}"
    )
