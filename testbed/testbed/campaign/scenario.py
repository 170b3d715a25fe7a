# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A scenario: what is measured with what. `scenario_file.py` reads it from a YAML file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from testbed.campaign.acceptance.threshold import Threshold, parse_threshold
from testbed.campaign.devices.settings import TESTPMD, Device
from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.headers import Headers
from testbed.campaign.presets import PRESETS, MeasurementSettings, SettingsError, changed_settings, without_times
from testbed.campaign.scenario_error import ScenarioError, message_of
from testbed.campaign.sizes import RFC_SIZES, Size, expanded, frames_of, size_in_words, size_order, sizes_in_words
from testbed.campaign.traffic_generator import Pauses
from testbed.campaign.trex.settings import MOST_MIXED_FRAMES, Trex
from testbed.campaign.trial import LEAST_REVERSE_SHARE, MOST_PORT_PAIRS, Record, Stream
from testbed.run.programs import FORWARDERS


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


# The default tests of `rfc2544`: sections 26.1 to 26.6.
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


class Simulated(Record):
    """No traffic: devices with known figures."""

    kind: Literal["simulated"]


class Frames(Headers):
    """The streams: each size with each number of directions and flows, all with the same headers."""

    sizes: list[Size] = Field(default_factory=lambda: list(RFC_SIZES), min_length=1)
    directions: list[Literal[1, 2]] = Field(default_factory=lambda: [1], min_length=1)
    flows: list[Annotated[int, Field(ge=1, le=1 << 20)]] = Field(default_factory=lambda: [1], min_length=1)
    port_pairs: int = Field(
        1, ge=1, le=MOST_PORT_PAIRS, description="pairs of ports with traffic both ways, like that of the first"
    )
    reverse_share: float = Field(
        1.0,
        ge=LEAST_REVERSE_SHARE,
        le=1,
        description="of the load, that goes from the second port of each pair to the first",
    )

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

    @model_validator(mode="after")
    def _pairs_have_both_directions(self) -> Self:
        for name, value in (("port_pairs", self.port_pairs), ("reverse_share", self.reverse_share)):
            if value != 1 and self.directions != [2]:
                raise ValueError(f"{name} {value:g} is for traffic both ways: give directions: [2]")
        return self

    @property
    def most_ports(self) -> int:
        """Of the device: one for traffic there and back, or pairs."""
        return max(self.directions) * self.port_pairs

    def stream(self, size: Size, directions: Literal[1, 2], flows: int) -> Stream:
        """What is sent of this kind of frames."""
        return Stream(
            size=size,
            directions=directions,
            flows=flows,
            port_pairs=self.port_pairs,
            reverse_share=self.reverse_share,
        )

    def first_stream(self, size: Size) -> Stream:
        """That with the first number of directions and of flows."""
        return self.stream(size, self.directions[0], self.flows[0])

    @property
    def ports_in_words(self) -> list[str]:
        """'2 pairs of ports', '10 % of the load on the way back'; nothing of equal directions of one pair."""
        words = [f"{self.port_pairs} pairs of ports"] if self.port_pairs > 1 else []
        return words + (
            [f"{100 * self.reverse_share:g} % of the load on the way back"] if self.reverse_share < 1 else []
        )


def _readable(text: str) -> str:
    parse_threshold(text)
    return text


