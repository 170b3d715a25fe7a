# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Metrics for Prometheus: of running DPDK programs, and what serves them."""
