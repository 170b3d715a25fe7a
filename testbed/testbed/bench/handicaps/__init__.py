# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench handicaps`: what each of the things costs that are said to make Rust slower than C."""
