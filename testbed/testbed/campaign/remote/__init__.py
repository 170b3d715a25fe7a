# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices under test on other hosts, over SSH: nothing but SSH and DPDK is needed there."""
