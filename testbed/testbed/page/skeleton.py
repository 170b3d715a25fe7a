# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What every page is made from: the templates in `templates/`."""

from __future__ import annotations

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined


def page_templates() -> Templates:
    """The templates of all pages."""
    return Templates(
        loader=PackageLoader("testbed.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
