# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Programs, and what a run of them needs of this machine. It imports nothing of the other folders."""
