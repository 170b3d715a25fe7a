# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What would have to change for the named NICs and cores, and what only the user can change."""

from __future__ import annotations

from dataclasses import dataclass, field

from testbed.host import iommu, pci
from testbed.host.files import Host
from testbed.host.hugepages import Pool, mounts, pools
from testbed.host.processors import CPUS, cpu_list, node_of_cpu, nodes, online
from testbed.host.steps import Bind, LoadModules, MountHugepages, ReserveHugepages, SetValue, Step
from testbed.host.traffic import vital_use
from testbed.nics.profile import VFIO
from testbed.nics.table import is_bifurcated, profile_of
from testbed.run.lcores import parse_cpu_list


class PlanError(Exception):
    """What was asked for must not be done or cannot be; the message names it and the remedy."""


@dataclass(frozen=True)
class Wish:
    """What a user asks for."""

    # Full PCI addresses.
    nics: tuple[str, ...] = ()
    cores: tuple[int, ...] = ()
    # Free memory in hugepages on each node in use, in MB; 0 for none.
    hugepages_mb: int = 1024
    # The pages' size in kB.
    page_kb: int = 2048


@dataclass
class Plan:
    """The steps in order, and notes that change nothing."""

    steps: list[Step] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def make_plan(host: Host, wish: Wish) -> Plan:
    """The plan for a wish, as the machine is now.

    Raises `PlanError`.
    """
    plan = Plan()
    nics = [_nic(host, address) for address in wish.nics]
    _check_cores(host, wish.cores)
    _plan_memory(host, wish, nics, plan)
    _plan_nics(host, wish, nics, plan)
    _plan_governor(host, wish.cores, plan)
    _plan_interrupts(host, wish.cores, plan)
    _tell(host, wish.cores, plan)
    return plan


def _nic(host: Host, address: str) -> pci.Device:
    nic = pci.device(host, address)
    listed = ", ".join(other.address for other in pci.nics(host)) or "none"
    if nic is None:
        raise PlanError(f"{address}: no such device; NICs of this machine: {listed}")
    if not nic.is_nic:
        raise PlanError(f"{address} is not a NIC (class {nic.class_code:06x}); NICs of this machine: {listed}")
    use = vital_use(host, nic)
    if use is not None:
        raise PlanError(f"{address} carries {use}: taking it would cut this machine off. Name another NIC")
    return nic


def _check_cores(host: Host, cores: tuple[int, ...]) -> None:
    there = online(host)
    missing = [core for core in cores if core not in there]
    if missing:
        raise PlanError(f"CPU {cpu_list(missing)} is not there; online: {cpu_list(there)}")
    if cores and set(there) <= set(cores):
        raise PlanError(f"CPU {cpu_list(cores)} is the whole machine: leave at least one CPU to the system")


def _plan_nics(host: Host, wish: Wish, nics: list[pci.Device], plan: Plan) -> None:
    shared = [nic for nic in nics if is_bifurcated(nic.ids)]
    for nic in shared:
        plan.told.append(
            f"{nic.address} stays with {nic.driver or 'its kernel driver'}: DPDK shares it with the kernel"
        )
    to_bind = [nic for nic in nics if nic not in shared and nic.driver != VFIO]
    if not any(nic not in shared for nic in nics):
        return
    if not iommu.is_on(host) and not iommu.is_yes(host, iommu.NO_IOMMU_MODE):
        reason, remedy = iommu.why_off(host)
        raise PlanError(
            f"no IOMMU is in use ({reason}), so vfio-pci takes no NIC: {remedy}, and start the machine again"
        )
    for nic in to_bind:
        others = [device for device in iommu.in_the_way(host, nic) if device.address not in wish.nics]
        if others:
            named = ", ".join(f"{device.address} ({device.driver})" for device in others)
            raise PlanError(
                f"{nic.address} shares IOMMU group {nic.group} with {named}, and VFIO hands out whole groups: name "
                "these with --nic too if they are NICs, take them off their driver, or use another slot"
            )
    modules = [name for name in ("vfio_iommu_type1", VFIO) if not host.has_module(name)]
    if modules:
        plan.steps.append(LoadModules(tuple(modules)))
    for nic in to_bind:
        up = [name for name in nic.interfaces if (host.number(f"/sys/class/net/{name}/flags") or 0) & 1]
        now = f"now {nic.driver or 'none'}" + (f", {', '.join(up)} is up: what uses it loses it" if up else "")
        plan.steps.append(Bind(nic.address, VFIO, now))
    if iommu.is_on(host) and not iommu.remaps_interrupts(host) and not iommu.is_yes(host, iommu.UNSAFE_INTERRUPTS):
        plan.told.append("interrupts are not remapped, so VFIO will refuse the NICs: see ./x testbed doctor")


