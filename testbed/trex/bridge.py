# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Puts TRex's Python client behind JSON lines: a request on stdin, an answer on stdout.

It is a process of its own since that client brings its own scapy, yaml and zmq, wants a Python that these run on, and
sends SIGINT to itself when the server is gone. It needs nothing but the standard library and the TRex tree that it is
given: ``bridge.py TREX_HOME``.

A request is ``{"id": 1, "do": "connect", …}``; the answer has the same id and either what was found or
``"error": {"kind": …, "message": …}``. What TRex itself prints goes to stderr.
"""

import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path

# Where the client lies: in the source tree and in a release.
_CLIENT = Path("automation/trex_control_plane/interactive")
# The server reports finished ports at once; this is how often the client looks.
_LOOK_S = 0.001


class Refused(Exception):  # noqa: N818 (reads better where it is raised)
    """What was asked for cannot be done; `kind` says to the testbed what kind of remedy to name."""

    def __init__(self, kind, message, **details):
        super().__init__(message)
        self.kind = kind
        self.details = details


def find_client(home):
    """The folder to import the client from."""
    if not home.is_dir():
        raise Refused("no_tree", f"'{home}' is no folder")
    for folder in (home / _CLIENT, home / "scripts" / _CLIENT):
        if (folder / "trex" / "stl" / "api.py").is_file():
            return folder
    raise Refused("no_client", f"'{home}' has no {_CLIENT}/trex/stl/api.py")


class Bridge:
    """One client of one server."""

    def __init__(self, home):
        self._home = home
        self._api = None
        self._client = None
        self._ports = []
        # Of the traffic, by this clock: when it was asked for, and when the server had begun it; and the ports whose
        # link was down then.
        self._asked = self._began = 0.0
        self._were_down = []

    def load(self, _):
        """Imports the client."""
        sys.path.insert(0, str(find_client(self._home)))
        try:
            self._api = importlib.import_module("trex.stl.api")
        except Exception as error:
            # Whatever it is: an old library of TRex on a new Python fails in many ways.
            version = ".".join(map(str, sys.version_info[:3]))
            raise Refused("import", f"{type(error).__name__}: {error}", python=version) from error
        return {"python": ".".join(map(str, sys.version_info[:3]))}

    def connect(self, asked):
        """Connects, and tells what the server is and has."""
        self._client = client = self._api.STLClient(
            username=asked["user"],
            server=asked["server"],
            sync_port=asked["sync_port"],
            async_port=asked["async_port"],
            verbose_level="none",
        )
        try:
            version = client.probe_server()
        except self._api.TRexError as error:
            raise Refused("unreachable", str(error)) from error
        if version.get("mode") != "STL":
            raise Refused("mode", f"the server runs in mode {version.get('mode')}", version=version)
        try:
            client.connect()
        except self._api.TRexError as error:
            raise Refused("api", str(error), version=version) from error
        system = client.get_server_system_info()
        api = client.ctx.api_ver
        return {
            "version": version,
            "api": f"{api['major']}.{api['minor']}",
            "cores_per_pair": system.get("dp_core_count_per_port"),
            "ports": [self._port(port) for port in client.get_all_ports()],
        }

    def acquire(self, asked):
        """Takes the ports, stops what they do, and opens them for frames to any address."""
        client, ports = self._client, asked["ports"]
        missing = sorted(set(ports) - set(client.get_all_ports()))
        if missing:
            raise Refused("no_port", f"there is no port {missing[0]}", ports=client.get_all_ports())
        try:
            client.acquire(ports, force=asked["force"])
        except self._api.TRexError as error:
            owners = {port: client.get_port(port).get_owner() for port in ports}
            if any(owners.values()):
                raise Refused("owned", str(error), owners=owners) from error
            raise
        self._ports = ports
        client.stop(ports)
        client.remove_all_streams(ports)
        if all(client.get_port(port).is_prom_supported() for port in ports):
            client.set_port_attr(ports, promiscuous=True)
        down = self._down(ports)
        if down:
            raise Refused("link", f"the link of port {down[0]} is down", ports=down)
        return {"ports": [self._port(port) for port in ports]}

    def prepare(self, asked):
        """Loads the streams of a trial, and sends learning frames if asked to (RFC 2544, section 23)."""
        client = self._client
        client.stop(self._ports)
        client.remove_all_streams(self._ports)
        for number, port in enumerate(asked["tx_ports"]):
            profile = self._api.STLProfile.load_py(
                asked["profile"], direction=number, port_id=port, **asked["tunables"]
            )
            client.add_streams(profile.get_streams(), ports=[port])
        if asked["learn"]:
            for port in asked["rx_ports"]:
                client.push_packets([self._learning_frame(port)], ports=[port], force=True)
        time.sleep(asked["before_s"])
        return {}

    def run(self, asked):
        """Runs what was prepared, and tells every counter.

        The server ends it after `seconds` of its own schedule, which takes longer where it cannot keep the rate: then
        it is cut off after `limit_s`. Bursts end by themselves, with 0 seconds.
        """
        self.begin(asked)
        cut = False
        while set(self._client.get_active_ports()) & set(asked["tx_ports"]):
            if time.monotonic() - self._began >= asked["limit_s"]:
                self._client.stop(asked["tx_ports"])
                cut = True
                break
            time.sleep(_LOOK_S)
        return self._counted(asked, cut)

    def begin(self, asked):
        """Begins what was prepared, and returns at once; `end` ends it."""
        client, ports = self._client, asked["tx_ports"]
        client.clear_stats(clear_xstats=False)
        self._were_down = self._down(self._ports)
        # A core for each direction, where there are two.
        apart = len(ports) > 1 and asked["cores_per_pair"] > 1
        mask = client.CORE_MASK_PIN if apart else client.CORE_MASK_SPLIT
        self._asked = time.monotonic()
        client.start(ports, duration=asked["seconds"] or -1, force=True, core_mask=mask)
        self._began = time.monotonic()
        return {}

    def end(self, asked):
        """Ends what was begun, and tells every counter."""
        self._client.stop(asked["tx_ports"])
        return self._counted(asked, False)

    def _counted(self, asked, cut):
        client = self._client
        now = time.monotonic()
        time.sleep(asked["residual_s"])
        stats = client.get_stats()
        down = self._were_down
        down += [port for port in self._down(self._ports) if port not in down]
        drops = client.global_stats.get_rel("m_total_queue_drop")
        return {
            "measured_s": now - self._began,
            "longest_s": now - self._asked,
            "cut": cut,
            "links_down": down,
            "queue_drop": drops if isinstance(drops, int) else None,
            "global": stats["global"],
            "ports": {port: stats[port] for port in self._ports},
            "flow_stats": stats["flow_stats"],
            "latency": stats["latency"],
        }

    def close(self, _=None):
        """Stops the traffic and gives the ports back."""
        client, self._client = self._client, None
        if client is not None and client.is_connected():
            try:
                client.disconnect(stop_traffic=True, release_ports=True)
            except self._api.TRexError as error:
                print(error, file=sys.stderr)
        return {}

    def is_lost(self):
        """Whether there was a connection to the server, and is none any more."""
        return bool(self._ports) and self._client is not None and not self._client.is_connected()

    def _port(self, port):
        info = self._client.get_port_attr(port)
        names = ("driver", "description", "hw_mac", "pci_addr", "numa", "speed", "link", "owner", "rx_filter_mode")
        return {"port": port, "virtual": info.get("is_virtual") == "yes", **{name: info.get(name) for name in names}}

    def _down(self, ports):
        return [port for port in ports if self._client.get_port_attr(port)["link"] != "UP"]

    def _learning_frame(self, port):
        """A frame from the port's own address, to everybody, of the type for local experiments."""
        source = bytes.fromhex(self._client.get_port_attr(port)["src_mac"].replace(":", ""))
        frame = b"\xff" * 6 + source + b"\x88\xb5"
        return self._api.PacketBuffer(frame + b"\0" * (60 - len(frame)))


def _plain(value):
    """What JSON has a form for; what the server does not know becomes null."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else None


def answer(bridge, request):
    """What is said to a request."""
    try:
        action = {"load", "connect", "acquire", "prepare", "run", "begin", "end", "close"} & {request["do"]}
        if not action:
            raise Refused("request", f"no action '{request['do']}'")
        return _plain(getattr(bridge, action.pop())(request))
    except Refused as error:
        return {"error": {"kind": error.kind, "message": str(error), **_plain(error.details)}}
    except Exception as error:
        # The testbed decides what an error of TRex means; here none may end the conversation.
        kind = "lost" if bridge.is_lost() else "trex"
        return {"error": {"kind": kind, "message": f"{error}", "type": type(error).__name__}}


def main():
    """Answers requests until there are no more."""
    # The client prints, and nothing of that may get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    bridge = Bridge(Path(sys.argv[1]))
    try:
        for line in sys.stdin:
            request = json.loads(line)
            print(
                json.dumps({"type": "answer", "id": request["id"], **answer(bridge, request)}), file=answers, flush=True
            )
    finally:
        bridge.close()


if __name__ == "__main__":
    main()
