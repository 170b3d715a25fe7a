# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a comparison's contestants are told, and which are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import stand_in

from testbed.comparison import contestants
from testbed.comparison.contestants import ContestantError, Setup, external, find_contestant
from testbed.run.eal import EalOptions

EAL = EalOptions(1, "prefix", ("net_null0", "net_null1"), hugepages=True, telemetry=True, more=("-d", "x.so"))
ALONE = "--no-pci --file-prefix=prefix --in-memory --single-file-segments -d x.so"
DEVICES = "--vdev=net_null0 --vdev=net_null1"


def setup_of(**changes: object) -> Setup:
    return Setup(**{"eal": EAL, "forwarder_cpus": (3,), "helper_cpu": 0, "ports": 2, **changes})


@pytest.mark.parametrize("name", ["l2fwd-rs", "l2fwd-c"])
def test_the_twins_are_told_the_same(tmp_path: Path, name: str):
    folder = stand_in.install(tmp_path / "programs")
    twin = find_contestant(name, [folder])
    argv = twin.argv(setup_of(queues=2, burst=64, descriptors=512))
    options = "-p 0x3 -q 4 --queues=2 --burst=64 --rxd=512 --txd=512 -T 0"
    assert " ".join(argv) == f"{folder / name} -l 3 {ALONE} {DEVICES} -- {options}"
    assert twin.rewrites_macs


def test_more_forwarding_cpus_share_the_queue_pairs(tmp_path: Path):
    twin = find_contestant("l2fwd-rs", [stand_in.install(tmp_path / "programs")])
    argv = twin.argv(setup_of(forwarder_cpus=(1, 2), queues=2))
    assert argv[1:3] == ["-l", "1,2"]
    assert argv[argv.index("-q") + 1] == "2"


@pytest.fixture
def testpmd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "dpdk-testpmd"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return path


@pytest.mark.parametrize("mode", ["mac", "io", "macswap"])
def test_testpmd(testpmd: Path, mode: str):
    found = find_contestant(f"testpmd-{mode}")
    argv = " ".join(found.argv(setup_of(queues=2)))
    assert argv.startswith(f"{testpmd} --lcores=0@0,1@3 {ALONE} {DEVICES} -- --forward-mode={mode} --nb-cores=1 ")
    assert " --portmask=0x3 --rxq=2 --txq=2 --burst=32 --rxd=1024 --txd=1024 " in argv
    # As many mbufs as the twins have: 2 ports, 2 queues.
    assert f" --total-num-mbufs={4 * (2 * 1024 + 32 + 256)} --mbcache=256 " in argv
    assert found.rewrites_macs is (mode == "mac")


def test_without_testpmd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ContestantError, match="install it"):
        find_contestant("testpmd-mac")


def test_dpdks_l2fwd_says_what_it_cannot(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(contestants, "find_l2fwd_example", lambda: Path("/bin/true"))
    example = find_contestant("dpdk-l2fwd")
    assert example.argv(setup_of())[-6:] == ["-p", "0x3", "-q", "2", "-T", "0"]
    for change, reason in (({"queues": 2}, "one queue"), ({"burst": 8}, "always 32"), ({"descriptors": 256}, "1,024")):
        with pytest.raises(ContestantError, match=reason):
            example.argv(setup_of(**change))


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("l3fwd", "unknown contestant 'l3fwd'"),
        ("testpmd-flowgen", "unknown contestant"),
        ("testpmd-mac:static", "unknown contestant"),
        ("l2fwd-rs:dynamic", "'l2fwd-rs:shared' and 'l2fwd-rs:static'"),
        ("rewrite:nom", "give rewrite: and one of none, raw, "),
        ("rewrite:smoltcp:w4", "followed by :w1, :w2, :w3 if wanted"),
        ("rewrite:none:w1", "give rewrite: and one of"),
        ("rewrite", "unknown contestant"),
        ("", "unknown contestant"),
    ],
)
def test_unknown_contestants(word: str, reason: str):
    with pytest.raises(ContestantError, match=reason):
        find_contestant(word)


def test_parsers_that_rewrite(tmp_path: Path):
    folder = stand_in.install(tmp_path / "programs")
    eal = EalOptions(1, "prefix", ("net_pcap0",), hugepages=True)
    for what, option in (("none", []), ("raw", ["--rewrite=raw"]), ("pnet:w3", ["--rewrite=pnet:w3"])):
        found = find_contestant(f"rewrite:{what}", [folder])
        assert found.argv(setup_of(eal=eal))[-2 - len(option) :] == ["-T", "0", *option]
        # On the virtual wire the generator sends to the address that is written.
        assert found.generator_options == ("--dst-ip=198.19.0.1-198.19.0.1",)
    with pytest.raises(ContestantError, match="use --wire net_pcap or virtual"):
        find_contestant("rewrite:raw", [folder]).argv(setup_of())
    assert find_contestant("rewrite:none", [folder]).argv(setup_of())


def test_parsers_that_are_not_built(tmp_path: Path):
    with pytest.raises(ContestantError, match="with --target-dir target/rewrite"):
        find_contestant("rewrite:raw", [tmp_path])


def test_a_program_that_is_not_built(tmp_path: Path):
    with pytest.raises(ContestantError, match="no program 'l2fwd-rs'"):
        find_contestant("l2fwd-rs", [tmp_path])


def test_an_external_forwarder():
    line = (
        f"{sys.executable} {{eal}} -- -p {{portmask}} --n={{ports}}x{{queues}} 'a b' {{burst}} {{descriptors}} {{{{}}}}"
    )
    argv = external(f"mine={line}").argv(setup_of())
    assert argv[1:] == [*f"-l 3 {ALONE} {DEVICES} -- -p 0x3 --n=2x1".split(), "a b", "32", "1024", "{}"]


def test_an_external_forwarder_with_a_main_lcore_apart():
    argv = external(f"mine={sys.executable} {{eal_main}}").argv(setup_of())
    assert argv[1] == "--lcores=0@0,1@3"
    argv = external(f"mine={sys.executable} {{eal_alone}} {{devices}}").argv(setup_of())
    assert " ".join(argv[1:]) == f"-l 3 {ALONE} {DEVICES}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mine", "give NAME=COMMAND LINE"),
        ("=true {eal}", "give NAME=COMMAND LINE"),
        ("a b=true {eal}", "give NAME=COMMAND LINE"),
        ("mine= ", "give NAME=COMMAND LINE"),
        ("mine=true", "lacks {eal}"),
        ("mine=true {eal} {oops}", "cannot fill in '{oops}'"),
        ("mine=true {eal} {", "cannot fill in '{'"),
        ("mine=true {eal} {0}", "cannot fill in"),
        ("mine=no-such-program {eal}", "no such program"),
        ("mine=true {eal} 'x", "cannot be split"),
        ("l2fwd-c=true {eal}", "is the name of a contestant"),
    ],
)
def test_bad_external_forwarders(text: str, reason: str):
    with pytest.raises(ContestantError, match=reason):
        external(text)
