# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What can be compared: the twins, DPDK's own forwarders, and any other that is given as a command line.

Each is told the same with its own options: ports, queues, burst, descriptors, one lcore. How frames are counted does
not differ: every DPDK program tells its devices' counters by telemetry (see `telemetry.py`).
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from testbed.comparison.condition import Condition
from testbed.comparison.example_l2fwd import find_l2fwd_example
from testbed.comparison.ipv4 import REWRITTEN
from testbed.run.eal import EalOptions
from testbed.run.environment import dpdk_linking
from testbed.run.lcores import LcorePlan
from testbed.run.programs import Program, ProgramMissing, find_program, repository_root

# Folders of the statically linked twins, as `./x build --static` fills them.
_STATIC_FOLDERS = ("build-static/l2fwd-c", "target/static/dist")
_TWINS = ("l2fwd-rs", "l2fwd-c")
_TESTPMD_MODES = ("mac", "io", "macswap")
# What l2fwd-rs can let rewrite its frames, where `build_rewrite` of `x` puts it; without, it writes the MACs.
REWRITE = "rewrite"
_REWRITE_FOLDER = "target/rewrite/dist"
_PARSERS = ("none", "raw", "zerocopy", "smoltcp", "pnet", "etherparse")
_WORKLOADS = ("w1", "w2", "w3")
EXAMPLE = "dpdk-l2fwd"

# As the twins size their pool (l2fwd's formula), so that testpmd gets as many mbufs.
_POOL_MIN = 8192
_POOL_CACHE = 256

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")


class ContestantError(Exception):
    """A contestant is unknown, lacking or unable to do what is asked; the message says what to do."""


