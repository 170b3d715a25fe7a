# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed doctor`: what of this machine stands in the way of a figure, and what to do about it."""