class Scenario(Record):
    """A whole scenario."""

    name: str
    description: str = ""
    # Who measures, for the report.
    operator: str = ""
    generator: Annotated[Embedded | Trex | Simulated, Field(discriminator="kind")]
    devices: list[Device] = Field(min_length=1)
    frames: Frames = Field(default_factory=Frames)
    tests: list[Measurement] = Field(default_factory=lambda: list(RFC_MEASUREMENTS), min_length=1)
    preset: Preset = Preset.RFC2544
    # In place of the preset's.
    pauses: Pauses | None = None
    settings: dict[Measurement, dict[str, Any]] = Field(default_factory=dict)
    # What the devices must reach, in words.
    thresholds: list[Annotated[str, AfterValidator(_readable)]] = Field(default_factory=list)
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
            most = self.generator.most_bytes
            for number, size in enumerate(self.frames.sizes):
                if (found := max(frames_of(size))) > most:
                    where = " with a virtual machine" if self.generator.guest else ""
                    fault = f"the embedded generator{where} has {most} at most, not {found}"
                    place = {"place": ("frames", "sizes", number), "fault": fault}
                    raise PydanticCustomError("frames", "{fault}", place)
        return self

    @model_validator(mode="after")
    def _frames_hold_their_headers(self) -> Self:
        least = self.frames.least_bytes
        for number, size in enumerate(self.frames.sizes):
            if (found := min(frames_of(size))) < least:
                headers = " and ".join(self.frames.in_words)
                fault = (
                    f"frames of {found} bytes are too short for {headers} and what identifies a frame: give {least} or "
                    "more (a size counts all bytes of the frame)"
                )
                place = {"place": ("frames", "sizes", number), "fault": fault}
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
            fault = f"{rate:g} is not a rate of {known.name}: give one of {listed}, or another nic"
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
        if not isinstance(self.generator, Trex):
            return self
        for name in ("port_pairs", "reverse_share"):
            if (value := getattr(self.frames, name)) != 1:
                fault = f"TRex has one pair of ports here, with the same load both ways, not {name}: {value:g}"
                raise PydanticCustomError("ports", "{fault}", {"place": ("frames", name), "fault": fault})
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

    @model_validator(mode="after")
    def _thresholds_can_be_judged(self) -> Self:
        for number, threshold in enumerate(self.read_thresholds):
            if fault := self.why_not_judged(threshold):
                raise PydanticCustomError("threshold", "{fault}", {"place": ("thresholds", number), "fault": fault})
        return self

    @property
    def read_thresholds(self) -> list[Threshold]:
        """The thresholds, as read."""
        return [parse_threshold(text) for text in self.thresholds]

    def why_not_judged(self, threshold: Threshold) -> str | None:
        """What a threshold is about that the scenario does not measure; None if it measures all of it."""
        test, names = Measurement(threshold.figure.measurement), [device.name for device in self.devices]
        if test not in self.tests:
            return f"'{threshold.figure.name}' comes of the test '{test}': add it to tests"
        if threshold.device is not None and threshold.device not in names:
            return f"the scenario has no device '{threshold.device}': choose from {', '.join(names)}"
        if threshold.share is not None and not any(math.isclose(threshold.share, one) for one in self._latency_shares):
            known = ", ".join(f"{100 * share:g} %" for share in self._latency_shares)
            return (
                f"latency is not measured at {100 * threshold.share:g} % of the throughput: choose from {known}, or "
                "add the load to settings.latency.ladder"
            )
        # RFC 2544, section 26.6.
        sizes = [min(self.frames.sizes, key=size_order)] if test is Measurement.RESET else self.frames.sizes
        if strange := [size for size in threshold.sizes or () if size not in sizes]:
            return f"{test} is not measured at {size_in_words(strange[0])}: choose from {sizes_in_words(sizes)}"
        return None

    @property
    def _latency_shares(self) -> tuple[float, ...]:
        return self.measured_with.latency.shares

    @property
    def pauses_around_trials(self) -> Pauses:
        """Those of the scenario, or else of the preset."""
        return self.pauses if self.pauses is not None else PRESETS[self.preset].pauses

    @property
    def measured_with(self) -> MeasurementSettings:
        """The settings of the measurements: the preset's, but for those that the scenario changes."""
        preset = PRESETS[self.preset]
        return changed_settings(without_times(preset) if isinstance(self.generator, Trex) else preset, self.settings)

    def changed(self, **fields: Any) -> Scenario:
        """With other values in place of some, checked again.

        Raises `ScenarioError`.
        """
        try:
            return Scenario.model_validate({**self.model_dump(), **fields})
        except ValidationError as error:
            raise ScenarioError("; ".join(message_of(found) for found in error.errors())) from error


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
