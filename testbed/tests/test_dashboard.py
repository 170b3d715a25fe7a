# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The dashboard for Grafana asks for metrics that there are, by labels that they have, and shows each of them."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from testbed.campaign.metrics import DEFINITIONS as OF_CAMPAIGNS
from testbed.metrics.dpdk import DEFINITIONS as OF_PROGRAMS

DASHBOARD = json.loads((Path(__file__).parents[1] / "dashboards" / "testbed.json").read_text())
LABELS = {one.name: {*one.labels, "instance", "job"} for one in (*OF_PROGRAMS, *OF_CAMPAIGNS)}
COUNTERS = {one.name for one in (*OF_PROGRAMS, *OF_CAMPAIGNS) if one.is_counter}
# A metric with its selector: its name and the text between the braces.
METRIC = re.compile(r"((?:dpdk|l2fwd|testbed)_\w+)(?:\{([^}]*)\})?")
# Counters whose number is shown, and not how it grows.
NUMBERS = re.compile(r"testbed_campaign_\w+_total")


def wrong(dashboard: dict[str, Any]) -> list[str]:
    """What its panels ask for and nobody gives."""
    found = []
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            asked = METRIC.findall(target["expr"])
            named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            for metric, selector in asked:
                labels = {*re.findall(r"(\w+)\s*[=!]", selector), *named}
                if metric not in LABELS or labels - LABELS[metric]:
                    found.append(f"{panel['title']}: {metric} {sorted(labels)}")
                elif metric in COUNTERS and not NUMBERS.fullmatch(metric) and f"rate({metric}{{" not in target["expr"]:
                    found.append(f"{panel['title']}: {metric} without rate()")
            if not asked:
                found.append(f"{panel['title']}: {target['expr']} asks for nothing")
    return found


def test_every_panel_asks_for_metrics_and_labels_that_there_are() -> None:
    assert wrong(DASHBOARD) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("l2fwd_rx_polls_total", "l2fwd_polls_total"),
        ("{{heap}}", "{{socket}}"),
        ('up{file_prefix=~\\"', 'up{prog=~\\"'),
    ],
)
def test_a_metric_or_label_that_is_not_there_is_found(before: str, after: str) -> None:
    text = json.dumps(DASHBOARD)
    assert before in text
    assert wrong(json.loads(text.replace(before, after))) != []


def test_every_metric_is_shown() -> None:
    shown = METRIC.findall(json.dumps([panel.get("targets") for panel in DASHBOARD["panels"]]))
    assert {metric for metric, _ in shown} == set(LABELS)


def test_the_program_that_is_chosen_filters_its_panels() -> None:
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    assert variables["program"]["query"]["query"] == "label_values(dpdk_up, file_prefix)"
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            for metric, selector in METRIC.findall(target["expr"]):
                assert selector == ("" if metric.startswith("testbed") else 'file_prefix=~"$program"')


def test_panels_have_numbers_of_their_own_and_cover_no_other() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below
