# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
from getopt import GetoptError
from ipaddress import ip_address
from unittest import TestCase

from program import Options, Place, ProgramError, parse


class Parse(TestCase):
    def test_words_are_understood(self):
        place = Place(ip_address("::1"), 80)
        self.assertEqual(parse(["kernel", "::1", "80"], is_proxy=False), Options(place))
        self.assertEqual(
            parse(["--timeout", "0.5", "kernel", "::1", "80"], is_proxy=False), Options(place, timeout_s=0.5)
        )
        options = parse(["kernel", "::1", "80", "[2001:db8::2]:81", "--limit", "7"], is_proxy=True)
        self.assertEqual(options, Options(place, to=Place(ip_address("2001:db8::2"), 81), limit=7))
        self.assertEqual(str(options), "kernel ::1 port 80 to [2001:db8::2]:81")
        self.assertIsNone(parse(["--help"], is_proxy=True))

    def test_what_is_wrong_is_named(self):
        for words, found in (
            ("", "see --help"),
            ("kernel 127.0.0.1", "see --help"),
            ("kernel localhost 80", "'localhost' is no address"),
            ("kernel 127.0.0.1 0", "port '0'"),
            ("kernel 127.0.0.1 65536", "port '65536'"),
            ("lwip 127.0.0.1 80", "'lwip' is no kind of sockets"),
            ("kernel 127.0.0.1 80 --timeout 0", "a timeout of 0 s"),
            ("kernel 127.0.0.1 80 --timeout nan", "a timeout of nan s"),
            ("kernel 127.0.0.1 80 --timeout -1", "a timeout of -1 s"),
            ("kernel 127.0.0.1 80 --limit 5", "--limit"),
            ("kernel 127.0.0.1 80 127.0.0.1:81", "see --help"),
        ):
            self.refuse(words, found, is_proxy=False)
        for words, found in (
            ("kernel 127.0.0.1 80", "where to connect to"),
            ("kernel 127.0.0.1 80 localhost:81", "'localhost:81' is nothing to connect to"),
            ("kernel 127.0.0.1 80 ::1:81", "'::1:81' is nothing to connect to"),
            ("kernel 127.0.0.1 80 [127.0.0.1]:81", "'[127.0.0.1]:81' is nothing to connect to"),
            ("kernel 127.0.0.1 80 127.0.0.1:0", "'127.0.0.1:0' is nothing to connect to"),
            ("kernel 127.0.0.1 80 127.0.0.1:81 --limit 0", "a limit of 0 connections"),
        ):
            self.refuse(words, found, is_proxy=True)

    def refuse(self, words: str, found: str, *, is_proxy: bool):
        with self.subTest(words), self.assertRaises((ProgramError, GetoptError)) as caught:
            parse(words.split(), is_proxy=is_proxy)
        self.assertIn(found, str(caught.exception))