def _plan_memory(host: Host, wish: Wish, nics: list[pci.Device], plan: Plan) -> None:
    if wish.hugepages_mb == 0:
        return
    there = [pool for pool in pools(host) if pool.size_kb == wish.page_kb]
    if not there:
        sizes = ", ".join(sorted({pool.size for pool in pools(host)})) or "none"
        raise PlanError(f"this kernel has no hugepages of {wish.page_kb} kB; it has: {sizes}")
    used = {node_of_cpu(host, core) for core in wish.cores} | {max(nic.node, 0) for nic in nics}
    for node in sorted(used) or nodes(host)[:1] or [0]:
        pool = next((pool for pool in there if pool.node == node), None)
        if pool is None:
            raise PlanError(f"cannot reserve hugepages on node {node}: its memory is in use, or it has no memory")
        lacking = -(-wish.hugepages_mb * 1024 // wish.page_kb) - pool.free
        if lacking > 0:
            plan.steps.append(_reserve(pool, pool.total + lacking))
    if wish.page_kb not in mounts(host).values():
        plan.steps += [MountHugepages("/dev/hugepages")] if wish.page_kb == _default_page_kb(host) else []


def _default_page_kb(host: Host) -> int:
    return int((host.field("/proc/meminfo", "Hugepagesize") or "2048 kB").split()[0])


def _reserve(pool: Pool, pages: int) -> Step:
    return ReserveHugepages(pool.folder, pages, f"hugepages of {pool.size} on node {pool.node}")


def _plan_governor(host: Host, cores: tuple[int, ...], plan: Plan) -> None:
    for core in cores:
        folder = f"{CPUS}/cpu{core}/cpufreq"
        governor = host.text(f"{folder}/scaling_governor")
        if governor in (None, "performance"):
            continue
        if "performance" in (host.text(f"{folder}/scaling_available_governors") or "").split():
            plan.steps.append(SetValue(f"{folder}/scaling_governor", "performance", f"governor of CPU {core}"))
        else:
            plan.told.append(f"CPU {core} has no governor 'performance', and stays with {governor}")


def _plan_interrupts(host: Host, cores: tuple[int, ...], plan: Plan) -> None:
    if not cores:
        return
    others = cpu_list(set(online(host)) - set(cores))
    for number in sorted((name for name in host.names("/proc/irq") if name.isdecimal()), key=int):
        path = f"/proc/irq/{number}/smp_affinity_list"
        # One whose CPUs are all among the chosen ones, too.
        if set(parse_cpu_list(host.text(path) or "")) & set(cores):
            plan.steps.append(SetValue(path, others, f"CPUs of IRQ {number}", optional=True))
    if host.processes("irqbalance"):
        plan.told.append("irqbalance runs, and would move interrupts back: systemctl stop irqbalance")


def _tell(host: Host, cores: tuple[int, ...], plan: Plan) -> None:
    """Boot parameters, and what to run."""
    words = host.boot_parameters()
    missing = [
        name
        for name in ("isolcpus", "nohz_full", "rcu_nocbs")
        if not any(word.startswith(f"{name}=") for word in words)
    ]
    if cores and missing:
        wanted = " ".join(f"{name}={cpu_list(cores)}" for name in missing)
        plan.told.append(f"only at boot, so not done: add {wanted} to the kernel's command line")


def command_line(host: Host, wish: Wish) -> str | None:
    """How a forwarder is started on the named NICs and cores; None without NICs."""
    if not wish.nics:
        return None
    words = ["target/static/dist/l2fwd-rs", "-l", cpu_list(wish.cores) if wish.cores else "<cores>"]
    options: list[str] = []
    for address in wish.nics:
        nic = pci.device(host, address)
        profile = profile_of(nic.ids) if nic else None
        words += ["-a", profile.allow(address) if profile else address]
        options = profile.forwarder_options() if profile and not options else options
        if profile and profile.is_bifurcated:
            # The static build has no driver for it.
            words[0] = "target/dist/l2fwd-rs"
    return " ".join([*words, "--", "-p", hex((1 << len(wish.nics)) - 1), "-q", str(len(wish.nics)), *options])
