# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""``python -m testbed``."""

from testbed.cli import main

if __name__ == "__main__":
    main()
