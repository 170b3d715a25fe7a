# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Flags phrases that no English-speaking engineer would write, and says what to write instead.

    python3 .ci/lint/phrases.py [FILE...]

Reads the files given, or else every tracked file. Prints one line for each finding and exits with 1 if there is one.
A phrase is also found where a comment or a paragraph wraps it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

SOURCES = ("*.md", "*.rs", "*.c", "*.h", "*.py", "*.sh", "*.toml", "*.build", "*.yaml", "*.yml", "x", ".ci/*")
# Generated files, inputs, and this lint with its tests, which quote the phrases.
LEFT_OUT = (
    ":(exclude)*.lock",
    ":(exclude)**/corpus/**",
    ":(exclude)dpdk-sys/bindings/**",
    ":(exclude).ci/lint/phrases.py",
    ":(exclude).ci/lint/test_phrases.py",
)

# A space of a pattern also matches the end of a line with the comment marker of the next.
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:(?://[/!]?|\#|\*|>)[ \t]+)?)"


class Phrase(NamedTuple):
    """What not to write, as a regular expression, and what to write."""

    pattern: str
    instead: str


PHRASES = (
    Phrase(r"(?:is|are|was|were) told of", "is reported, is notified of"),
    Phrase(r"whose result is told", "whose result is reported"),
    Phrase(r"(?:not )?to be had", "available, unavailable"),
    Phrase(r"(?:could|can|cannot|could not) be had", "is available, is unavailable"),
    Phrase(r"belongs? into", "belongs in"),
    Phrase(r"sees? to it that", "ensures that"),
    Phrase(r"sees? to(?= (?:the|that|them)\b|[.,;])|seen to(?= (?:in|between)\b|[.,;])", "handles, ensures"),
    Phrase(r"(?:that|which) (?:is|are) none(?! of)", "that is not one, not a real ..."),
    Phrase(r"that (?:is|are) none of", "that do not belong to, not one of"),
    Phrase(r"(?:is|are|was) to hand", "is available"),
    Phrase(r"all is gone by itself", "a reboot clears it"),
    Phrase(r"(?:waits|goes on|comes|written|writes|wrote|reads|read|reach(?:es)?) behind", "after, past the end of"),
    Phrase(r"behind (?:a|the) (?:loss|size|frame|present ones|end of)", "after"),
    Phrase(r"(?:one|right) behind the other", "one after another, back to back"),
    Phrase(r"the machine's new start", "a reboot"),
    Phrase(r"(?:of|in|by|for|with) which that is not so", "otherwise, if that is not so"),
    Phrase(r"tells? (?:of|how many|the rest|what safety)", "reports, shows, lists"),
    Phrase(r"be it (?:by|of|that)", "even if, including"),
    Phrase(r"what must hold", "the invariant"),
    Phrase(r"has not so many", "has fewer"),
    Phrase(r"if there are not so many", "if there are fewer"),
    Phrase(r"nobody can be inside", "no thread can be inside"),
    Phrase(r"goes? the long way", "takes the slow path"),
    Phrase(r"held? against each other", "compares"),
    Phrase(r"after a new start of", "after a restart of, after a reboot"),
    Phrase(r"nobody's else", "nobody else's"),
    Phrase(r"as far as (?:both|they) (?:are long|have room)", "if the lengths differ, ..."),
    Phrase(r"a child made by", "a child process created by"),
    Phrase(r"without a look(?: at)?", "without checking"),
    Phrase(r"unless given", "by default, the default is"),
)
COMPILED = [(re.compile(r"\b" + p.pattern.replace(" ", GAP), re.IGNORECASE), p.instead) for p in PHRASES]


class Finding(NamedTuple):
    """A flagged phrase: the number of its first line, its words, and what to write."""

    line: int
    words: str
    instead: str


def findings(text: str) -> Iterator[Finding]:
    """The flagged phrases of a text, line by line."""
    found = []
    for pattern, instead in COMPILED:
        for match in pattern.finditer(text):
            words = re.sub(GAP, " ", match[0])
            found.append(Finding(text.count("\n", 0, match.start()) + 1, words, instead))
    yield from sorted(found)


def tracked() -> Iterator[Path]:
    """The tracked text files, except those that are deleted but still in the index."""
    sources = [f":(glob)**/{name}" if "/" not in name else name for name in SOURCES]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *sources, *LEFT_OUT], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    yield from (ROOT / name for name in listed if name and (ROOT / name).is_file())


def main(arguments: list[str]) -> int:
    """Prints what is flagged; the exit status."""
    files = [Path(argument).resolve() for argument in arguments] or tracked()
    flagged = 0
    for file in files:
        shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        for line, words, instead in findings(file.read_text(encoding="utf-8")):
            print(f"{shown}:{line}: {words} -> {instead}")
            flagged += 1
    return 1 if flagged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
