# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Frame sizes and mixtures."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from testbed.campaign.sizes import (
    ARTICLE_SIZES,
    SIZE_SETS,
    SizeError,
    genome,
    in_runs,
    longest,
    mean_bytes,
    named_sizes,
    simple_imix,
    size_in_words,
    size_order,
    sizes_in_words,
    spread,
)
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trial import TrialPlan, line_rate_fps


def test_the_article_has_26_sizes():
    assert len(ARTICLE_SIZES) == len(set(ARTICLE_SIZES)) == 26
    assert ARTICLE_SIZES[:6] == (64, 68, 72, 128, 256, 266)
    assert ARTICLE_SIZES[15:] == (366, 376, 384, 512, 640, 768, 896, 1024, 1280, 1400, 1518)


def test_frame_rates_are_those_of_rfc_2544_appendix_b():
    rates = {64: 14880, 128: 8445, 256: 4528, 512: 2349, 768: 1586, 1024: 1197, 1280: 961, 1518: 812}
    assert {size: int(line_rate_fps(size, 10e6)) for size in rates} == rates


def test_every_size_of_a_set_can_be_asked_for():
    for name, sizes in SIZE_SETS.items():
        assert named_sizes(name) == sizes
        for size in sizes:
            assert TrialPlan(size=size, load_fps=1, duration_s=1).size == size


def test_an_unknown_set_names_those_that_there_are():
    with pytest.raises(SizeError, match="'tiny': give sizes, or one of rfc2544, article, jumbo"):
        named_sizes("tiny")


def test_simple_imix_is_7_4_1_and_evenly_spread():
    mixture = simple_imix()
    assert mixture.shares == {64: 7 / 12, 594: 4 / 12, 1518: 1 / 12}
    assert mixture.mean_bytes == pytest.approx(361.8333, abs=1e-3)
    assert mixture.line_rate_fps(25e9) == pytest.approx(25e9 / (8 * 381.8333), rel=1e-6)
    # Two large ones never follow each other.
    assert not any({a, b} == {594} for a, b in zip(mixture.sequence, mixture.sequence[1:], strict=False))


def test_a_mixture_of_one_size_has_that_size_s_line_rate():
    assert spread("one", {512: 3}).line_rate_fps(1e9) == line_rate_fps(512, 1e9)


@pytest.mark.parametrize(
    ("text", "sequence"),
    [
        ("aaafd", (64, 64, 64, 1280, 512)),
        ("abcdefghi", (64, 128, 256, 512, 1024, 1280, 1518, 2112, 9000)),
        ("3a2g", (64, 64, 64, 1518, 1518)),
        ("az", (64, 1518)),
        ("12b", (128,) * 12),
    ],
)
def test_a_genome_names_its_frames(text, sequence):
    assert genome(text).sequence == sequence


def test_a_genome_with_sizes_of_its_own():
    assert genome("aAz", custom={"A": 100}, mtu_bytes=9000).sequence == (64, 100, 9018)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not an IMIX genome"),
        ("a-b", "is not an IMIX genome"),
        ("3", "is not an IMIX genome"),
        ("ax", "letter 'x', which stands for no size"),
        ("aA", "letter 'A', which stands for no size"),
        ("0a", "0 times 'a'"),
        ("10001a", "more than 10000 frames"),
    ],
)
def test_a_wrong_genome_is_told(text, message):
    with pytest.raises(SizeError, match=message):
        genome(text)


def test_a_mixture_needs_frames():
    with pytest.raises(SizeError, match="at least 1"):
        spread("none", {})
    with pytest.raises(SizeError, match="at least 1"):
        spread("zero", {64: 0})


@pytest.mark.parametrize(
    ("name", "runs", "mean", "words"),
    [
        ("imix", "64,594,64x2,594,64,1518,594,64x2,594,64", 4342 / 12, "imix (361.8 bytes on average)"),
        ("imix:3afd", "64x3,1280,512", 396.8, "imix:3afd (396.8 bytes on average)"),
        ("imix:2Az:A=700:z=9018", "700x2,9018", 10418 / 3, "imix:2Az:A=700:z=9018 (3472.7 bytes on average)"),
        (128, "128", 128, "128 bytes"),
    ],
)
def test_a_mixture_stands_where_a_size_can(name, runs, mean, words):
    assert TrialPlan(size=name, load_fps=1, duration_s=1).size == name
    assert (in_runs(name), size_in_words(name)) == (runs, words)
    assert mean_bytes(name) == pytest.approx(mean)
    assert line_rate_fps(name, 25e9) == pytest.approx(25e9 / 8 / (mean + 20))
    # Also as a key, which JSON has as text.
    able = Capabilities(generator="one", version="1", max_fps_by_size={name: 5.0})
    assert Capabilities.model_validate_json(able.model_dump_json()).max_fps(name) == 5.0


def test_sizes_and_mixtures_stand_in_the_order_of_their_average_frames():
    assert sorted([1518, "imix", 64, 512, "imix:ag"], key=size_order) == [64, "imix", 512, "imix:ag", 1518]
    assert longest([64, "imix:ai", 1518]) == 9000
    assert sizes_in_words(["imix", 64, 512]) == "64, 512 bytes, imix (361.8 bytes on average)"


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("imux", "no size or mixture is called 'imux'"),
        ("²", "no size or mixture is called '²'"),
        ("imix:", "is not an IMIX genome"),
        ("imix:aj", "letter 'j', which stands for no size"),
        ("imix:aA", "letter 'A', which stands for no size"),
        ("imix:aA:B700", "'B700' in 'imix:aA:B700' is not a custom size: give a capital letter or z, such as A=700"),
        ("imix:aA:A=10", "frames of 10 bytes: give 64 to 9216"),
        (f"imix:{'ab' * 50}", "more than 100 letters: put a number before a letter"),
        (63, "give bytes with FCS from 64 to 9216, or a mixture such as imix"),
        (64.5, "give bytes with FCS"),
        (True, "give bytes with FCS"),
    ],
)
def test_what_is_no_size_is_told(size, message):
    with pytest.raises(ValidationError, match=message):
        TrialPlan(size=size, load_fps=1, duration_s=1)
