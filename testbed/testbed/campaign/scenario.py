# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Scenarios: YAML files that say what is measured with what. An error names the file, the line and the field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from testbed.campaign.backend import Pauses
from testbed.campaign.devices.command import NO_PORT_RESET as _COMMANDS_RESET_NO_PORT
from testbed.campaign.devices.command import check_command, status_number
from testbed.campaign.devices.device import Macs
from testbed.campaign.devices.testpmd import NO_PORT_RESET as _TESTPMD_RESETS_NO_PORT
from testbed.campaign.devices.testpmd import TestpmdMode
from testbed.campaign.guest.settings import MOST_BYTES as _GUEST_MOST_BYTES
from testbed.campaign.guest.settings import Guest
from testbed.campaign.presets import PRESETS, MeasurementSettings, SettingsError, changed_settings
from testbed.campaign.remote.settings import Host
from testbed.campaign.simulated import DeviceModel
from testbed.campaign.sizes import RFC_SIZES, Size, expanded, frames_of
from testbed.campaign.trex_settings import MOST_MIXED_FRAMES, Trex
from testbed.campaign.trial import Record
from testbed.programs import FORWARDERS, repository_root

M = TypeVar("M", bound=BaseModel)

_EMBEDDED_MOST_BYTES = 9000
_EMBEDDED_MOST_FLOWS = 1 << 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
TESTPMD = "testpmd"


class ScenarioError(Exception):
    """A scenario cannot be used; the message names the file, the line and the field."""


class Measurement(StrEnum):
    """What can be measured."""

    THROUGHPUT = "throughput"
    LATENCY = "latency"
    FRAME_LOSS = "frame_loss"
    BACK_TO_BACK = "back_to_back"
    RECOVERY = "recovery"
    RESET = "reset"
    FORWARDING_RATE = "forwarding_rate"
    SOAK = "soak"


# What `rfc2544` measures unless told otherwise: sections 26.1 to 26.6.
RFC_MEASUREMENTS = (
    Measurement.THROUGHPUT,
    Measurement.LATENCY,
    Measurement.FRAME_LOSS,
    Measurement.BACK_TO_BACK,
    Measurement.RECOVERY,
    Measurement.RESET,
)


class Preset(StrEnum):
    """How thoroughly."""

    RFC2544 = "rfc2544"
    CSIT = "csit"
    QUICK = "quick"
    REHEARSAL = "rehearsal"


class Embedded(Record):
    """The project's own generator, on this machine, over the virtual wire, veth pairs or into a virtual machine."""

    kind: Literal["embedded"]
    wire: Literal["virtual", "veth"] = Field("virtual", description="veth: through the kernel, which needs root")
    hugepages: bool | None = Field(None, description="without a word: if there are some")
    # CPUs; without them two are chosen.
    lcore: int | None = Field(None, ge=0)
    forwarder_lcore: int | None = Field(None, ge=0)
    most_fps: float | None = Field(
        None, gt=0, description="the highest rate that is asked for; without a word as much as it was seen to keep"
    )
    # Where the devices run, behind NICs.
    guest: Guest | None = None

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if self.guest is not None and self.forwarder_lcore is not None:
            raise ValueError("forwarder_lcore is a CPU of this machine, and the forwarder has one of the guest's")
        if self.guest is not None and self.wire != "virtual":
            raise ValueError("a guest has a wire of its own: leave wire out")
        if self.guest is None and (self.lcore is None) != (self.forwarder_lcore is None):
            raise ValueError("give lcore and forwarder_lcore, or neither")
        return self

    @property
    def most_bytes(self) -> int:
        """Of a frame with FCS."""
        return _EMBEDDED_MOST_BYTES if self.guest is None else _GUEST_MOST_BYTES


class Simulated(Record):
    """No traffic: devices with known figures."""

    kind: Literal["simulated"]


