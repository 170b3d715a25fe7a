# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The one engine that compares two programs: blocks, slices, noise floor, verdict."""