@dataclass(frozen=True)
class Setup:
    """The settings that all contestants of a comparison share."""

    eal: EalOptions
    # CPUs that forward, and the one for everything else.
    forwarder_cpus: tuple[int, ...]
    helper_cpu: int
    ports: int = 1
    queues: int = 1
    burst: int = 32
    descriptors: int = 1024

    @classmethod
    def of(cls, condition: Condition, eal: EalOptions, lcores: LcorePlan) -> Setup:
        """Under this condition, on these CPUs."""
        return cls(
            eal,
            (lcores.forwarder,),
            lcores.generator,
            condition.ports,
            condition.queues,
            condition.burst,
            condition.descriptors,
        )

    @property
    def port_mask(self) -> str:
        """The first `ports` ports: '0x3'."""
        return f"{(1 << self.ports) - 1:#x}"

    @property
    def pairs_per_lcore(self) -> int:
        """Queue pairs that each forwarding lcore serves."""
        return -(-self.ports * self.queues // len(self.forwarder_cpus))

    @property
    def mbufs(self) -> int:
        """The size of the pool: full queues on both sides, a burst in each buffer and one cache a lcore for each."""
        each = 2 * self.descriptors + self.burst + len(self.forwarder_cpus) * _POOL_CACHE
        return max(_POOL_MIN, self.ports * self.queues * each)

    def lcores(self, main_forwards: bool) -> EalOptions:
        """The EAL options with the lcores; a main lcore that does not forward is put on the helper's CPU."""
        if main_forwards:
            return replace(self.eal, lcores=("-l", ",".join(str(cpu) for cpu in self.forwarder_cpus)))
        workers = (f"{number}@{cpu}" for number, cpu in enumerate(self.forwarder_cpus, start=1))
        return replace(self.eal, lcores=(f"--lcores=0@{self.helper_cpu},{','.join(workers)}",))


@dataclass(frozen=True)
class Contestant:
    """One forwarder of a comparison."""

    name: str
    # None where there is only a command line.
    program: Program | None
    command: Callable[[Setup], list[str]] = field(repr=False, compare=False)
    # Why it cannot do what is asked, if it cannot.
    refuses: Callable[[Setup], str | None] = field(default=lambda _: None, repr=False, compare=False)
    # Whether frames leave as l2fwd sends them: from the port's address to 02:00:00:00:00:<port>.
    rewrites_macs: bool = False
    # Linked against shared libraries; None: not known. A DPDK plug-in can only be loaded into such a program.
    is_shared: bool | None = None
    # Additional arguments of its generator, on the virtual wire.
    generator_options: tuple[str, ...] = ()

    def argv(self, setup: Setup) -> list[str]:
        """Its command line.

        Raises `ContestantError` if it cannot do what is asked.
        """
        if reason := self.refuses(setup):
            raise ContestantError(f"{self.name}: {reason}")
        return self.command(setup)


def find_contestant(word: str, folders: Sequence[Path] = ()) -> Contestant:
    """The contestant of that name: 'l2fwd-rs', 'l2fwd-c:static', 'testpmd-mac', 'dpdk-l2fwd', ….

    `folders` replaces the folders of the builds. Raises `ContestantError`.
    """
    name, colon, linking = word.partition(":")
    if name in _TWINS:
        if colon and linking not in ("shared", "static"):
            raise ContestantError(f"'{word}': there is '{name}:shared' and '{name}:static'")
        return _twin(word, name, linking == "static", folders)
    mode = name.removeprefix("testpmd-")
    if not colon and name == f"testpmd-{mode}" and mode in _TESTPMD_MODES:
        return _testpmd(name, mode)
    if word == EXAMPLE:
        return _example()
    if name == REWRITE and colon:
        return _rewriting(word, linking, folders)
    raise ContestantError(
        f"unknown contestant '{word}': choose from {', '.join(known_names())}, or add your own with --external"
    )


def known_names() -> list[str]:
    """What `find_contestant` knows."""
    static = [f"{name}:static" for name in _TWINS]
    testpmd = [f"testpmd-{mode}" for mode in _TESTPMD_MODES]
    return [*_TWINS, *static, *testpmd, EXAMPLE, *(f"{REWRITE}:{parser}" for parser in _PARSERS)]


def _twin(word: str, name: str, static: bool, folders: Sequence[Path]) -> Contestant:
    places = list(folders)
    if static and not places:
        places = [repository_root() / folder for folder in _STATIC_FOLDERS]
    try:
        program = find_program(name, places or None)
    except ProgramMissing as error:
        remedy = ", with --static" if static else ""
        raise ContestantError(f"{word}: {error}{remedy}") from error

    def command(setup: Setup) -> list[str]:
        return [str(program.path), *setup.lcores(main_forwards=True).argv(), "--", *_twin_options(setup)]

    return Contestant(word, program, command, rewrites_macs=True, is_shared=_is_shared(program.path))


def _twin_options(setup: Setup) -> list[str]:
    options = ["-p", setup.port_mask, "-q", str(setup.pairs_per_lcore), f"--queues={setup.queues}"]
    options += [f"--burst={setup.burst}", f"--rxd={setup.descriptors}", f"--txd={setup.descriptors}"]
    # Counters are read by telemetry: printing would only disturb.
    return [*options, "-T", "0"]


def _rewriting(word: str, what: str, folders: Sequence[Path]) -> Contestant:
    """l2fwd-rs with a parser that writes the addresses: 'smoltcp' or 'smoltcp:w1'; 'none' is that program without."""
    parser, colon, workload = what.partition(":")
    if parser not in _PARSERS or (colon and (workload not in _WORKLOADS or parser == "none")):
        raise ContestantError(
            f"'{word}': give {REWRITE}: and one of {', '.join(_PARSERS)}, the parsers followed by "
            f":{', :'.join(_WORKLOADS)} if wanted"
        )
    try:
        program = find_program("l2fwd-rs", list(folders) or [repository_root() / _REWRITE_FOLDER])
    except ProgramMissing as error:
        raise ContestantError(f"{word}: {error}, with --target-dir target/rewrite and the feature {REWRITE}") from error
    rewrite = [] if parser == "none" else [f"--rewrite={what}"]

    def command(setup: Setup) -> list[str]:
        return [str(program.path), *setup.lcores(main_forwards=True).argv(), "--", *_twin_options(setup), *rewrite]

    def refuses(setup: Setup) -> str | None:
        if rewrite and any(vdev.startswith("net_null") for vdev in setup.eal.vdevs):
            return "net_null's frames are empty, and a parser would reject them: use --wire net_pcap or virtual"
        return None

    return Contestant(
        word,
        program,
        command,
        refuses,
        rewrites_macs=True,
        is_shared=_is_shared(program.path),
        # The address that the parser writes: so the generator still finds every byte as it should be.
        generator_options=(f"--dst-ip={REWRITTEN}-{REWRITTEN}",),
    )


def _testpmd(name: str, mode: str) -> Contestant:
    path = shutil.which("dpdk-testpmd")
    if path is None:
        raise ContestantError(f"{name}: no program 'dpdk-testpmd': install it (Debian and Ubuntu: dpdk-dev)")

    def command(setup: Setup) -> list[str]:
        options = [f"--forward-mode={mode}", f"--nb-cores={len(setup.forwarder_cpus)}"]
        options += [f"--portmask={setup.port_mask}", f"--rxq={setup.queues}", f"--txq={setup.queues}"]
        options += [f"--burst={setup.burst}", f"--rxd={setup.descriptors}", f"--txd={setup.descriptors}"]
        options += [f"--total-num-mbufs={setup.mbufs}", f"--mbcache={_POOL_CACHE}"]
        # Without a period it would wait for a key, and take the missing terminal for one. An hour is never.
        options += ["--no-lsc-interrupt", "--stats-period=3600"]
        return [path, *setup.lcores(main_forwards=False).argv(), "--", *options]

    return Contestant(
        name, Program(name, "C", Path(path)), command, rewrites_macs=mode == "mac", is_shared=_is_shared(path)
    )


def _example() -> Contestant:
    try:
        path = find_l2fwd_example()
    except ProgramMissing as error:
        raise ContestantError(f"{EXAMPLE}: {error}") from error

    def command(setup: Setup) -> list[str]:
        options = ["-p", setup.port_mask, "-q", str(setup.pairs_per_lcore), "-T", "0"]
        return [str(path), *setup.lcores(main_forwards=True).argv(), "--", *options]

    def refuses(setup: Setup) -> str | None:
        if setup.queues != 1:
            return "it has one queue a port"
        if setup.burst != 32:
            return "its burst is always 32"
        if setup.descriptors != 1024:
            return "it always asks for 1,024 descriptors"
        return None

    return Contestant(
        EXAMPLE, Program(EXAMPLE, "C", path), command, refuses, rewrites_macs=True, is_shared=_is_shared(path)
    )


def external(text: str) -> Contestant:
    """'NAME=COMMAND LINE' with placeholders in braces, see `PLACEHOLDERS`; a literal brace is doubled.

    Raises `ContestantError`.
    """
    name, equals, line = text.partition("=")
    if not equals or not _NAME.fullmatch(name) or not line.strip():
        raise ContestantError(f"'{text}': give NAME=COMMAND LINE, the name of letters, digits and . _ + -")
    if name in known_names():
        raise ContestantError(f"'{name}' is the name of a contestant that is there anyway: choose another")
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ContestantError(f"'{name}': its command line cannot be split into words: {error}") from error
    for word in words:
        _expand(name, word, {key: [""] for key in PLACEHOLDERS})
    if not any(key in line for key in ("{eal}", "{eal_main}", "{eal_alone}")):
        raise ContestantError(f"'{name}': its command line lacks {{eal}}, the options that DPDK needs")
    if shutil.which(words[0]) is None:
        raise ContestantError(f"'{name}': cannot execute '{words[0]}': no such program")

    def command(setup: Setup) -> list[str]:
        values = {key: value(setup) for key, value in PLACEHOLDERS.items()}
        return [expanded for word in words for expanded in _expand(name, word, values)]

    path = Path(shutil.which(words[0]) or words[0]).resolve()
    return Contestant(name, Program(name, "other", path), command, is_shared=_is_shared(path))


def _is_shared(path: Path | str) -> bool | None:
    """Whether a program is linked with DPDK's shared libraries; None if ldd does not know, as for a script."""
    return {"shared": True, "static": False}.get(dpdk_linking(Path(path)))


PLACEHOLDERS: dict[str, Callable[[Setup], list[str]]] = {
    "eal": lambda setup: setup.lcores(main_forwards=True).argv(),
    "eal_main": lambda setup: setup.lcores(main_forwards=False).argv(),
    "eal_alone": lambda setup: setup.lcores(main_forwards=True).alone(),
    "devices": lambda setup: setup.eal.devices(),
    "ports": lambda setup: [str(setup.ports)],
    "portmask": lambda setup: [setup.port_mask],
    "queues": lambda setup: [str(setup.queues)],
    "pairs": lambda setup: [str(setup.pairs_per_lcore)],
    "burst": lambda setup: [str(setup.burst)],
    "descriptors": lambda setup: [str(setup.descriptors)],
    "mbufs": lambda setup: [str(setup.mbufs)],
}
"""What stands for a placeholder: ``eal`` for all of DPDK's options with the main lcore forwarding, ``eal_main`` with a
main lcore of its own that does not forward, ``eal_alone`` without the devices, ``devices`` for these."""


def _expand(name: str, word: str, values: dict[str, list[str]]) -> list[str]:
    """The words that `word` becomes: a placeholder that is a whole word may become several."""
    whole = re.fullmatch(r"\{(\w+)\}", word)
    if whole and whole[1] in values:
        return values[whole[1]]
    try:
        return [word.format(**{key: shlex.join(value) for key, value in values.items()})]
    except (KeyError, IndexError, ValueError) as error:
        listed = ", ".join(f"{{{key}}}" for key in PLACEHOLDERS)
        raise ContestantError(f"'{name}': cannot fill in '{word}' ({error}): the placeholders are {listed}") from error
