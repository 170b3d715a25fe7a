# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench parsing`: what it costs to rewrite and read frames with each parser library."""
