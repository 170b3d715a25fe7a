# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Acceptance: thresholds that a scenario sets for its devices, their verdicts, and JUnit XML for a CI."""
