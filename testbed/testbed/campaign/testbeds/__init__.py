# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One campaign over several testbeds: idle ones are given the next frames to measure, and all ends in one folder."""
