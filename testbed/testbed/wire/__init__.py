# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A wire and the two programs at its ends, the generator and the forwarder."""
