# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Stands in for a TRex tree where a real server cannot be brought to do what a test is about.

`install` makes a folder with a `t-rex-64` and a client with the names that the bridge and the stream profile use. Both
misbehave as TREX_STAND_IN, a JSON object, asks: {"owner": "somebody", "rate": 1e6}. What a forwarder would do is done
here: all frames come back, but for "lost". The real thing is tried in test_campaign_trex_real.py.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import time
from pathlib import Path

_CLIENT = Path("automation/trex_control_plane/interactive/trex")
_HERE = Path(__file__).resolve().parent
READY, DIE = "ready", "die"
# The tree that the client was imported from.
HOME = ""
# How long traffic without an end has gone on when it is ended.
_ENDLESS_S = 1.0
# Of an Ethernet, an IPv4 and a UDP header.
_HEADERS = 42


def install(home: Path) -> Path:
    """Makes the tree."""
    package = home / _CLIENT
    (package / "stl").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "stl" / "__init__.py").touch()
    lines = ["import sys", f"sys.path.insert(0, {str(_HERE)!r})", "from trex_stand_in import *"]
    lines += ["import trex_stand_in", f"trex_stand_in.HOME = {str(home)!r}", "trex_stand_in.keep_own_time()"]
    (package / "stl" / "api.py").write_text("\n".join(lines))
    server = home / "t-rex-64"
    server.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(_HERE)!r})\n"
        f"import trex_stand_in\nsys.exit(trex_stand_in.serve({str(home)!r}))\n"
    )
    server.chmod(0o755)
    return home


