# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""RFC 2544 campaigns: trials on a testbed, written down one by one, that end in graded results."""