class Device(Record):
    """A device under test."""

    name: str
    # Without a word the forwarder of the device's name.
    program: Literal["l2fwd-c", "l2fwd-rs", "testpmd"] | None = None
    # The program's own, behind those that the testbed gives.
    options: list[str] = Field(default_factory=list)
    # Of testpmd.
    mode: TestpmdMode | None = None
    # Any other program, with placeholders (`devices.command.PLACEHOLDERS`).
    command: list[str] | None = Field(None, min_length=1)
    # What is known of a command: a line of its output when it forwards, how it may end, which addresses it writes, and
    # whether it needs a fresh start for each trial.
    ready: str | None = Field(None, description="a regular expression; without one the link says so")
    exit_status: list[int | str] = Field(default_factory=lambda: [0], min_length=1)
    macs: Macs | None = None
    restart_each_trial: bool | None = None
    # Where it runs; without a word on this machine.
    host: Host | None = None
    model: DeviceModel | None = None

    @model_validator(mode="after")
    def _named(self) -> Self:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name '{self.name}': use letters, digits, '.', '_' and '-'")
        return self

    @model_validator(mode="after")
    def _one_program(self) -> Self:
        if self.command is None:
            for field in ("ready", "exit_status", "macs", "restart_each_trial"):
                if getattr(self, field) not in (None, [0]):
                    raise ValueError(f"{field} is for a command: the testbed knows it of its own programs")
        elif self.program is not None or self.options:
            raise ValueError("give a command, with its options among its words, or a program")
        if self.mode is not None and self.program != TESTPMD:
            raise ValueError(f"mode is for program: {TESTPMD}")
        return self

    @model_validator(mode="after")
    def _command_can_be_filled_in(self) -> Self:
        if self.command is not None:
            check_command(self.command)
            for status in self.exit_status:
                status_number(status)
        try:
            re.compile(self.ready or "")
        except re.error as error:
            raise ValueError(f"ready '{self.ready}' is no regular expression: {error}") from error
        return self

    @property
    def counts_frames(self) -> bool:
        """Whether it tells its counters."""
        return self.command is None

    @property
    def no_port_reset(self) -> str | None:
        """Why its ports cannot be reset while it runs; None if they can."""
        if self.command is not None:
            return _COMMANDS_RESET_NO_PORT
        return _TESTPMD_RESETS_NO_PORT if self.program == TESTPMD else None

    @property
    def has_program(self) -> bool:
        """Whether it is said what to start."""
        return self.program is not None or self.command is not None or self.name in FORWARDERS


