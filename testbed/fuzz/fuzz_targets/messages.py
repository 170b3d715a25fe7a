# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Lines of JSON from a forwarder and the generator, up to what is written into the results."""

from __future__ import annotations

import io
import math
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from testbed.demo import tables, virtual_wire
from testbed.demo.summary import Summary, WireTrial
from testbed.run import supervision as watched
from testbed.run.lcores import LcorePlan
from testbed.run.results_folder import Status
from testbed.wire.forwarder import Final, Message, Period, Start
from testbed.wire.generator import Load, Result

MODELS: dict[str, type[Message]] = {"start": Start, "period": Period, "final": Final, "result": Result}
LOAD = Load(ports=(0,), size=64, seconds=1, expect_src="02:00:00:00:02:00", expect_dst="02:00:00:00:00:00")


def check(data: bytes) -> None:
    """What is not as agreed is refused; from what is, results are made that can be read again."""
    messages: dict[str, list[Any]] = {kind: [] for kind in MODELS}
    for line in io.StringIO(data.decode(errors="replace"), newline=None):
        event = watched._json_object(line)
        kind = event.get("type") if event else None
        if isinstance(kind, str) and kind in MODELS:
            message = checked(MODELS[kind], event)
            if message is not None:
                messages[kind].append(message)
    for final in messages["final"]:
        for result in messages["result"]:
            conclude(messages["period"], final, result)


def checked(model: type[Message], event: dict[str, Any]) -> Message | None:
    """The message, if it is as agreed; then every number in it is one that can be reckoned with."""
    try:
        message = model.model_validate(event)
    except ValidationError as error:
        assert error.errors()[0]["msg"]
        return None
    for number in numbers(message):
        assert math.isfinite(number), message
    return message


def numbers(message: BaseModel) -> list[float]:
    """The numbers in the fields that are read."""
    found: list[float] = []
    for name in type(message).model_fields:
        value = getattr(message, name)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, BaseModel):
                found += numbers(item)
            elif isinstance(item, int | float):
                found.append(float(item))
    return found


def conclude(periods: list[Period], final: Final, result: Result) -> None:
    """The account of a trial with these messages."""
    act = virtual_wire.new_act(virtual_wire.WirePlan(64, 1, False, LcorePlan(0, 1)))
    act.trials = [WireTrial(program=name, language=language) for name, language in (("a", "C"), ("b", "Rust"))]
    for trial in act.trials:
        virtual_wire.fill_in(trial, LOAD, result, periods, final)
    tables.wire_table(act).rich(120)
    tables.remarks(act.trials)
    summary = Summary(
        status=Status.PASSED,
        started=datetime(2026, 1, 1, tzinfo=UTC),
        command="demo",
        quick=True,
        hugepages=False,
        wire=act,
    )
    assert Summary.model_validate_json(summary.model_dump_json()) == summary
