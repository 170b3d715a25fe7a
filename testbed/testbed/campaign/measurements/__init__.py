# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The measurements of RFC 2544 and its relatives, one a file.

Each is a function of `Trials`, a stream of frames and settings; it is deterministic given the trials' results, so that
a journal replayed through it leads to where it was cut off. It ends in a result with its grade, or `NotMeasured`.
"""
