# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Scenario files: YAML. An error names the file, the line and the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_error import ScenarioError, message_of, place_of
from testbed.run.programs import repository_root

M = TypeVar("M", bound=BaseModel)


def scenarios_folder() -> Path:
    """Where the ready ones lie."""
    return repository_root() / "testbed" / "scenarios"


def find_scenario(name: Path) -> Path:
    """The file of this name, or the ready scenario."""
    if name.exists() or name.parent != Path():
        return name
    ready = scenarios_folder() / (name.name if name.suffix else f"{name.name}.yaml")
    return ready if ready.exists() else name


def read_scenario(path: Path) -> Scenario:
    """Reads a scenario file.

    Raises `ScenarioError`.
    """
    return parse_scenario(read_text(path), str(path))


def read_text(path: Path) -> str:
    """The text of a scenario file.

    Raises `ScenarioError`.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        ready = ", ".join(sorted(file.stem for file in scenarios_folder().glob("*.yaml")))
        raise ScenarioError(f"cannot read '{path}': {error.strerror}: give a file, or one of {ready}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"'{path}' is not UTF-8 text: {error.reason} at byte {error.start}") from error


def parse_scenario(text: str, name: str) -> Scenario:
    """The scenario in `text`, which messages call `name`.

    Raises `ScenarioError`.
    """
    return parse_model(text, name, Scenario, "a scenario is a mapping with name, generator and devices")


def parse_model(text: str, name: str, model: type[M], shape: str) -> M:
    """What a YAML text says, which messages call `name`; `shape` says what it should be.

    Raises `ScenarioError`.
    """
    try:
        tree = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{name}:{line}: {error.problem or error.context}") from error
    except (YAMLError, ValueError) as error:
        raise ScenarioError(f"{name}: {error}") from error
    if not isinstance(tree, CommentedMap):
        raise ScenarioError(f"{name}:1: {shape}")
    try:
        return model.model_validate(_plain(tree))
    except ValidationError as error:
        found = [f"{name}:{_line(tree, place_of(one))}: {message_of(one)}" for one in error.errors()]
        raise ScenarioError("\n".join(found)) from error


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return node


def _line(tree: CommentedMap, place: tuple[int | str, ...]) -> int:
    """The line of the field, or of the nearest thing around it that has one."""
    line, node = tree.lc.line, tree
    for part in place:
        # The kind of a union's member is in the place too, but not in the file.
        if isinstance(node, CommentedMap) and part in node:
            line = node.lc.key(part)[0]
        elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0]
        else:
            continue
        node = node[part]
    return line + 1
