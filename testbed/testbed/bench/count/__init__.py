# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions per packet: counted under callgrind, and compared with the checked-in figures."""
