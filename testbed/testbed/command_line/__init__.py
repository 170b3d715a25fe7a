# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the command lines of all commands share: the console, and the options of measurements."""
