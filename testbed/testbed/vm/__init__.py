# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Virtual machines with emulated NICs, and what their guests run."""
