# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench codecs`: serialization libraries in Rust and C++ on the same work."""
