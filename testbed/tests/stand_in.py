# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Stands in for l2fwd-c, l2fwd-rs and the generator where a test is about the tool and not about them.

It speaks their contract (command line, JSON, signals) and misbehaves as STAND_IN, a JSON object, asks:
{"l2fwd-c": {"tx": 900000}, "generator": {"corrupted": 3}}. Installed by `install` under their names.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import dpkt.pcap

MAC = "0a:00:00:00:00:{:02x}"
SENT = 3_000_000


def install(folder: Path) -> Path:
    """Makes executables of the three names in `folder`."""
    folder.mkdir(exist_ok=True)
    for name in ("l2fwd-c", "l2fwd-rs", "generator"):
        path = folder / name
        path.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(Path(__file__).resolve().parent)!r})\n"
            f"import stand_in\nsys.exit(stand_in.main({name!r}))\n"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)


def counters(rx: int, tx: int, polls: int, empty: int) -> dict:
    return {
        "rx_packets": rx,
        "tx_packets": tx,
        "tx_dropped": rx - tx,
        "rx_short": 0,
        "rx_polls": polls,
        "rx_empty_polls": empty,
        "rx_burst_avg": rx / polls if polls else 0.0,
        "rx_pps": 0,
        "tx_pps": 0,
    }


def statistics(kind: str, ports: int, *figures: int) -> dict:
    device = dict.fromkeys(
        ("ipackets", "opackets", "ibytes", "obytes", "imissed", "ierrors", "oerrors", "rx_nombuf"), 0
    )
    idle = counters(0, 0, 5_000_000, 5_000_000)
    rows = [{"port": port, **(counters(*figures) if port == 0 else idle), "device": device} for port in range(ports)]
    return {"type": kind, "time_s": 1.0, "ports": rows, "total": {**counters(*figures), "in_flight": 0}}


def values(argv: list[str], option: str) -> Iterator[str]:
    return (word.split("=", 1)[1] for word in argv if word.startswith(option + "="))


