# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The watcher: programs that die, hang, are never ready, or will not stop."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testbed.run import cpu_share, environment
from testbed.run.process import Process, ProcessError, describe_status

PATIENCE_S = 30.0


def python(tmp_path: Path, code: str, name: str = "child") -> Process:
    return Process(name, [sys.executable, "-u", "-c", code], tmp_path)


def test_a_line_too_deep_to_be_read_is_no_event(tmp_path: Path):
    with python(tmp_path, """print('{"a":' + '[' * 100_000); print('{"type": "start"}')""") as process:
        process.wait_for_event("start", PATIENCE_S)
        assert process.wait(PATIENCE_S) == 0
    assert process.events == [{"type": "start"}]


def test_an_event_is_waited_for_and_output_is_kept(tmp_path: Path):
    code = """
import sys
print('{"type": "start", "port": 7}')
print('not json {')
print('{broken')
print('said aside', file=sys.stderr)
"""
    with python(tmp_path, code) as process:
        assert process.wait_for_event("start", PATIENCE_S)["port"] == 7
        assert process.wait(PATIENCE_S) == 0
    assert [event["type"] for event in process.events] == ["start"]
    assert (tmp_path / "child.stdout").read_text() == '{"type": "start", "port": 7}\nnot json {\n{broken\n'
    assert (tmp_path / "child.stderr").read_text() == "said aside\n"
    assert process.stdout_text.endswith("{broken")
    assert shlex.split((tmp_path / "child.command").read_text()) == process.argv


def test_an_early_death_quotes_the_last_lines(tmp_path: Path):
    code = "import sys\nfor i in range(20): print('line', i, file=sys.stderr)\nsys.exit(3)"
    with python(tmp_path, code) as process, pytest.raises(ProcessError) as caught:
        process.wait_for_event("start", PATIENCE_S)
    message = str(caught.value)
    assert "child: ended with status 3 before its 'start' message" in message
    assert "line 19" in message
    assert "line 11" not in message


