# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The gate of codec-bench, the instructions of its rounds, and a short run."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import typer

from testbed.bench.codecs import cli
from testbed.bench.codecs.contestants import BYTES, CASES, OBJECT, Codec, choose, conditions
from testbed.bench.codecs.count import checked_in, count_round, counted_conditions, row_name, versions
from testbed.bench.codecs.record import CodecsRecord
from testbed.bench.codecs.tables import of_languages
from testbed.bench.count.gate import GROWTH_MAX, growth
from testbed.comparison.condition import Condition
from testbed.run.programs import Program, ProgramMissing, repository_root
from testbed.run.results_folder import Status

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
ROUNDS = 12
FORMS = [(), ("--packed",)]


@cache
def codecs() -> list[Codec]:
    try:
        return choose([], None)
    except ProgramMissing as error:
        pytest.skip(str(error))


def capnp() -> list[Codec]:
    return [one for one in codecs() if one.library == "capnp"]


def messages(codec: Codec, case: str, *options: str) -> bytes:
    argv = [codec.program.path, "write", codec.library, case, *options, "--rounds", str(ROUNDS)]
    return subprocess.run(argv, capture_output=True, check=True).stdout


def read(codec: Codec, case: str, content: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    argv = [codec.program.path, "read", codec.library, case, *options]
    return subprocess.run(argv, input=content, capture_output=True, check=False)


def digests(codec: Codec, case: str, content: bytes, *options: str) -> dict[str, str]:
    done = read(codec, case, content, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.e2e
@pytest.mark.parametrize("form", FORMS, ids=["unpacked", "packed"])
@pytest.mark.parametrize("case", CASES)
def test_each_reads_what_the_other_has_written(case: str, form: tuple[str, ...]) -> None:
    for buffers in ((), ("--reuse",)):
        written = [messages(one, case, *form, *buffers) for one in capnp()]
        # With buffers of the same size, messages are not split, and so are the same.
        assert not buffers or written[0] == written[1]
        found = {
            json.dumps(digests(one, case, content, *form, *again))
            for one, content, again in itertools.product(capnp(), written, ((), ("--reuse",)))
        }
        assert len(found) == 1


@pytest.mark.e2e
@pytest.mark.parametrize("case", CASES)
def test_each_protobuf_writes_the_same(case: str) -> None:
    both = [one for one in codecs() if one.library == "protobuf"]
    rust, cpp = (messages(one, case) for one in both)
    assert rust == cpp
    assert len({json.dumps(digests(one, case, rust, *again)) for one in both for again in ((), ("--reuse",))}) == 1


@pytest.mark.e2e
@pytest.mark.parametrize("case", CASES)
def test_packing_changes_no_value(case: str) -> None:
    (one, *_) = capnp()
    unpacked, packed = (digests(one, case, messages(one, case, *form), *form) for form in FORMS)
    assert unpacked == packed


@pytest.mark.e2e
@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_found_wherever_it_is(case: str) -> None:
    # The last byte of each message that is not zero is one of a text or of a number. In eval, values may be zero: there
    # it is the first byte after the segment table and the pointer to the root, which is the operation or the value.
    for codec in capnp():
        good = messages(codec, case, "--reuse")
        right = digests(codec, case, good)
        place, places = 0, []
        while place < len(good):
            end = place + 4 + int.from_bytes(good[place : place + 4], "little")
            places.append(place + (4 + 16 if case == "eval" else len(good[place:end].rstrip(b"\0")) - 1))
            place = end
        assert len(places) == 2 * ROUNDS
        for wrong in places:
            changed = bytearray(good)
            changed[wrong] ^= 1
            done = read(codec, case, bytes(changed))
            assert done.returncode != 0 or json.loads(done.stdout) != right, f"byte {wrong}"


@pytest.mark.e2e
@pytest.mark.parametrize("form", FORMS, ids=["unpacked", "packed"])
def test_a_message_that_is_cut_off_is_an_error(form: tuple[str, ...]) -> None:
    for codec in capnp():
        good = messages(codec, "catrank", *form)
        length = int.from_bytes(good[:4], "little")
        # The file ends; a message ends before its last text does.
        short = (length - 8).to_bytes(4, "little") + good[4 : length - 4] + good[4 + length :]
        for wrong in (good[:-3], short):
            done = read(codec, "catrank", wrong, *form)
            assert done.returncode == 1, done.stdout
            assert done.stderr.startswith(codec.program.name.encode() + b": ")


@pytest.mark.e2e
@pytest.mark.parametrize("words", [("run", "capnp", "carsales"), ("run", "xml", "eval", "bytes"), ("list", "--fast")])
def test_a_wrong_command_line_is_named(words: tuple[str, ...]) -> None:
    for codec in capnp():
        done = subprocess.run([codec.program.path, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "codec-bench/README.md" in done.stderr


@pytest.mark.e2e
@pytest.mark.parametrize("condition", counted_conditions((True,)), ids=Condition.describe)
def test_a_round_takes_no_more_instructions(condition: Condition) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("'valgrind' is not installed")
    before = checked_in(versions())
    # What is compared; plain structs are there to be subtracted.
    for codec in capnp():
        now = count_round(codec, condition)
        if (name := row_name(now)) not in before:
            pytest.skip(f"codec-bench/counts.json has no row '{name}' for {versions()}: {now.instructions:.1f} now")
        assert growth(now.instructions, before[name]) <= GROWTH_MAX, "see ./x bench codecs --count"


@pytest.mark.e2e
def test_a_short_run(tmp_path: Path) -> None:
    codecs()
    words = ["--quick", "--race", "--blocks=1", "--case=eval", "--case=carsales"]
    argv = [sys.executable, "-m", "testbed", "bench", "codecs", *words]
    argv += [f"--out={tmp_path}", f"--json={tmp_path / 'copy.json'}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    record = CodecsRecord.model_validate_json((tmp_path / "copy.json").read_text())
    assert record.status is Status.PASSED
    assert [one.condition for one in record.measurements] == conditions(("eval", "carsales"), cli.MODES[:-1], [True])
    for measurement in record.measurements:
        names = [one.name for one in codecs() if one.takes_part(measurement.condition)]
        assert measurement.labels == [*names, f"{names[0]} (again)"]
        (block,) = measurement.blocks
        assert block.reasons == []
        for run in block.runs:
            assert sum(run.slices.tx_packets) > 0
            assert all(cpu > 0 for cpu in run.slices.cpu_seconds)
            has_bytes = measurement.condition.wire != OBJECT and not run.label.startswith("plain")
            assert bool(run.message_bytes) == has_bytes
    assert {(pair.a, pair.b) for pair in of_languages(record.pairs)} == {
        ("capnp-rust", "capnp-cpp"),
        ("plain-rust", "plain-cpp"),
        ("protobuf-rust", "protobuf-cpp"),
    }
    (folder,) = tmp_path.glob("bench-codecs-*")
    assert "capnp-rust" in (folder / "report.html").read_text()


def test_who_takes_part() -> None:
    plain = Codec("plain-cpp", "plain", Program("codec-cpp", "C++", Path()), "", True, False, False)
    able = [(one.wire, one.packed) for one in conditions(["eval"], cli.MODES, [False]) if plain.takes_part(one)]
    assert able == [(OBJECT, False), (BYTES, False)]


def test_what_is_unknown_is_named() -> None:
    codecs()
    with pytest.raises(ProgramMissing, match="no library 'xml': choose from capnp-rust, "):
        choose(["xml"], None)
    with pytest.raises(typer.BadParameter, match="'fax': choose from object, bytes, pipe, tcp"):
        cli.codecs(mode=["fax"])
    with pytest.raises(typer.BadParameter, match="there is no race"):
        cli.codecs(race=True, renew=True)


@pytest.mark.e2e
@pytest.mark.parametrize("case", CASES)
def test_all_formats_have_the_same_values(case: str) -> None:
    found = [digests(one, case, messages(one, case)) for one in codecs() if one.has_bytes]
    assert len(found) > 4
    assert all(one == found[0] for one in found)


def test_the_checked_in_figures_are_of_these_conditions() -> None:
    path = repository_root() / "codec-bench" / "counts.json"
    names = {one.describe() for one in counted_conditions()}
    for rows in json.loads(path.read_text())["figures"].values():
        assert {name.partition(": ")[2] for name in rows} == names
