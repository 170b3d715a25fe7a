# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The parts of `safety_audit.py`, which checks what the unsafe code relies on."""
