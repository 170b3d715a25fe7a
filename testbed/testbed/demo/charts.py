# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The demo's charts."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes

from testbed.demo.summary import OverloadAct, WireAct, WireTrial
from testbed.page.charts import KEPT, LOST_1, LOST_2, LOST_3, SERIES, draw

RATE_TITLE = "Forwarded rate in each block"
DROPS_TITLE = "Where the frames that were sent ended"
_MARKERS = ("D", "o", "s", "^")


def rate_chart(act: OverloadAct) -> str | None:
    """What each forwarder reached in each block: the machine's ups and downs move all alike."""
    blocks = [block for block in act.measurement.blocks if not block.reasons] if act.measurement else []
    if not blocks:
        return None

    def paint(axes: Axes) -> None:
        labels = [run.label for run in blocks[0].runs]
        for place, label in enumerate(labels):
            runs = [(block.number, run.slices) for block in blocks for run in block.runs if run.label == label]
            # Side by side, so that equal figures are all seen.
            offset = 0.12 * (place - (len(labels) - 1) / 2)
            axes.plot(
                [number + offset for number, _ in runs],
                [sum(slices.tx_packets) / sum(slices.seconds) / 1e6 for _, slices in runs],
                linestyle="none",
                marker=_MARKERS[place % len(_MARKERS)],
                color=SERIES[place % len(SERIES)],
                label=label,
            )
        axes.set_xticks([block.number for block in blocks] if act.blocks <= 15 else [])
        axes.set_xlim(0.5, act.blocks + 0.5)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("block")
        axes.set_ylabel("forwarded, million frames/s")
        axes.grid(axis="y")
        axes.legend(frameon=False, loc="lower center", ncols=2, handletextpad=0.3, fontsize=9.5)

    return draw("rate", 3.6, paint, RATE_TITLE)


_PLACES: list[tuple[str, str, Callable[[WireTrial], int]]] = [
    ("came back", KEPT, lambda trial: trial.generator.received),
    ("dropped: forwarder's TX queue", LOST_1, lambda trial: trial.drops.forwarder_tx_queue),
    ("lost before the forwarder", LOST_2, lambda trial: trial.drops.wire_to_forwarder + trial.drops.forwarder_short),
    ("lost after the forwarder", LOST_3, lambda trial: trial.drops.wire_to_generator),
]


def drops_chart(act: WireAct) -> str | None:
    """Where the sent frames ended, by language."""
    valid = [t for t in act.trials if t.valid and t.generator and t.generator.sent and t.drops]
    if not valid:
        return None
    languages = sorted({trial.language for trial in valid}, reverse=True)

    def paint(axes: Axes) -> None:
        left = [0.0] * len(languages)
        sent = [sum(t.generator.sent for t in valid if t.language == name) for name in languages]
        for label, colour, count in _PLACES:
            shares = [
                100.0 * sum(count(t) for t in valid if t.language == name) / whole
                for name, whole in zip(languages, sent, strict=True)
            ]
            low, high = min(shares), max(shares)
            text = f"{low:.2f} %" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} – {high:.2f} %"
            axes.barh(languages, shares, left=left, height=0.55, color=colour, label=f"{label}: {text}")
            left = [a + b for a, b in zip(left, shares, strict=True)]
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of the frames that the generator sent, %")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        axes.figure.legend(frameon=False, loc="outside lower center", ncols=1, alignment="left")

    return draw("drops", 3.1, paint, DROPS_TITLE)
