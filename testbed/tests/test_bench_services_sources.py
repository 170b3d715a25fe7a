# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The size of sources, counted by hand in each language, and which sources belong to which program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from testbed.bench.cli import bench
from testbed.bench.services.contestants import CONTESTANTS
from testbed.bench.services.sources import FOLDERS, SourceFigures, all_figures, sources_of
from testbed.bench.services.syntax import GRAMMARS, Size, SyntaxTreeError, size_of
from testbed.run.programs import repository_root

SERVICES = repository_root() / "services"
RUST = """\
// A comment.
/* Another
 * one. */
struct Sum { a: i64 } // Behind code.

impl Sum {
    /// Documentation.
    fn add(&self, many: &[i64]) -> i64 {
        let twice = |x: i64| { x * 2 };
        let mut sum = many.iter().map(|x| x + 1).sum();
        for one in many {
            if *one > 0 {
                sum += twice(*one);
            } else if *one < -9 {
                sum -= 1;
            } else {
                sum = match one { 0 => 0, _ => { 1 } };
            }
        }
        sum
    }
}

#[cfg(test)]
#[allow(unused)]
mod tests {
    #[test]
    fn adds() {}
}
"""
C = """\
#include <stdio.h>
#if 1
/* A comment. */
#endif

struct sum {
	long a;
};

static long
add(const long *many, int len)
{
	long sum = 0;

	for (int i = 0; i < len; i++)
		if (many[i] > 0)
			sum += many[i];
		else if (many[i] < -9) {
			sum--;
		} else
			sum = 0;
	switch (sum) {
	case 0:
		break;
	}
	while (sum > 9) { sum /= 2; }
	return sum;
}

int declared(void);
"""
CPP = """\
#include "sum.hpp"
namespace sums {
class Sum {
 public:
  Sum() = default;
  int twice() const { return 2 * value_; }

 private:
  int value_{0};
};
// A comment.
int add(Sum& sum) {
  try {
    auto once = [](int x) { return x; };
    for (int one : {1, 2}) once(one);
  } catch (...) {
    return 0;
  }
  return sum.twice();
}
}  // namespace sums
"""
# Go 1.26 has new with a value, which its grammar does not know yet.
GO = """\
// A comment.
package sums

import "fmt"

type sum struct{ a int }

type adder interface {
	add(many []int) int
}

func (s *sum) add(many []int) int {
	for _, one := range many {
		if one > 0 {
			s.a += one
		} else if one < -9 {
			s.a--
		} else {
			func() { s.a = *new(1) }()
		}
	}
	switch s.a {
	case 0:
		fmt.Println(`raw
text`)
	}
	return s.a
}
"""
JAVA = """\
/** A comment. */
final class Sum {
  private final long a;

  Sum(long a) {
    this.a = a;
  }

  long add(long[] many) {
    long sum = a;
    for (long one : many)
      if (one > 0) sum += one;
      else if (one < -9) { sum--; }
      else sum = 0;
    Runnable run = () -> { assert a == 0; };
    LongUnaryOperator twice = x -> 2 * x;
    return switch ((int) sum) { case 0 -> 1; default -> sum; };
  }

  interface Adder { long add(long[] many); }
  enum Kind { ONE }
}
"""
JAVASCRIPT = """\
// A comment.
import { add } from "./sum.js";

class Sum {
  add(many) {
    for (const one of many)
      if (one > 0) this.a += one;
      else { this.a = { b: 1 }; }
    many.forEach((one) => { add(one); });
    return many.map((one) => 2 * one);
  }
}

export function main() { return new Sum(); }
"""
PYTHON = '''\
"""A module."""
# A comment.
class Sum:
    """A class."""

    def add(self, many: list[int]) -> int:
        """Its
        documentation.
        """
        for one in many:
            if one > 0:
                self.a += one
            elif one < -9:
                self.a -= 1
            else:
                self.a = "text"
        return self.apply(lambda x: x)
'''


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("sum.rs", RUST, Size(1, lines=29, code=17, functions=2, scopes=10, depth=5)),
        ("sum.c", C, Size(1, lines=30, code=25, functions=1, scopes=8, depth=3)),
        ("sum.h", C, Size(1, lines=30, code=25, functions=1, scopes=8, depth=3)),
        ("sum.cpp", CPP, Size(1, lines=21, code=19, functions=3, scopes=8, depth=3)),
        ("sum.hpp", CPP, Size(1, lines=21, code=19, functions=3, scopes=8, depth=3)),
        ("sum.go", GO, Size(1, lines=28, code=23, functions=2, scopes=9, depth=4)),
        ("Sum.java", JAVA, Size(1, lines=22, code=18, functions=3, scopes=11, depth=3)),
        ("sum.js", JAVASCRIPT, Size(1, lines=14, code=11, functions=3, scopes=7, depth=3)),
        ("sum.py", PYTHON, Size(1, lines=17, code=10, functions=1, scopes=6, depth=3)),
    ],
)
def test_a_source_has_the_size_that_was_counted_by_hand(name: str, source: str, expected: Size, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(source)
    assert size_of(path) == expected


def test_sizes_add_up_but_for_the_depth() -> None:
    assert Size(1, 2, 3, 4, 5, 6) + Size(1, 1, 1, 1, 1, 1) == Size(2, 3, 4, 5, 6, 6)


@pytest.mark.parametrize("suffix", GRAMMARS)
def test_what_is_not_understood_is_an_error(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"broken{suffix}"
    path.write_text("(\n} {\n")
    with pytest.raises(SyntaxTreeError, match=rf"broken{suffix}', line [12]:"):
        size_of(path)


@pytest.fixture(scope="module")
def figures() -> list[SourceFigures]:
    return all_figures(SERVICES)


def test_each_program_that_races_has_a_row(figures: list[SourceFigures]) -> None:
    rows = [(one.language, one.program) for one in figures]
    assert len(rows) == len(set(rows))
    # Other programs are installed, without their sources. On lwIP, a program is the same but for what is below it.
    of_this_tree = {
        (one.language, one.program.removesuffix("-lwip"))
        for programs in CONTESTANTS.values()
        for one in programs
        if one.folder.startswith("target/")
    }
    assert of_this_tree | {("Rust", "origin"), ("C", "origin")} <= set(rows)
    assert all(one.code > one.shared_code >= 0 for one in figures)


def belonging(top: str, service: str, program: str) -> set[str]:
    (found,) = [
        {str(path.relative_to(SERVICES / top)) for path in paths}
        for folder in FOLDERS
        if folder.top == top
        for name, paths in sources_of(SERVICES, folder).items()
        if name == (service, program)
    ]
    return found


@pytest.mark.parametrize("program", ["adder", "echo", "proxy"])
def test_sources_in_cpp_are_those_that_make_links(program: str) -> None:
    makefile = (SERVICES / "cpp/Makefile").read_text()
    linked = re.search(rf"^\$\(BUILD\)/{program}: \$\(call OBJECTS,(.*)\)$", makefile, re.MULTILINE)
    assert linked is not None
    assert {name for name in belonging("cpp", program, program) if name.endswith(".cpp")} == set(linked[1].split())


@pytest.mark.parametrize(
    ("top", "service", "program", "has", "has_not"),
    [
        ("rust/src", "echo", "echo", "echo/message.rs lib.rs sockets/dpdk.rs", "http/mod.rs adder.rs proxy/mod.rs"),
        ("rust/src", "origin", "origin", "origin.rs http/response.rs", "adder.rs"),
        ("rust/libraries/src", "proxy", "proxy-tokio", "proxy/mod.rs proxy/tokio.rs", "proxy/uring.rs"),
        ("c", "echo", "echo", "echo/message.c kernel.c dpdk.c", "http/http.c adder.c proxy/proxy.c"),
        ("go", "proxy", "proxy", "internal/proxy/pair.go", "internal/proxy/proxy_test.go internal/adder/head.go"),
        ("java/src/main/java/services", "adder", "adder", "Head.java Program.java", "Pair.java"),
        ("node", "adder", "adder", "program.js server.js", "eslint.config.js"),
        ("python", "proxy", "proxy", "pair.py program.py", "server.py adder.py"),
    ],
)
def test_sources_of_others_do_not_belong(top: str, service: str, program: str, has: str, has_not: str) -> None:
    found = belonging(top, service, program)
    assert found >= set(has.split())
    assert not found & set(has_not.split())


def test_the_command_prints_a_row_for_each_program(figures: list[SourceFigures], tmp_path: Path) -> None:
    file = tmp_path / "sources.json"
    done = CliRunner().invoke(bench, ["services", "--sources", "--json", str(file)])
    assert done.exit_code == 0, done.output
    for one in figures:
        assert re.search(rf"^ *{one.service} +{one.program} +{re.escape(one.language)} ", done.stdout, re.MULTILINE)
    assert json.loads(file.read_text())["programs"] == [one.model_dump() for one in figures]
