# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench scaling`: how a forwarder scales over lcores."""
