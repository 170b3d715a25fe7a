# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs l2fwd-c and l2fwd-rs under traffic, checks every trial and writes the report."""

__version__ = "0.1.0"
