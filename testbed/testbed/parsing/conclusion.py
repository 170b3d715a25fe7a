# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The conclusions of a record, in sentences. A sentence whose figures are missing is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testbed.parsing.comparison import (
    C_KERNELS,
    HOT,
    INSTRUCTIONS,
    LIMIT,
    Place,
    Quantity,
    builds,
    in_place,
    is_crate,
    is_safe_rust,
    ranking,
    time_in,
    value_of,
)
from testbed.parsing.record import (
    LTO_FAT,
    LTO_OFF,
    Library,
    Outcome,
    ParsingRecord,
    Residency,
    Workload,
)

# Libraries whose figures differ by less are called equal: another compiler changes figures by as much.
NEAR = 1.05
# Above this ratio, link-time optimisation counts as relevant.
LTO_MATTERS = 1.05
# A sentence lists at most so many names; the tables have all.
_MOST_LISTED = 6
# How much more than the C kernel the fastest safe kernel may cost.
SAFE_AGAINST_C = 1.15


def conclusion(record: ParsingRecord) -> list[tuple[str, str]]:
    """(question, answer) for each question that the record can answer."""
    answers = [
        ("For rewriting in place", _choice(record, Workload.W2, lambda one: is_crate(one) and in_place(one))),
        ("For building packets", _building(record)),
        ("For reading", _choice(record, Workload.W4, is_crate)),
        ("Safe Rust against C", _against_c(record)),
        ("The limit", _limit(record)),
        ("Link-time optimisation", _lto(record)),
        ("Where the frames are", _residency(record)),
        ("On bad input", _gate(record)),
    ]
    return [(question, answer) for question, answer in answers if answer]


def _choice(record: ParsingRecord, workload: Workload, wanted: Callable[[Library], bool]) -> str | None:
    """The crate that executes the fewest instructions, the crates equal to it, and the shortest kernel of these."""
    places = _places(record, workload, wanted)
    if not places:
        return None
    best = places[0]
    text = f"{best.library.name} executes the fewest instructions in {workload}: {_cost(record, best, workload)}."
    near = [place for place in places[1:] if place.value < best.value * NEAR]
    if near:
        listed = _listed([f"{place.library.name} ({place.value:,.1f})" for place in near])
        text += f" Within {100 * (NEAR - 1):.0f} % of that: {listed}."
    lines = {p.library.name: p.library.kernel_lines.get(workload) for p in (best, *near)}
    known = {name: number for name, number in lines.items() if number is not None}
    if near and known:
        shortest = min(known, key=lambda name: known[name])
        text += f" Of these, {shortest} has the shortest kernel, {known[shortest]} lines"
        text += (
            "."
            if shortest == best.library.name or best.library.name not in known
            else (f", compared with {known[best.library.name]}.")
        )
    text += _reservations(record, [best.library, *(place.library for place in near)])
    far = places[-1]
    if far.value >= best.value * NEAR:
        text += f" {far.library.name} executes the most: {_cost(record, far, workload)}."
    return text


def _reservations(record: ParsingRecord, libraries: Sequence[Library]) -> str:
    """The faults that the gate found in any workload, and what the first library leaves to its user."""
    faults = [
        f"{library.name} in {workload} ({verdict.outcome})"
        for library in libraries
        for workload, verdict in library.gate.items()
        if workload in record.workloads and verdict.outcome not in (Outcome.PASSES, Outcome.CANNOT)
    ]
    text = f" Faults found by the gate: {_listed(faults)}." if faults else ""
    first = libraries[0]
    return f"{text} Note on {first.name}: {first.note}." if first.note else text


def _limit(record: ParsingRecord) -> str | None:
    """Where other kernels execute fewer instructions than the limit."""
    found = []
    for workload in record.workloads:
        places = _places(record, workload, lambda _: True)
        limit = next((place.value for place in places if place.library.name == LIMIT), None)
        under = [f"{place.library.name} {place.value:,.1f}" for place in places if limit and place.value < limit]
        if under:
            found.append(f"In {workload}, {_listed(under)} execute fewer than its {limit:,.1f} instructions")
    if not found:
        return None
    return ". ".join(found) + f". There {LIMIT} is only the base of the comparison, not a limit."


