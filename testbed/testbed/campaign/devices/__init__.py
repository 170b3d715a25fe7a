# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices under test: the twins, testpmd, and any program that is given as a command line; here or on another host."""
