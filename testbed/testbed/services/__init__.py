# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Whether a service of `services/` does what it should: cases that run against any of them, on any stack."""
