# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""JSON schemas of what a campaign writes, made of the models: `./x testbed schema DIR` writes them for other programs.

A file's name has the schema's version, which is raised when an older reader would misread the new form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from testbed.campaign import journal, summary
from testbed.campaign.compare.verdict_file import ComparisonVerdict
from testbed.campaign.diff import outcome as diff
from testbed.campaign.folder import RESULTS
from testbed.run.results_folder import SCHEMA_VERSION, write_atomically

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Each by the name of its file."""
    return {
        f"campaign-summary-{summary.SCHEMA_VERSION}.json": _summary(),
        f"comparison-verdict-{SCHEMA_VERSION}.json": _of_model(ComparisonVerdict, "verdict.json of a comparison"),
        f"journal-entry-{journal.SCHEMA_VERSION}.json": _titled(
            TypeAdapter(journal.Entry).json_schema(mode="serialization"), "a line of journal.jsonl"
        ),
        f"diff-{diff.SCHEMA_VERSION}.json": _of_model(diff.Diff, "the output of diff --json"),
    }


def as_text(schema: dict[str, Any]) -> str:
    """As in the file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> Iterator[Path]:
    """Writes all into the folder, which is created if missing; each path when it is written.

    Raises `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in schemas().items():
        write_atomically(folder / name, as_text(content))
        yield folder / name


def _summary() -> dict[str, Any]:
    """The summary's, in which a finding's result is that of its measurement."""
    models: list[type[BaseModel]] = [summary.CampaignSummary, summary.Finding, *RESULTS.values()]
    references, whole = models_json_schema([(model, "serialization") for model in models])
    definitions = whole["$defs"]
    top = definitions.pop("CampaignSummary")
    finding = references[summary.Finding, "serialization"]["$ref"].rpartition("/")[2]
    definitions[finding]["allOf"] = [
        {
            "if": {"properties": {"measurement": {"const": str(test)}}},
            "then": {"properties": {"result": {"anyOf": [references[model, "serialization"], {"type": "null"}]}}},
        }
        for test, model in RESULTS.items()
    ]
    return _titled({**top, "$defs": definitions}, "summary.json of a campaign")


def _of_model(model: type[BaseModel], title: str) -> dict[str, Any]:
    return _titled(model.model_json_schema(mode="serialization"), title)


def _titled(schema: dict[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": _DIALECT, **schema, "title": title}