def test_a_death_by_signal_is_named(tmp_path: Path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    with python(tmp_path, code) as process, pytest.raises(ProcessError, match=r"signal SIGSEGV.*it printed nothing"):
        process.wait_for_event("start", PATIENCE_S)


def test_what_is_printed_just_before_the_death_counts(tmp_path: Path):
    with python(tmp_path, """print('{"type": "start"}')""") as process:
        process.wait(PATIENCE_S)
        assert process.wait_for_event("start", 0.0) == {"type": "start"}


def test_one_that_is_never_ready_is_an_error(tmp_path: Path):
    with python(tmp_path, "print('busy'); import time; time.sleep(600)") as process:
        process.wait_for_line("busy", PATIENCE_S)
        with pytest.raises(ProcessError, match=r"no sign of its 'start' message within 0\.2 s(.|\n)*busy"):
            process.wait_for_event("start", 0.2)
    assert process.returncode == -signal.SIGTERM


def test_one_that_does_not_end_is_an_error(tmp_path: Path):
    with (
        python(tmp_path, "import time; time.sleep(600)") as process,
        pytest.raises(ProcessError, match=r"still running after 0\.2 s"),
    ):
        process.wait(0.2)
    assert process.returncode is not None


def test_one_that_ignores_sigterm_is_killed_and_reported(tmp_path: Path):
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf'); time.sleep(600)"
    process = python(tmp_path, code).start()
    process.wait_for_line("deaf", PATIENCE_S)
    with pytest.raises(ProcessError, match="was killed"):
        process.stop(timeout_s=0.3)
    assert process.returncode == -signal.SIGKILL


def test_a_clean_stop_gives_the_status(tmp_path: Path):
    # Blocked until it is waited for: Python would sleep on if a signal came just before it began to sleep.
    code = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print('ready')
signal.sigwait({signal.SIGTERM})
print('{"type": "final"}')
"""
    with python(tmp_path, code) as process:
        process.wait_for_line("ready", PATIENCE_S)
        assert process.stop() == 0
        assert process.events == [{"type": "final"}]


def test_leaving_the_with_ends_it(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt), python(tmp_path, "import time; time.sleep(600)") as process:
        raise KeyboardInterrupt
    assert process.returncode is not None


def test_a_missing_program_is_named(tmp_path: Path):
    with pytest.raises(ProcessError, match="child: cannot execute '/nowhere/l2fwd-c': no such program"):
        Process("child", ["/nowhere/l2fwd-c"], tmp_path).start()


def test_it_does_not_outlive_a_killed_tool(tmp_path: Path):
    with _tool(tmp_path) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    _ends(child)


def test_it_does_not_outlive_a_tool_killed_as_it_starts(tmp_path: Path):
    # A setpriv that asks the kernel only when the tool is dead.
    late = tmp_path / "bin/setpriv"
    late.parent.mkdir()
    late.write_text(f'#!/bin/sh\nread -r _ < {tmp_path}/dead\nexec {shutil.which("setpriv")} "$@"\n')
    late.chmod(0o755)
    os.mkfifo(tmp_path / "dead")
    with _tool(tmp_path, PATH=f"{late.parent}:{os.environ['PATH']}") as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    (tmp_path / "dead").write_text("\n")
    _ends(child)


def _tool(tmp_path: Path, **environment: str) -> subprocess.Popen[str]:
    """A tool that starts a program, prints the program's pid, and goes on."""
    tool = f"""
import sys, time
from pathlib import Path
from testbed.run.process import Process
process = Process("child", [sys.executable, "-c", "import time; time.sleep(600)"], Path({str(tmp_path)!r})).start()
print(process.pid, flush=True)
time.sleep(600)
"""
    root = str(Path(__file__).resolve().parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", tool],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root, **environment},
    )


def _ends(child: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while _runs(child):
        assert time.monotonic() < deadline, "the child outlived its tool"
        time.sleep(0.02)


def test_cpu_time_is_told_until_the_end(tmp_path: Path):
    with python(tmp_path, "print('busy')\nwhile True: pass") as process:
        process.wait_for_line("busy", PATIENCE_S)
        before = process.cpu_seconds()
        deadline = time.monotonic() + PATIENCE_S
        while process.cpu_seconds() < before + 0.05:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.stop()
        assert process.cpu_seconds() is None


def test_the_time_that_others_had_its_cpu_is_told_until_the_end(tmp_path: Path):
    cpu = min(os.sched_getaffinity(0))
    text = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint('busy', flush=True)\nwhile True: pass"
    with python(tmp_path, text) as process, python(tmp_path, text) as other:
        for busy in (process, other):
            busy.wait_for_line("busy", PATIENCE_S)
        before = process.waited_seconds()
        if before is None:
            pytest.skip("this kernel does not count how long tasks wait (schedstat)")
        deadline = time.monotonic() + PATIENCE_S
        while process.waited_seconds() < before + 0.05:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.stop()
        assert process.waited_seconds() is None


@pytest.mark.parametrize(
    ("waited_s", "taken_s", "most_s"),
    [((1.0, 1.5), (7.0, 7.25), 0.75), ((1.0, None), (7.0, 7.25), None), ((1.0, 1.5), (None, None), None)],
)
def test_what_others_had_of_its_cpu_is_known_to_a_tick(
    waited_s: tuple[float, ...], taken_s: tuple[float, ...], most_s: float | None, monkeypatch: pytest.MonkeyPatch
):
    class Told:
        waited = iter(waited_s)

        def waited_seconds(self) -> float | None:
            return next(self.waited)

    counted = iter(taken_s)
    monkeypatch.setattr(cpu_share, "taken_seconds", lambda: next(counted))
    found = cpu_share.Waiting(Told()).taken_s()
    assert found == (None if most_s is None else pytest.approx(most_s + 1 / os.sysconf("SC_CLK_TCK")))


def test_what_interrupts_and_the_hypervisor_took_is_unknown_where_no_steal_is_reported(monkeypatch: pytest.MonkeyPatch):
    def taken(stat: str, flags: str) -> float | None:
        files = {"/proc/stat": stat, "/proc/cpuinfo": f"flags : {flags}"}
        monkeypatch.setattr(environment, "_text", lambda path, **_: files[str(path)])
        return environment.taken_seconds()

    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert taken("cpu 1 2 3 4 5 6 7 8 9 10", "fpu hypervisor") == pytest.approx(21 * tick)
    assert taken("cpu 1 2 3 4 5 6 7 0 9 10", "fpu hypervisor") is None
    assert taken("cpu 1 2 3 4 5 6 7 0 9 10", "fpu") == pytest.approx(13 * tick)
    assert taken("unknown", "fpu") is None


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("status", "text"), [(0, "status 0"), (2, "status 2"), (-9, "signal SIGKILL"), (-99, "signal 99")]
)
def test_describe_status(status: int, text: str):
    assert describe_status(status) == text
