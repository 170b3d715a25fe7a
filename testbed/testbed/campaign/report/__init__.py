# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The report on a campaign or a comparison, as a page and as Markdown."""
