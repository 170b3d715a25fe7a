# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x demo`: five acts, and the report on them. Nothing else imports it."""
