# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`bench overload` from the command line to the page, on stand-ins or with what is wrong refused."""

from __future__ import annotations

import json
import struct
from datetime import UTC, datetime
from pathlib import Path

import dpkt
import pytest
import stand_in
from test_bench_statistics import blocks_of
from typer.testing import CliRunner

from testbed.bench import report
from testbed.bench.record import OverloadRecord, read_record, write_record
from testbed.bench.sockets.record import read_record as read_races
from testbed.cli import app
from testbed.comparison.condition import Condition, ConditionError, sweep
from testbed.comparison.figures import figures
from testbed.comparison.ipv4 import write_capture
from testbed.comparison.pairs import pairs
from testbed.comparison.record import Measurement
from testbed.run.environment import record_environment
from testbed.run.results_folder import ResultsError, Status
from testbed.wire.frames import read_frames


def invoke(*words: str, programs: Path):
    return CliRunner().invoke(app, ["bench", "overload", f"--bin-dir={programs}", *words], terminal_width=300)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return stand_in.install(tmp_path / "programs")


def test_a_dry_run_prints_the_command_lines(programs: Path):
    done = invoke("--dry-run", "--no-hugepages", "l2fwd-rs", "l2fwd-c", "--size=128", "--ports=2", programs=programs)
    assert done.exit_code == 0
    for name in ("l2fwd-rs", "l2fwd-c"):
        assert f"{name}: {programs / name} -l " in done.output
    assert done.output.count("--vdev=net_null0,size=124 --vdev=net_null1,size=124 -- -p 0x3 -q 2 ") == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["l2fwd-rs"], "name at least two contestants"),
        (["l2fwd-rs", "l2fwd-rs"], "appears twice"),
        (["l2fwd-rs", "l3fwd"], "unknown contestant 'l3fwd'"),
        (["--external=x"], "give NAME=COMMAND LINE"),
        (["--wire=radio"], "'radio' is not a wire"),
        (["--wire=0000:18:00.0", "--ports=2"], "2 ports on 1 NICs"),
        (["--wire=virtual", "--ports=4"], "the generator has one or two"),
        (["--wire=virtual", "--descriptors=1000"], "a power of two"),
        (["--wire=virtual", "--sweep=ports"], "the generator has one or two"),
        (["--sweep=colours"], "unknown sweep 'colours'"),
        (["--sweep=sizes=a,b"], "give numbers, as in sizes=1,2"),
        (["--sweep=sizes="], "give numbers"),
        (["--sweep=sizes=0"], "give numbers from 1"),
        (["--sweep=sizes=63"], "the smallest frame has 64 bytes"),
        (["--sweep=drops=100"], "from 0 to 99"),
        (["--size=63"], "--size"),
        (["--slice=1"], "--slice"),
        (["--blocks=0"], "--blocks"),
        (["--drops=100"], "--drops"),
        (["--count", "--wire=virtual"], "counted on net_null or net_pcap"),
        (["--loop", "--wire=net_pcap"], "counted on net_null"),
        (["--count", "--renew", "--wire=net_pcap"], "counted on net_null"),
        (["--json=/no/such/folder/x.json"], "the folder '/no/such/folder' does not exist"),
    ],
)
def test_bad_input_is_refused_before_anything_starts(programs: Path, tmp_path: Path, words: list[str], reason: str):
    given = [*words, f"--out={tmp_path / 'results'}"]
    named = [] if any(word.startswith(("l2", "--external")) for word in words) else ["l2fwd-rs", "l2fwd-c"]
    done = invoke(*named, *given, programs=programs)
    assert done.exit_code == 2
    assert reason in done.output
    assert not (tmp_path / "results").exists()


def test_sweeps_change_one_thing():
    base = Condition(wire="net_null", queues=2)
    conditions = sweep(base, "bursts")
    assert [condition.burst for condition in conditions] == [1, 4, 8, 16, 32, 64, 128, 256]
    assert {condition.model_copy(update={"burst": 32}) for condition in conditions} == {base}
    assert [condition.drops for condition in sweep(base, "drops")] == [0, 30, 90]
    assert [condition.size for condition in sweep(base, "sizes", [64, 1518])] == [64, 1518]


def test_devices_that_always_have_frames():
    capture = Path("frames.pcap")
    assert Condition(ports=2).endless_vdevs(capture) == ("net_null0,size=60", "net_null1,size=60")
    once = f"rx_pcap={capture}"
    on_pcap = Condition(wire="net_pcap", queues=2)
    assert on_pcap.endless_vdevs(capture) == (f"net_pcap0,{once},{once},infinite_rx=1",)
    assert on_pcap.nics == ()


def test_frames_that_a_parser_accepts(tmp_path: Path):
    write_capture(tmp_path / "frames.pcap", 1514)
    frames = list(read_frames(tmp_path / "frames.pcap"))
    assert len(set(frames)) == 256
    for frame in frames:
        packet = dpkt.ethernet.Ethernet(frame).data
        assert (len(frame), packet.len, packet.data.ulen) == (1514, 1500, 1480)
        # Over a right checksum, its field included, the sum is 0.
        assert dpkt.in_cksum(bytes(packet)[:20]) == 0
        pseudo = packet.src + packet.dst + struct.pack(">BBH", 0, packet.p, packet.data.ulen)
        assert dpkt.in_cksum(pseudo + bytes(packet.data)) == 0