class Frames(Record):
    """The streams: each size with each number of directions and flows."""

    sizes: list[Size] = Field(default_factory=lambda: list(RFC_SIZES), min_length=1)
    directions: list[Literal[1, 2]] = Field(default_factory=lambda: [1], min_length=1)
    flows: list[Annotated[int, Field(ge=1, le=1 << 20)]] = Field(default_factory=lambda: [1], min_length=1)

    @field_validator("sizes", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        """Sets of sizes by their names."""
        return expanded(value if isinstance(value, list | tuple) else [value])

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for name, values in (("sizes", self.sizes), ("directions", self.directions), ("flows", self.flows)):
            if twice := [value for number, value in enumerate(values) if value in values[:number]]:
                raise ValueError(f"{name} has {twice[0]} twice")
        return self


class Scenario(Record):
    """A whole scenario."""

    name: str
    description: str = ""
    generator: Annotated[Embedded | Trex | Simulated, Field(discriminator="kind")]
    devices: list[Device] = Field(min_length=1)
    frames: Frames = Field(default_factory=Frames)
    tests: list[Measurement] = Field(default_factory=lambda: list(RFC_MEASUREMENTS), min_length=1)
    preset: Preset = Preset.RFC2544
    # In place of the preset's.
    pauses: Pauses | None = None
    settings: dict[Measurement, dict[str, Any]] = Field(default_factory=dict)
    # For the order of the devices.
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _settings_are_known(self) -> Self:
        try:
            changed_settings(PRESETS[self.preset], self.settings)
        except SettingsError as error:
            place = {"place": ("settings", *error.place), "fault": str(error)}
            raise PydanticCustomError("settings", "{fault}", place) from error
        return self

    @model_validator(mode="after")
    def _frames_suit_the_generator(self) -> Self:
        if isinstance(self.generator, Embedded):
            for name, values, most in (
                ("sizes", self.frames.sizes, self.generator.most_bytes),
                ("flows", self.frames.flows, _EMBEDDED_MOST_FLOWS),
            ):
                for number, value in enumerate(values):
                    if (found := max(frames_of(value))) > most:
                        where = " with a virtual machine" if self.generator.guest else ""
                        fault = f"the embedded generator{where} has {most} at most, not {found}"
                        place = {"place": ("frames", name, number), "fault": fault}
                        raise PydanticCustomError("frames", "{fault}", place)
        return self

    @model_validator(mode="after")
    def _mixtures_suit_the_generator(self) -> Self:
        if isinstance(self.generator, Trex):
            for number, size in enumerate(self.frames.sizes):
                if (frames := len(frames_of(size))) > MOST_MIXED_FRAMES:
                    fault = (
                        f"TRex has a stream for each frame of a mixture here, and {MOST_MIXED_FRAMES} at most, not "
                        f"{frames}: give a shorter sequence of the same shares"
                    )
                    place = {"place": ("frames", "sizes", number), "fault": fault}
                    raise PydanticCustomError("frames", "{fault}", place)
        return self

    @model_validator(mode="after")
    def _nics_can_do_it(self) -> Self:
        generator = self.generator
        forwarder = generator.forwarder if isinstance(generator, Trex) else None
        if forwarder is None or (known := forwarder.profile) is None:
            return self
        rate = generator.line_rate_bps
        speeds = [1e9 * speed for speed in known.speeds_gbps]
        if rate is not None and speeds and rate not in speeds:
            listed = ", ".join(f"{speed:g}" for speed in speeds)
            fault = f"{rate:g} is no rate of {known.name}: give one of {listed}, or another nic"
            place = {"place": ("generator", "line_rate_bps"), "fault": fault}
            raise PydanticCustomError("nic", "{fault}", place)
        for number, device in enumerate(self.devices):
            for option, limits in (("--rxd", known.rx), ("--txd", known.tx)):
                count = _number_of(option, device.options)
                if count is not None and (wrong := limits.fault(count)):
                    fault = f"device '{device.name}': {option}: {wrong} ({known.name})"
                    place = {"place": ("devices", number, "options"), "fault": fault}
                    raise PydanticCustomError("nic", "{fault}", place)
        return self

    @model_validator(mode="after")
    def _ports_suit_the_directions(self) -> Self:
        if isinstance(self.generator, Trex) and max(self.frames.directions) > len(self.generator.ports):
            fault = "traffic in both directions needs two ports of TRex, and there is one"
            raise PydanticCustomError("ports", "{fault}", {"place": ("frames", "directions"), "fault": fault})
        return self

    @model_validator(mode="after")
    def _devices_suit_the_generator(self) -> Self:
        simulated = isinstance(self.generator, Simulated)
        # What somebody else runs may be any program.
        started = not isinstance(self.generator, Trex) or self.generator.forwarder is not None
        for number, device in enumerate(self.devices):
            fault = None
            if device.name in [earlier.name for earlier in self.devices[:number]]:
                fault = "there is another of that name"
            elif simulated and device.model is None:
                fault = "it needs a model, since the generator is simulated"
            elif not simulated and device.model is not None:
                fault = "it has a model, but the generator is not simulated"
            elif simulated and (device.program or device.command or device.host):
                fault = "it has a program, a command or a host, but the generator is simulated"
            elif isinstance(self.generator, Embedded) and self.generator.guest is not None:
                fault = _fault_in_a_guest(device)
            if fault is None and started and not simulated and not device.has_program:
                fault = f"it needs a program, of {', '.join((*FORWARDERS, TESTPMD))}, or a command"
            if fault:
                # The place, as pydantic has none for a check of the whole.
                place = {"place": ("devices", number), "fault": f"device '{device.name}': {fault}"}
                raise PydanticCustomError("device", "{fault}", place)
        return self

    @property
    def pauses_around_trials(self) -> Pauses:
        """Those of the scenario, or else of the preset."""
        return self.pauses if self.pauses is not None else PRESETS[self.preset].pauses

    @property
    def measured_with(self) -> MeasurementSettings:
        """The settings of the measurements: the preset's, but for those that the scenario changes."""
        return changed_settings(PRESETS[self.preset], self.settings)

    def changed(self, **fields: Any) -> Scenario:
        """With other values in place of some, checked again.

        Raises `ScenarioError`.
        """
        try:
            return Scenario.model_validate({**self.model_dump(), **fields})
        except ValidationError as error:
            raise ScenarioError("; ".join(_message(found) for found in error.errors())) from error


def _fault_in_a_guest(device: Device) -> str | None:
    """Why a device cannot run in the generator's virtual machine."""
    if device.host is not None:
        return "it has a host, but runs in the generator's guest"
    # What is not copied there is not there.
    if device.program == TESTPMD or (device.command is not None and "/" not in device.command[0]):
        return f"the generator's guest has no such program: give {' or '.join(FORWARDERS)}, or a command with a path"
    return None


def _number_of(option: str, words: Sequence[str]) -> int | None:
    """What a device's options say last of this one; None if they do not, or no number."""
    values = [word.removeprefix(f"{option}=") for word in words if word.startswith(f"{option}=")]
    values += [value for word, value in pairwise(words) if word == option]
    return int(values[-1]) if values and values[-1].isdigit() else None


def scenarios_folder() -> Path:
    """Where the ready ones lie."""
    return repository_root() / "testbed" / "scenarios"


def find_scenario(name: Path) -> Path:
    """The file of this name, or the ready scenario."""
    if name.exists() or name.parent != Path():
        return name
    ready = scenarios_folder() / (name.name if name.suffix else f"{name.name}.yaml")
    return ready if ready.exists() else name


def read_scenario(path: Path) -> Scenario:
    """Reads a scenario file.

    Raises `ScenarioError`.
    """
    return parse_scenario(read_text(path), str(path))


def read_text(path: Path) -> str:
    """The text of a scenario file.

    Raises `ScenarioError`.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        ready = ", ".join(sorted(file.stem for file in scenarios_folder().glob("*.yaml")))
        raise ScenarioError(f"cannot read '{path}': {error.strerror}: give a file, or one of {ready}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"'{path}' is no text in UTF-8: {error.reason} at byte {error.start}") from error


def parse_scenario(text: str, name: str) -> Scenario:
    """The scenario in `text`, which messages call `name`.

    Raises `ScenarioError`.
    """
    return parse_model(text, name, Scenario, "a scenario is a mapping with name, generator and devices")


def parse_model(text: str, name: str, model: type[M], shape: str) -> M:
    """What a YAML text says, which messages call `name`; `shape` says what it should be.

    Raises `ScenarioError`.
    """
    try:
        tree = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{name}:{line}: {error.problem or error.context}") from error
    except (YAMLError, ValueError) as error:
        raise ScenarioError(f"{name}: {error}") from error
    if not isinstance(tree, CommentedMap):
        raise ScenarioError(f"{name}:1: {shape}")
    try:
        return model.model_validate(_plain(tree))
    except ValidationError as error:
        found = [f"{name}:{_line(tree, _place(one))}: {_message(one)}" for one in error.errors()]
        raise ScenarioError("\n".join(found)) from error


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return node


def _place(error: Any) -> tuple[int | str, ...]:
    place = error.get("ctx", {}).get("place")
    return place if isinstance(place, tuple) else error["loc"]


def _message(error: Any) -> str:
    """What pydantic says of one field, in the words of this project."""
    field = ".".join(str(part) for part in _place(error))
    text = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        text = "is missing"
    elif error["type"] == "extra_forbidden":
        text = "is not known: mind the spelling"
    elif isinstance(error["input"], str | int | float):
        text = f"{text}, not {error['input']!r}"
    return f"{field}: {text}" if field else text


def _line(tree: CommentedMap, place: tuple[int | str, ...]) -> int:
    """The line of the field, or of the nearest thing around it that has one."""
    line, node = tree.lc.line, tree
    for part in place:
        # The kind of a union's member is in the place too, but not in the file.
        if isinstance(node, CommentedMap) and part in node:
            line = node.lc.key(part)[0]
        elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0]
        else:
            continue
        node = node[part]
    return line + 1