def _places(record: ParsingRecord, workload: Workload, wanted: Callable[[Library], bool]) -> list[Place]:
    """The wanted kernels, ranked by instructions with fat LTO."""
    found = ranking(record, record.build(LTO_FAT), workload, INSTRUCTIONS)
    return [place for place in found if wanted(place.library)]


def _cost(record: ParsingRecord, place: Place, workload: Workload) -> str:
    """'62.0 instructions, 1.41 times the limit; hot 8.1 ns, 1.20 times the limit'."""
    found = []
    for quantity, words in ((INSTRUCTIONS, "{:,.1f} instructions"), (HOT, "hot {:,.1f} ns")):
        value = quantity.of(place.kernel)
        if value is None:
            continue
        limit = value_of(record.build(LTO_FAT), LIMIT, workload, quantity)
        times = f", {value / limit:.2f} times the limit" if limit else ""
        found.append(words.format(value) + times)
    return "; ".join(found)


# The workloads in which building packets is compared: the first that such a library supports.
_BUILT = (Workload.W2, Workload.W3, Workload.W1)


def _building(record: ParsingRecord) -> str | None:
    """The cost of building the packet instead of rewriting it in place."""
    makers = [library for library in record.libraries if builds(library)]
    ranked = {workload: _places(record, workload, builds) for workload in _BUILT if workload in record.workloads}
    workload = next((workload for workload, places in ranked.items() if places), None)
    if workload is None:
        return "No library that builds packets has a figure." if makers else None
    best = ranked[workload][0]
    if len(makers) == 1:
        text = f"{best.library.name} is the only library here that builds packets"
    else:
        text = (
            f"Of the {len(makers)} libraries that build packets, {best.library.name} executes the fewest instructions"
        )
    text += f": in {workload} {_cost(record, best, workload)}."
    code = best.kernel.code
    if code is not None and code.memory_calls:
        calls = _listed([f"{name} in {number} places" for name, number in sorted(code.memory_calls.items())])
        text += f" Its code calls {calls}."
    return text


def _against_c(record: ParsingRecord) -> str | None:
    """Whether safe Rust keeps up with C in W2."""
    places = ranking(record, record.build(LTO_FAT), Workload.W2, INSTRUCTIONS)
    safe = [place for place in places if is_safe_rust(place.library)]
    others = [place for place in places if place.library.name in C_KERNELS]
    if not safe or not others:
        return None
    best = safe[0]
    against = [
        f"{100 * (best.value / place.value - 1):+.1f} % against {place.library.name} ({place.value:,.1f})"
        for place in others
    ]
    text = f"The safe kernel with the fewest instructions in W2 is that of {best.library.name}: {best.value:,.1f}, "
    text += f"{_listed(against)}."
    within = all(best.value <= place.value * SAFE_AGAINST_C for place in others)
    percent = f"{100 * (SAFE_AGAINST_C - 1):.0f} %"
    text += f" This is {'within' if within else 'not within'} the project's limit of {percent}."
    crates = [place for place in safe if is_crate(place.library)]
    if crates and crates[0] is not best:
        text += f" Of the crates, {crates[0].library.name} has the fewest, {crates[0].value:,.1f}."
    return text