def keep_own_time() -> None:
    """Lets time pass only where it is waited for, so that no trial depends on how busy the machine is."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    time.monotonic, time.sleep = lambda: now[0], sleep


def _wish() -> dict:
    return json.loads(os.environ.get("TREX_STAND_IN", "{}"))


def serve(home: str) -> int:
    """The server: it is there, and ends when told to."""
    if "refuse" in _wish():
        print(_wish()["refuse"])
        return 1
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    print("arguments:", *sys.argv[1:], flush=True)
    Path(home, READY).touch()
    while not stopped and not Path(home, DIE).exists():
        time.sleep(0.01)
    Path(home, READY).unlink()
    if not stopped:
        print("segmentation fault", flush=True)
    return 0 if stopped else 139


class TRexError(Exception):
    """As TRex calls it."""


class Packet:
    """A layer, or several: all that is asked of it is its length."""

    def __init__(self, length=0, **fields):
        self.length = length
        self.fields = fields

        self.layers = [self]

    def __truediv__(self, other):
        whole = Packet(self.length + len(other))
        whole.layers = [*self.layers, *getattr(other, "layers", [])]
        return whole

    def __len__(self):
        return self.length


def Ether(**fields):  # noqa: N802 (scapy's name)
    return Packet(14, **fields)


def Dot1Q(**fields):  # noqa: N802 (scapy's name)
    return Packet(4, **fields)


def IP(**fields):  # noqa: N802 (scapy's name)
    return Packet(20, **fields)


def IPv6(**fields):  # noqa: N802 (scapy's name)
    return Packet(40, **fields)


def VXLAN(**fields):  # noqa: N802 (scapy's name)
    return Packet(8, **fields)


class CTRexVmInsFixHwCs:
    """As TRex has it."""

    L4_TYPE_UDP = 11


def UDP(**fields):  # noqa: N802 (scapy's name)
    return Packet(8, **fields)


class Described:
    """Keeps what it was made of."""

    def __init__(self, *_, **fields):
        self.__dict__.update(fields)


class STLVM(Described):
    """The fields that change."""

    def __init__(self):
        super().__init__(variables=[], places=[], checksum=False)

    def var(self, **words):
        self.variables.append(words)

    def write(self, **words):
        self.places.append(words)

    def fix_chksum(self, offset="IP"):
        self.checksum = offset

    def fix_chksum_hw(self, l3_offset, l4_offset, l4_type):
        self.checksum = (l3_offset, l4_offset, l4_type)


class STLPktBuilder(Described):
    vm = None


class STLStream(Described):
    pass


class STLTXCont(Described):
    total_pkts = None


class STLTXSingleBurst(Described):
    pass


class STLFlowStats(Described):
    pass


class STLFlowLatencyStats(Described):
    pass


class PacketBuffer(Described):
    pass


class STLProfile:
    """Loads a profile as TRex does."""

    def __init__(self, streams):
        self.streams = streams

    @classmethod
    def load_py(cls, path, direction, port_id, **tunables):
        words = [word for name, value in tunables.items() for word in (f"--{name}", str(value))]
        module = runpy.run_path(path)
        return cls(module["register"]().get_streams(direction=direction, port_id=port_id, tunables=words))

    def get_streams(self):
        return self.streams


class Context:
    api_ver = {"name": "STL", "major": 5, "minor": 1}  # noqa: RUF012 (as the client has it)


class Counter:
    def get_rel(self, _):
        return _wish().get("queue_drop", 0)


class PortOf:
    def __init__(self, owner):
        self.owner = owner

    def get_owner(self):
        return self.owner

    def is_prom_supported(self):
        return True


def ends_s(streams):
    """When the last of them ends, of which some begin behind others."""
    named = {stream.name: stream for stream in streams if hasattr(stream, "name")}
    ends = []
    for stream in streams:
        if not getattr(stream, "self_start", True):
            continue
        at_s, last = 0.0, stream
        while stream is not None:
            last = stream
            at_s += getattr(stream, "isg", 0.0) / 1e6 + (stream.mode.total_pkts - 1) / stream.mode.pps
            stream = named.get(getattr(stream, "next", None))
        # Until the next frame would be due.
        ends.append(at_s + 1 / last.mode.pps)
    return max(ends, default=0.0)


class STLClient:
    """A client of two ports that are wired crosswise."""

    CORE_MASK_PIN, CORE_MASK_SPLIT = 2, 1
    ctx = Context()
    global_stats = Counter()

    def __init__(self, **words):
        self.words = words
        self.streams: dict[int, list] = {}
        self.began = self.duration = 0.0
        self.running: list[int] = []
        self.connected = False

    def probe_server(self):
        if not Path(HOME, READY).exists() and not _wish().get("runs"):
            raise TRexError("Failed to get server response from tcp://127.0.0.1:4501")
        return {"version": "v3.08", "mode": _wish().get("mode", "STL")}

    def connect(self):
        if "api" in _wish():
            raise TRexError(_wish()["api"])
        self.connected = True

    def is_connected(self):
        return self.connected

    def disconnect(self, **_):
        self.connected = False
        Path(HOME, "disconnected").touch()

    def get_server_system_info(self):
        return {"dp_core_count_per_port": 1}

    def get_all_ports(self):
        return [0, 1]

    def get_port(self, _):
        return PortOf(_wish().get("owner", ""))

    def get_port_attr(self, port):
        link = "DOWN" if port in _wish().get("down", []) else "UP"
        virtual = "yes" if _wish().get("virtual", True) else "no"
        return {
            "link": link,
            "is_virtual": virtual,
            "speed": 10,
            "driver": _wish().get("driver", "net_memif"),
            "src_mac": f"02:00:00:00:01:0{port}",
        }

    def acquire(self, ports, force):
        if _wish().get("owner") and not force:
            raise TRexError("Port 0 : *** port is already owned by another session of 'somebody'")

    def set_port_attr(self, *_, **__):
        pass

    def remove_all_streams(self, _):
        self.streams.clear()

    def add_streams(self, streams, ports):
        if "reject" in _wish():
            raise TRexError(_wish()["reject"])
        self.streams[ports[0]] = streams

    def push_packets(self, packets, ports, force):
        Path(HOME, "learned").touch()

    def clear_stats(self, **_):
        pass

    def start(self, ports, duration, **_):
        time.sleep(_wish().get("begins_s", 0.0))
        self.began, self.duration, self.running = time.monotonic(), duration, list(ports)
        self.ended = None

    def stop(self, _):
        if self.running and self.duration <= 0 and not self._counted_out():
            # Whoever ends it has waited for something that the time here knows nothing of.
            time.sleep(_ENDLESS_S)
        self.ended, self.running = time.monotonic(), []

    def _counted_out(self):
        return all(stream.mode.total_pkts for streams in self.streams.values() for stream in streams)

    def get_active_ports(self):
        if "dies" in _wish():
            Path(HOME, DIE).touch()
            self.connected = False
            time.sleep(0.05)
            raise TRexError("connection to the server had been lost")
        takes_s = self.duration
        if self._counted_out():
            takes_s = max(ends_s(streams) for streams in self.streams.values())
        # The client cannot tell a server that is late from one of whose end it hears late.
        takes_s += _wish().get("late_s", 0.0) if takes_s > 0 else 0.0
        if takes_s > 0 and time.monotonic() >= self.began + takes_s:
            self.ended, self.running = time.monotonic(), []
        return self.running

    def get_stats(self):
        wish, flow_stats, latency = _wish(), {"global": {}}, {"global": {}}
        counts = {port: {"opackets": 0, "ipackets": 0, "oerrors": 0, "ierrors": 0} for port in (0, 1)}
        seconds = self.duration if self.duration > 0 else self.ended - self.began
        for port, streams in self.streams.items():
            for stream in streams:
                mode = stream.mode
                sent = mode.total_pkts or round(min(mode.pps, wish.get("rate", 1e9)) * seconds)
                stamped = isinstance(stream.flow_stats, STLFlowLatencyStats)
                came = 0 if stamped and wish.get("no_latency") else sent - (0 if stamped else wish.get("lost", 0))
                came = 0 if wish.get("cut_off") else came
                mark = None if stream.flow_stats is None else stream.flow_stats.pg_id
                if mark is not None and mark not in flow_stats:
                    flow_stats[mark] = {"tx_pkts": {port: 0, "total": 0}, "rx_pkts": {1 - port: 0, "total": 0}}
                    # Once, of all the streams that share it.
                    came -= wish.get("lost_of", {}).get(str(mark), 0)
                    short = wish.get("short_of", {}).get(str(mark), 0)
                    sent, came = sent - short, came - short
                counts[port]["opackets"] += sent
                counts[1 - port]["ipackets"] += came + (0 if stamped else wish.get("foreign", 0))
                if mark is None:
                    continue
                for what, count in (("tx_pkts", sent), ("rx_pkts", came)):
                    flow_stats[mark][what] = {name: told + count for name, told in flow_stats[mark][what].items()}
                if stamped:
                    told = {"total_min": 4, "total_max": 90, "average": 20.5, "jitter": 3, "histogram": {20: came}}
                    errors = {"dropped": 0, "out_of_order": 0, "dup": 0, "seq_too_high": 0, "seq_too_low": 0}
                    latency[mark] = {"latency": told, "err_cntrs": errors}
        queue_full = wish.get("queue_full", 0)
        return {"global": {"queue_full": queue_full}, **counts, "flow_stats": flow_stats, "latency": latency}
