// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../program.js";

const words = (text) => parse(text.split(" "));

test("words are understood", () => {
    assert.deepEqual(words("kernel ::1 80"), { address: "::1", port: 80, timeout: 10 });
    assert.deepEqual(words("--timeout 0.5 kernel ::1 80"), { address: "::1", port: 80, timeout: 0.5 });
    assert.equal(words("kernel --help"), null);
});

test("what is wrong is named", () => {
    for (const [text, found] of [
        ["kernel", "see --help"],
        ["kernel localhost 80", "'localhost' is no address"],
        ["kernel 127.0.0.1 0", "port '0'"],
        ["kernel 127.0.0.1 65536", "port '65536'"],
        ["lwip 127.0.0.1 80", "'lwip' is no kind of sockets"],
        ["kernel 127.0.0.1 80 --timeout 0", "a timeout of 0 s"],
        ["kernel 127.0.0.1 80 --timeout=-1", "a timeout of -1 s"],
        ["kernel 127.0.0.1 80 --timeout", "--timeout"],
        ["kernel 127.0.0.1 80 --limit 5", "--limit"],
        ["kernel 127.0.0.1 80 127.0.0.1:81", "see --help"],
    ]) {
        assert.throws(
            () => words(text),
            (error) => error.message.includes(found),
            text,
        );
    }
});
