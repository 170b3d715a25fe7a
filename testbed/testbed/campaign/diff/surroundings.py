# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What differed around two runs: machine, programs, generator, scenario. Compared field by field, whatever they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from testbed.campaign.folder import CampaignFolder, ComparisonFolder, Evidence
from testbed.campaign.scenario import Scenario
from testbed.campaign.trial import Record

# What is another one each time and says nothing, and where a program lies.
_IGNORED = re.compile(
    r"(.*\.)?(recorded|cpu\.mhz|cpus\..*\.mhz|hugepages\.free|binaries\..*\.path|overhead_s|max_fps_by_size\..*)"
)
ABSENT = "–"


class Difference(Record):
    """One field that is not the same."""

    what: str
    a: str
    b: str


def between_folders(a: CampaignFolder | ComparisonFolder, b: CampaignFolder | ComparisonFolder) -> list[Difference]:
    """All that differed: first the machines, then what ran on them, then what was asked for."""
    found = between(a.evidence.machine, b.evidence.machine)
    found += between(_generators(a.evidence), _generators(b.evidence))
    return found + between({"scenario": _asked(a.settings.scenario)}, {"scenario": _asked(b.settings.scenario)})


def between(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    """The fields that are not the same in two JSON objects; one that is on one side only has a dash on the other."""
    left, right = flat(a), flat(b)
    fields = [*left, *(field for field in right if field not in left)]
    pairs = ((field, left.get(field, ABSENT), right.get(field, ABSENT)) for field in fields)
    return [
        Difference(what=field, a=one, b=other)
        for field, one, other in pairs
        if one != other and not _IGNORED.fullmatch(field)
    ]


def flat(value: Any, name: str = "") -> dict[str, str]:
    """{'cpu.model': 'a CPU'} of nested JSON. Lists of things with a name go by it, as their order says nothing."""
    if isinstance(value, Mapping):
        parts = {str(key): inner for key, inner in value.items()}
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) and "name" in one for one in value):
        parts = {str(one["name"]): {key: inner for key, inner in one.items() if key != "name"} for one in value}
    elif isinstance(value, list):
        return {name: ", ".join(map(str, value))}
    else:
        return {} if value is None else {name: str(value)}
    found: dict[str, str] = {}
    for key, inner in parts.items():
        found |= flat(inner, f"{name}.{key}" if name else key)
    return found


def _generators(evidence: Evidence) -> dict[str, Any]:
    """What they can do, apart from the highest rates, which differ from start to start."""
    return {
        "generator": {
            setup: capabilities.model_dump(mode="json", exclude={"max_fps_by_size"})
            for setup, capabilities in sorted(evidence.joined.items())
        }
    }


def _asked(scenario: Scenario) -> dict[str, Any]:
    return scenario.model_dump(mode="json", exclude={"description", "seed"})
