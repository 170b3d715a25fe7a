# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A page as PDF, printed by a headless Chromium of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from testbed.run.results_folder import ResultsError

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE_S = 300.0


def write_pdf(page: Path) -> Path:
    """Prints a page of HTML into a file beside it, and returns that.

    Raises `ResultsError`.
    """
    browser = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if browser is None:
        raise ResultsError(
            f"no PDF: none of {', '.join(_NAMES)} is installed: install chromium, or print '{page}' with any browser"
        )
    pdf = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(prefix="testbed-pdf-") as scratch:
        draft = Path(scratch) / pdf.name
        argv = [browser, "--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        argv += ["--disable-dev-shm-usage", f"--user-data-dir={scratch}/profile", "--no-pdf-header-footer"]
        # Chromium's sandbox does not work for root. The page is this tool's own and fetches nothing.
        argv += ["--no-sandbox"] if os.geteuid() == 0 else []
        argv += [f"--print-to-pdf={draft}", page.absolute().as_uri()]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
            if done.returncode or not draft.exists():
                said = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
                raise ResultsError(f"no PDF: '{browser}' failed: {said[0]}")
            shutil.copyfile(draft, pdf)
        except subprocess.TimeoutExpired as error:
            raise ResultsError(f"no PDF: '{browser}' did not end within {_PATIENCE_S:g} s") from error
        except OSError as error:
            raise ResultsError(f"cannot write '{pdf}': {error.strerror}") from error
    return pdf
