# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What takes a core away from forwarding, or changes its clock: governor, turbo, C-states, tasks, interrupts."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.doctor.check import Check, Question, ok, warn
from testbed.host.files import Host
from testbed.host.processors import CPUS, cpu_list, is_virtual, online
from testbed.run.lcores import parse_cpu_list

GROUP = "scheduling"

# Beyond this, waking up shows in latencies.
_SLEEP_LATENCY_US = 10


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group."""
    yield _governor(host, question)
    yield _turbo(host)
    yield _sleep(host, question)
    for name, told in (
        ("isolcpus", host.text(f"{CPUS}/isolated")),
        ("nohz_full", host.text(f"{CPUS}/nohz_full")),
        ("rcu_nocbs", _parameter(host, "rcu_nocbs")),
    ):
        yield _isolation(name, _cpus(told), online(host), question)
    yield _irqbalance(host)
    if question.cores:
        yield _interrupts(host, question)


def _governor(host: Host, question: Question) -> Check:
    name, why = "governor", "a core that clocks down forwards less, and at a different rate each time"
    governors = {cpu: host.text(f"{CPUS}/cpu{cpu}/cpufreq/scaling_governor") for cpu in question.cores or online(host)}
    slow = {cpu: governor for cpu, governor in governors.items() if governor not in (None, "performance")}
    if slow:
        cpus = cpu_list(slow)
        found = f"{', '.join(sorted({str(governor) for governor in slow.values()}))} on CPU {cpus}"
        return warn(
            name,
            found,
            why,
            f"./x testbed host prepare --cores {cpus}, or cpupower -c {cpus} frequency-set -g performance",
        )
    if None in governors.values():
        return ok(name, "this system does not control it" + (", a virtual machine" if is_virtual(host) else ""), why)
    return ok(name, "performance", why)


def _turbo(host: Host) -> Check:
    name, why = "turbo", "its frequency depends on temperature and on what other cores do, so figures wander"
    off = host.number(f"{CPUS}/intel_pstate/no_turbo")
    boost = host.number(f"{CPUS}/cpufreq/boost")
    if off is None and boost is None:
        return ok(name, "this system does not control it", why)
    if off == 1 or boost == 0:
        return ok(name, "off", why)
    file, value = ("intel_pstate/no_turbo", 1) if off is not None else ("cpufreq/boost", 0)
    return warn(name, "on", why, f"echo {value} >{CPUS}/{file}")


def _sleep(host: Host, question: Question) -> Check:
    name, why = (
        "C-states",
        "a core in a deep state wakes up late; a polling core does not sleep, but its neighbours and the uncore do",
    )
    cpu = (question.cores or (0,))[0]
    folder = f"{CPUS}/cpu{cpu}/cpuidle"
    deepest = ("none", 0)
    for state in host.names(folder):
        latency = host.number(f"{folder}/{state}/latency") or 0
        if host.number(f"{folder}/{state}/disable") == 0 and latency > deepest[1]:
            deepest = (host.text(f"{folder}/{state}/name") or state, latency)
    if deepest[1] > _SLEEP_LATENCY_US:
        remedy = f"cpupower idle-set -D {_SLEEP_LATENCY_US}, or intel_idle.max_cstate=1 processor.max_cstate=1 at boot"
        return warn(name, f"deepest state {deepest[0]}, {deepest[1]} µs to wake up", why, remedy)
    return ok(
        name, "no state visible" if deepest[1] == 0 else f"deepest state {deepest[0]}, {deepest[1]} µs to wake up", why
    )


def _isolation(name: str, cpus: list[int], every: list[int], question: Question) -> Check:
    why = {
        "isolcpus": "else the scheduler puts other tasks on the forwarding cores",
        "nohz_full": "else the timer interrupts forwarding up to 1,000 times a second",
        "rcu_nocbs": "else the kernel's deferred work runs on the forwarding cores",
    }[name]
    missing = sorted(set(question.cores) - set(cpus))
    found = f"CPU {cpu_list(cpus)}" if cpus else "no CPU"
    if cpus and not missing:
        return ok(name, found, why)
    if every and set(every) <= set(question.cores):
        first, *others = every
        rest = f"choose --cores {cpu_list(others)}, and isolate these" if others else "a second CPU is needed"
        return warn(name, found, why, f"leave CPU {first} to the system, which no machine can do without: {rest}")
    wanted = cpu_list(question.cores) if question.cores else "<cores>"
    return warn(name, found, why, f"add {name}={wanted} to the kernel's command line and reboot")


def _irqbalance(host: Host) -> Check:
    name, why = "irqbalance", "it moves interrupts to the forwarding cores, and undoes settings made by hand"
    running = host.processes("irqbalance")
    if running:
        return warn(
            name,
            f"runs as process {running[0]}",
            why,
            "systemctl stop irqbalance, or IRQBALANCE_BANNED_CPULIST for the cores",
        )
    return ok(name, "does not run", why)


def _interrupts(host: Host, question: Question) -> Check:
    name, why = "interrupts", "each one takes microseconds from the forwarding core: a few hundred frames at line rate"
    cores = set(question.cores)
    there = [
        number
        for number in host.names("/proc/irq")
        if number.isdecimal()
        # Only those that somebody uses have a folder of an action in theirs.
        and any(host.path(f"/proc/irq/{number}/{entry}").is_dir() for entry in host.names(f"/proc/irq/{number}"))
        and cores & set(_cpus(host.text(f"/proc/irq/{number}/smp_affinity_list")))
    ]
    if there:
        cpus = cpu_list(cores)
        found = f"{len(there)} may come to CPU {cpus}: IRQ {', '.join(sorted(there, key=int)[:8])}" + (
            "…" if len(there) > 8 else ""
        )
        return warn(name, found, why, f"./x testbed host prepare --cores {cpus}, or irqaffinity=<other CPUs> at boot")
    return ok(name, f"none may come to CPU {cpu_list(cores)}", why)


def _cpus(text: str | None) -> list[int]:
    """A list of the kernel's; '(null)' and words such as 'all' or 'domain' are none."""
    parts = [part for part in (text or "").split(",") if part[:1].isdecimal()]
    try:
        return parse_cpu_list(",".join(parts))
    except ValueError:
        return []


def _parameter(host: Host, name: str) -> str | None:
    return next((word.partition("=")[2] for word in host.boot_parameters() if word.startswith(f"{name}=")), None)
