# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Other programs, or other virtual machines, that took the CPUs of a trial and make it invalid."""

from __future__ import annotations

from testbed.run.cpu_share import OWN_CPU_SHARE
from testbed.wire.generator import Result

# Without that much of it a machine is not measured, but its neighbours.
_MOST_STOLEN_PERCENT = 5.0


def disturbance(result: Result, stolen: float | None) -> str | None:
    """What kept a generator from its rate, if it was another program or another virtual machine."""
    if result.cpu_share < OWN_CPU_SHARE:
        share = f"{100 * result.cpu_share:.0f} %"
        return f"other programs took the generator's CPU, of which it had {share}: end them"
    if stolen is not None and stolen > _MOST_STOLEN_PERCENT:
        return f"the hypervisor gave {stolen:.1f} % of the CPU time to others: use a machine of your own"
    return None


def held_up(waited: float | None) -> str | None:
    """What else than the device may have lost frames: it was ready to fetch them, but other programs had its CPU."""
    if waited is None or waited <= 1 - OWN_CPU_SHARE:
        return None
    return f"other programs took the device's CPU for {100 * waited:.0f} % of the time: end them"