def _lto(record: ParsingRecord) -> str | None:
    """The libraries for which link-time optimisation matters, each in the workload with the largest effect."""
    off, fat = record.build(LTO_OFF), record.build(LTO_FAT)
    most: dict[str, tuple[float, str]] = {}
    several = False
    for workload in record.workloads:
        without = {place.library.name: place.value for place in ranking(record, off, workload, INSTRUCTIONS)}
        for place in ranking(record, fat, workload, INSTRUCTIONS):
            name = place.library.name
            if name in without and place.value:
                several = True
                ratio = without[name] / place.value
                if ratio > most.get(name, (LTO_MATTERS, ""))[0]:
                    most[name] = ratio, f"{name} {ratio:.2f} times as many in {workload}"
    if not several:
        return None
    percent = f"{100 * (LTO_MATTERS - 1):.0f} %"
    if not most:
        return f"Without it, no library executes {percent} more instructions than with it."
    listed = [text for _, text in sorted(most.values(), reverse=True)]
    listed = [*listed[:_MOST_LISTED], *([f"{len(listed) - _MOST_LISTED} others"] if len(listed) > _MOST_LISTED else [])]
    return (
        f"Without it, these execute more than {percent} more instructions, each in the workload with the largest "
        f"effect: {_listed(listed)}."
    )


def _residency(record: ParsingRecord) -> str | None:
    """How much parsers differ if frames come from memory, as after a NIC."""
    cold = time_in(Residency.COLD)
    spans = []
    for quantity, words in ((HOT, "with frames in the cache"), (cold, "with frames in memory")):
        places = [place for place in ranking(record, record.build(LTO_FAT), Workload.W2, quantity) if _rewrites(place)]
        if len(places) < 2:
            return None
        first, last = places[0], places[-1]
        spans.append(
            f"{first.value:,.1f} ns ({first.library.name}) to {last.value:,.1f} ns ({last.library.name}) {words}, "
            f"{last.value / first.value:.2f} times as much"
        )
    return f"The crates that write in place take {spans[0]}; {spans[1]}. {_added(record, cold)}".strip()


def _added(record: ParsingRecord, quantity: Quantity) -> str:
    """The part of the time of a cold frame that is not the parser's."""
    fat = record.build(LTO_FAT)
    timings = fat.loop_timings.get(Workload.W2, []) if fat else []
    loop = next((timing for timing in timings if timing.residency is quantity.residency), None)
    if loop is None:
        return ""
    return f"Of this, an empty kernel takes {loop.ns_per_frame:,.1f} ns."


def _rewrites(place: Place) -> bool:
    return is_crate(place.library) and in_place(place.library)


def _gate(record: ParsingRecord) -> str | None:
    """The kernels that pass the gate, and those that do not."""
    verdicts = [
        (library.name, workload, library.gate[workload].outcome)
        for library in record.libraries
        for workload in record.workloads
        if workload in library.gate
    ]
    tried = [entry for entry in verdicts if entry[2] is not Outcome.CANNOT]
    if not tried:
        return None
    bad = [f"{name} in {workload} ({outcome})" for name, workload, outcome in tried if outcome is not Outcome.PASSES]
    text = f"{len(tried) - len(bad)} of {len(tried)} kernels agree with the reference on all frames"
    return f"{text}. Exceptions: {_listed(bad)}." if bad else f"{text}."


def _listed(words: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def tiles(record: ParsingRecord) -> list[tuple[str, str, str]]:
    """(label, figure, detail) of the main results."""
    found: list[tuple[str, str, str]] = []
    fat = record.build(LTO_FAT)
    for title, workload, wanted in (
        ("Rewriting in place", Workload.W2, lambda one: is_crate(one) and in_place(one)),
        *(("Building", workload, builds) for workload in _BUILT),
        ("Reading", Workload.W4, is_crate),
    ):
        places = _places(record, workload, wanted)
        if places and not any(label.startswith(title) for label, _, _ in found):
            best = places[0]
            found.append((f"{title}, {workload}", best.library.name, _cost(record, best, workload)))
    places = ranking(record, fat, Workload.W2, INSTRUCTIONS)
    safe = next((place for place in places if is_safe_rust(place.library)), None)
    for place in places:
        if safe is not None and place.library.name == C_KERNELS[0]:
            percent = f"{100 * (safe.value / place.value - 1):+.1f} %"
            found.append(
                (f"Safe Rust to C, W2 ({C_KERNELS[0]})", percent, f"{safe.library.name}, instructions per frame")
            )
    return found
