# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The project's own generator in campaigns: `testbed/generator/`, a process for each trial."""
