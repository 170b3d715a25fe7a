# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What was measured with what: the drawn topology of a campaign, and the facts of both sides."""
