# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices under test in a virtual machine: the embedded generator faces its NICs, and SSH leads into it."""
