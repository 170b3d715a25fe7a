# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What reports are made of: tables, charts and the templates of the pages."""
