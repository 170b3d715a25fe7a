# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The JSON schemas that `./x testbed schema` writes: what campaigns write is valid by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from campaign_folders import TEXT, run_campaign, run_comparison
from jsonschema import Draft202012Validator, ValidationError
from typer.testing import CliRunner

from testbed.campaign.diff.outcome import compare_folders
from testbed.campaign.schema import schemas
from testbed.cli import app

Validators = Callable[[str], Draft202012Validator]


@pytest.fixture(scope="module")
def validator(tmp_path_factory: pytest.TempPathFactory) -> Validators:
    """The validator of a schema as the command writes it, by the name of its file."""
    folder = tmp_path_factory.mktemp("schemas") / "new"
    done = CliRunner().invoke(app, ["schema", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [str(folder / name) for name in schemas()]

    def find(name: str) -> Draft202012Validator:
        schema = json.loads((folder / name).read_text())
        Draft202012Validator.check_schema(schema)
        return Draft202012Validator(schema)

    return find


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_campaign(tmp_path_factory.mktemp("schema"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["schema", str(tmp_path / "file" / "schemas")])
    assert done.exit_code == 1
    assert f"cannot write the schemas into {tmp_path}/file/schemas: Not a directory" in done.stderr


def test_what_a_campaign_writes_is_valid(campaign: Path, validator: Validators) -> None:
    summary = json.loads((campaign / "summary.json").read_text())
    assert len({finding["measurement"] for finding in summary["findings"]}) == 8
    validator("campaign-summary-1.json").validate(summary)
    entries = validator("journal-entry-1.json")
    for line in (campaign / "journal.jsonl").read_text().splitlines():
        entries.validate(json.loads(line))


def test_what_is_no_summary_is_not_valid(campaign: Path, validator: Validators) -> None:
    text = (campaign / "summary.json").read_text()
    check = validator("campaign-summary-1.json")
    for spoil in (
        lambda summary: summary.pop("devices"),
        lambda summary: summary.update(strange=1),
        lambda summary: summary["findings"][0]["result"].pop("throughput_fps"),
        lambda summary: summary["findings"][0].update(measurement="latency"),
        lambda summary: summary["findings"][0].update(grade="good"),
    ):
        summary = json.loads(text)
        assert summary["findings"][0]["measurement"] == "throughput"
        spoil(summary)
        with pytest.raises(ValidationError):
            check.validate(summary)


def test_a_verdict_and_a_diff_are_valid(campaign: Path, tmp_path: Path, validator: Validators) -> None:
    verdict = json.loads((run_comparison(tmp_path, TEXT) / "verdict.json").read_text())
    assert verdict["comparison"]["verdicts"]
    validator("comparison-verdict-1.json").validate(verdict)
    other = run_campaign(tmp_path, TEXT.replace("12.4e+6", "11.5e+6"))
    validator("diff-2.json").validate(json.loads(compare_folders(campaign, other).model_dump_json()))
