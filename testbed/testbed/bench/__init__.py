# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Benchmarks: forwarders compared with each other, `./x bench …`."""