def test_a_condition_in_words():
    assert Condition().describe() == "net_null, 64 bytes, 1 port"
    assert Condition().describe("drops") == "net_null, 64 bytes, 1 port, 0 % refused"
    described = Condition(wire="virtual", ports=2, queues=4, burst=8, descriptors=256, drops=30).describe()
    assert described == "virtual, 64 bytes, 2 ports, 4 queues, burst 8, 256 descriptors, 30 % refused"


def test_nics():
    condition = Condition(wire="0000:18:00.0,18:00.1", ports=2)
    condition.check()
    assert condition.nics == ("0000:18:00.0", "18:00.1")
    with pytest.raises(ConditionError, match="not a wire"):
        Condition(wire="0000:18:00.9").check()


def record_of(*measurements: Measurement, **changes: object) -> OverloadRecord:
    fields = {
        "status": Status.PASSED,
        "started": datetime.now(UTC),
        "command": "./x bench overload",
        "quick": False,
        "hugepages": True,
        "per_cpu_second": False,
        "blocks": 10,
        "rounds": 4,
        "slice_ms": 100,
        "seed": 1,
        "lcores": {"generator": 0, "forwarder": 1},
        "environment": record_environment([], hugepages=True),
    }
    record = OverloadRecord(**{**fields, **changes}, measurements=list(measurements))
    for measurement in measurements:
        measurement.figures = figures(measurement, 2_000_000_000)
        compared, floor = pairs(measurement, record.per_cpu_second)
        record.pairs += compared
        record.noise_floor += floor
    return record


LABELS = ["a", "b", "a (again)"]


def swept() -> list[Measurement]:
    return [
        Measurement(
            condition=Condition(drops=drops), sweep="drops", labels=LABELS, blocks=blocks_of(1 + drops / 1000, 4)
        )
        for drops in (0, 30, 90)
    ]


def test_the_form_of_the_json(tmp_path: Path):
    path = tmp_path / "summary.json"
    write_record(path, record_of(Measurement(condition=Condition(), labels=LABELS, blocks=blocks_of(1.2))))
    raw = json.loads(path.read_text())
    (pair,) = raw["pairs"]
    assert (pair["a"], pair["b"], pair["wire"], pair["verdict"]) == ("a", "b", "net_null", "faster")
    low, high = pair["ratio"]["ci95"]
    assert low <= pair["ratio"]["median"] <= high
    (floor,) = raw["noise_floor"]
    assert floor.keys() == pair.keys()
    assert floor["ratio"].keys() == pair["ratio"].keys()
    assert raw["environment"]["cpu"]["logical"] > 0
    assert len(raw["measurements"][0]["blocks"][0]["runs"][0]["slices"]["tx_packets"]) == 8
    assert read_record(path).pairs[0].ratio.median == pair["ratio"]["median"]


@pytest.mark.parametrize("text", ["", "{}", '{"schema_version": 1, "kind": "demo"}', "\xff"])
def test_a_file_that_is_no_record(tmp_path: Path, text: str):
    path = tmp_path / "summary.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ResultsError, match="is not a record of 'bench overload'"):
        read_record(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"schema_version": 2}, "has schema version 2, this tool reads version 1"), ({"kind": "demo"}, "kind: ")],
)
def test_a_record_of_another_kind_or_version(tmp_path: Path, change: dict[str, object], reason: str):
    path = tmp_path / "summary.json"
    write_record(path, record_of().model_copy(update=change))
    with pytest.raises(ResultsError, match=reason):
        read_record(path)


def test_the_quoted_records_are_read():
    quoted = Path(__file__).parents[2] / "results" / "quoted"
    paths = [path for path in quoted.glob("*/*.json.xz") if not path.name.endswith("-count.json.xz")]
    assert len(paths) > 10
    races = [path for path in paths if path.name.startswith("sockets")]
    assert races
    for path in paths:
        assert (read_races(path) if path in races else read_record(path)).measurements


def test_a_record_that_is_not_there(tmp_path: Path):
    with pytest.raises(ResultsError, match="cannot read"):
        read_record(tmp_path / "summary.json")


def test_the_page():
    single = Measurement(condition=Condition(), labels=LABELS, blocks=blocks_of(1.2))
    page = report.render(record_of(single, *swept()))
    assert "a forwards 1.2" in page
    assert ": a is faster than b." in page
    assert page.count("<svg") == 3
    assert "Sweep of drops on net_null" in page
    assert "net_null, 64 bytes, 1 port, 30 % refused" in page
    # No colour of its own: all follow light and dark.
    assert "#0a0a0a" not in page
    assert "var(--series-1)" in page


def test_a_forwarder_that_waited_is_a_remark():
    blocks = blocks_of(1.0)
    assert "not overloaded" not in report.render(
        record_of(Measurement(condition=Condition(), labels=LABELS, blocks=blocks))
    )
    for block in blocks:
        block.runs[1].empty_poll_share = 0.5
    page = report.render(record_of(Measurement(condition=Condition(), labels=LABELS, blocks=blocks)))
    assert "not overloaded: more than 5 % of the polls of b found nothing" in page


def test_the_page_of_what_was_cut_short_or_failed():
    blocks = blocks_of(1.0, 2)
    blocks[0].reasons = ["b: ended with <status> 1"]
    measurement = Measurement(condition=Condition(), labels=LABELS, blocks=blocks, skipped={"c": "it cannot"})
    page = report.render(record_of(measurement, status=Status.INTERRUPTED, reason="interrupted"))
    assert "Partial." in page
    assert "block 1 is invalid: b: ended with &lt;status&gt; 1" in page
    assert "without c: it cannot" in page
    assert "No block gave a result" in report.render(record_of())
