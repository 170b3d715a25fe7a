# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""NIC profiles: what a family of NICs wants of DPDK, and where it bites."""

from testbed.nics.profile import Descriptors, Profile, Trap
from testbed.nics.table import PROFILES, profile_of

__all__ = ["PROFILES", "Descriptors", "Profile", "Trap", "profile_of"]
