# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The machine that DPDK runs on: how it is read, and how it is made ready for a NIC and put back."""