def forward(name: str, wish: dict) -> int:
    if "die" in wish:
        print(f"l2fwd: {wish['die']}", file=sys.stderr)
        return 1
    stopped: list[int] = []
    resets: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    signal.signal(signal.SIGUSR1, lambda number, _: resets.append(number))
    vdevs = list(values(sys.argv, "--vdev"))
    # A comparison of programs asks each by its telemetry, and says where that is to be.
    if vdevs[0].startswith("net_null") and "RUNTIME_DIRECTORY" in os.environ:
        return forward_endlessly(wish, stopped)
    ports = [
        {"port": i, "name": vdev.split(",")[0], "mac": MAC.format(i), "peer": i, "queues": 1, "rxd": 1024, "txd": 1024}
        for i, vdev in enumerate(vdevs)
    ]
    if not wish.get("mute"):
        say({"type": "start", "program": name, "version": "0", "dpdk": "0", "ports": ports, "lcores": []})
    if vdevs[0].startswith("net_pcap"):
        rx = tx = forward_capture(vdevs[0], wish)
        final = (rx, tx, max(rx, 1), 0)
        say(statistics("period", 1, *final))
    else:
        rx, tx = wish.get("rx", SENT), wish.get("tx", SENT * 9 // 10)
        # Idle, partly loaded, loaded, partly loaded, idle; bursts of 20 while loaded. A program that goes on reporting
        # begins where this ends, or a reader that came early would see the load as its own.
        for share, polls, empty in (
            (0.0, 10_000_000, 10_000_000),
            (0.1, 16_000_000, 15_985_000),
            (0.9, 16_120_000, 15_985_000 + wish.get("empty", 0)),
            (1.0, 26_000_000, 25_000_000),
            (1.0, 46_000_000, 45_000_000),
        )[4 if "every" in wish else 0 :]:
            say(statistics("period", len(ports), int(rx * share), int(tx * share), polls, empty))
        final = (rx, tx, 50_000_000, 49_000_000)
        if ",path=" in vdevs[0]:
            listen(wire(vdevs[0], "path"), tx)
    while not stopped:
        time.sleep(wish.get("every", 0.01))
        if resets:
            resets.clear()
            if "breaks" in wish:
                print(f"l2fwd: {wish['breaks']}", file=sys.stderr)
                return 1
            if "not_reset" in wish:
                print(f"l2fwd: warning: {wish['not_reset']}", file=sys.stderr, flush=True)
            elif not wish.get("mute_resets"):
                say({"type": "reset", "time_s": 2.0, "down_s": 0.0125})
        if "every" in wish:
            risen = wish.get("rises", 0)
            final = (final[0] + risen, final[1] + risen, *final[2:])
            say(statistics("period", len(ports), *final))
    if wish.get("silent_end"):
        return 0
    say({**statistics("final", len(ports), *final), "balanced": wish.get("balanced", True)})
    return wish.get("status", 0)


def forward_endlessly(wish: dict, stopped: list[int]) -> int:
    """The null device: so many frames for each second of CPU time, counted by DPDK's telemetry."""
    os.sched_setaffinity(0, {int(sys.argv[sys.argv.index("-l") + 1])})
    # Or the thread that answers would wait for its turn longer than a slice may be uncertain.
    sys.setswitchinterval(1e-5)
    folder = Path(os.environ["RUNTIME_DIRECTORY"], "dpdk", next(values(sys.argv, "--file-prefix")))
    folder.mkdir(parents=True)
    threading.Thread(target=telemetry, args=(folder / "dpdk_telemetry.v2", wish), daemon=True).start()
    print("EAL: TSC frequency is ~2000000 KHz", flush=True)
    # As a forwarder does, it never sleeps.
    while not stopped:
        sum(range(100))
    return wish.get("status", 0)


def telemetry(path: Path, wish: dict) -> None:
    """Answers as DPDK does, to one client."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()
        connection, _ = listening.accept()
    connection.send(json.dumps({"version": "DPDK", "pid": os.getpid(), "max_output_len": 16384}).encode())
    while command := connection.recv(1024).decode():
        frames = int(wish.get("per_cpu_second", 1_000_000) * time.process_time())
        counted = {"ipackets": frames, "opackets": frames, "imissed": 0, "oerrors": 0, "rx_nombuf": 0}
        connection.send(json.dumps({command.partition(",")[0]: counted}).encode())


def forward_capture(vdev: str, wish: dict) -> int:
    """The pcap device, with the faults asked for."""
    paths = dict(word.split("=", 1) for word in vdev.split(",")[1:])
    with Path(paths["rx_pcap"]).open("rb") as source, Path(paths["tx_pcap"]).open("wb") as sink:
        writer = dpkt.pcap.Writer(sink, snaplen=65535)
        header = bytes.fromhex(("02:00:00:00:00:00" + MAC.format(0)).replace(":", ""))
        count = 0
        for count, (_, frame) in enumerate(dpkt.pcap.UniversalReader(source), start=1):
            out = bytearray(header + frame[12:])
            if count == wish.get("lose_frame"):
                continue
            if count == wish.get("change_frame"):
                out[-1] ^= 1
            writer.writepkt(bytes(out), ts=count)
    return count


def generate(wish: dict) -> int:
    if "die" in wish:
        print(f"generator: {wish['die']}", file=sys.stderr)
        return 1
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    # "max" is none that anything here is compared with.
    rate = float(next(values(sys.argv, "--rate"), "max").replace("max", "inf"))
    frames = next(values(sys.argv, "--count"), None)
    seconds = float(next(values(sys.argv, "--duration"))) if frames is None else int(frames) / rate
    if frames is not None:
        seconds *= max(1.0, rate / wish.get("slowest_burst_fps", rate))
    end = time.monotonic() + wish.get("takes", 0.0)
    joint = wire(next(values(sys.argv, "--vdev")), "iface")
    while (time.monotonic() < end or not joint.exists()) and not stopped:
        time.sleep(0.01)
    forwarded = int(joint.read_text()) if joint.exists() else 0
    sent, received = wish.get("sent", SENT), wish.get("received", forwarded)
    if "share" in wish:
        sent = int(wish["share"] * seconds * rate)
        received = min(received, sent)
    stream = {
        "sent": sent,
        "tx_failed": wish.get("tx_failed", 12345),
        "received": received,
        "lost": sent - received,
        "duplicated": 0,
        "reordered": 0,
        "corrupted": wish.get("corrupted", 0),
        "wrong_mac": wish.get("wrong_mac", 0),
        "late": 0,
        "tx_pps": sent / seconds,
        "rx_pps": received / seconds,
    }
    outage = {"outage_s": wish["outage_s"]} if "outage_s" in wish else {}
    latency = {"min": 1000, "avg": 2000.5, "max": 9000, "ipdv": 10.5, "p50": 1900, "p90": 3000, "p99": 4000}
    latency |= {"p99_9": 5000, "p99_99": 6000, "count": received}
    say(
        {
            "type": "result",
            "program": "generator",
            "version": "0",
            "dpdk": "0",
            "size": int(next(values(sys.argv, "--size"))),
            "rate_asked_pps": None,
            "rate_reached_pps": sent / seconds,
            "rate_ok": None,
            "duration_s": wish.get("duration", seconds),
            "cpu_share": wish.get("share", 1.0),
            "interrupted": bool(stopped),
            "streams": [{"stream": 0, "tx_port": 0, "rx_port": 0, **stream, **outage, "latency_ns": latency}],
            "foreign": wish.get("foreign", 0),
            "probes": {"sent": 0, "received": 0},
            "total": stream,
            "device": [],
            **({"gaps": wish["gaps"]} if "gaps" in wish else {}),
        }
    )
    return 0


def wire(vdev: str, key: str) -> Path:
    """The socket of a device. The stand-ins have no wire: through it the generator learns what the forwarder sent."""
    return Path(dict(word.split("=", 1) for word in vdev.split(",")[1:])[key])


def listen(joint: Path, sent: int) -> None:
    """Lets the generator go on."""
    unfinished = joint.with_suffix(".unfinished")
    unfinished.write_text(str(sent))
    unfinished.rename(joint)


def main(name: str) -> int:
    if "--version" in sys.argv:
        print(f"{name} stand-in")
        return 0
    wish = json.loads(os.environ.get("STAND_IN", "{}")).get(name, {})
    return generate(wish) if name == "generator" else forward(name, wish)
