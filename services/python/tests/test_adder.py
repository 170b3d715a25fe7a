# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
from unittest import TestCase

from pydantic import TypeAdapter, ValidationError

from adder import LEAST, MOST, Number


class Numbers(TestCase):
    def test_numbers_of_64_bits_are_read(self):
        for text, value in (("007", 7), ("-0", 0), ("-007", -7), (str(LEAST), LEAST), (str(MOST), MOST)):
            self.assertEqual(TypeAdapter(Number).validate_python(text), value)

    def test_others_are_not(self):
        for text in ("", "-", "+1", "1.0", " 1", "1\n", "1_0", "\u0661", str(LEAST - 1), str(MOST + 1), "9" * 5_000):
            with self.subTest(text[:30]), self.assertRaises(ValidationError):
                TypeAdapter(Number).validate_python(text)
