# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The history of results: a store that is filled from results folders, its trends, and their changes."""
