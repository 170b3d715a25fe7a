# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""JSON schemas of what a campaign writes, made of the models; `testbed/schemas/` has them for other programs.

`python -m testbed.campaign.schema` writes them anew, and a test fails if they are not those of the models. A file's
name has the schema's version, which is raised when an older reader would misread the new form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from testbed.campaign import diff, journal, summary
from testbed.campaign.comparison import ComparisonVerdict
from testbed.campaign.folder import RESULTS
from testbed.programs import repository_root
from testbed.results import SCHEMA_VERSION

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Each by the name of its file."""
    return {
        f"campaign-summary-{summary.SCHEMA_VERSION}.json": _summary(),
        f"comparison-verdict-{SCHEMA_VERSION}.json": _of_model(ComparisonVerdict, "verdict.json of a comparison"),
        f"journal-entry-{journal.SCHEMA_VERSION}.json": _titled(
            TypeAdapter(journal.Entry).json_schema(mode="serialization"), "a line of journal.jsonl"
        ),
        f"diff-{diff.SCHEMA_VERSION}.json": _of_model(diff.Diff, "what diff --json prints"),
    }


def schemas_folder() -> Path:
    """Where they lie."""
    return repository_root() / "testbed" / "schemas"


def as_text(schema: dict[str, Any]) -> str:
    """As in the file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> list[Path]:
    """Writes all of them, and removes nothing: readers of old results need the old versions."""
    folder.mkdir(exist_ok=True)
    paths = []
    for name, schema in schemas().items():
        path = folder / name
        path.write_text(as_text(schema), encoding="utf-8")
        paths.append(path)
    return paths


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


if __name__ == "__main__":
    for written in write_schemas(schemas_folder()):
        print(written)
