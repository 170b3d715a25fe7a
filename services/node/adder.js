// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Adds two numbers over HTTP/1.1, with Express: GET /add/1/2 is answered by 1 + 2 = 3.

import express from "express";
import { main } from "./program.js";
import { serve } from "./server.js";

const NO_NUMBER = "This is no number: give /add/A/B, such as /add/1/-2.\n";
const TOO_LARGE = "A number or the sum does not fit into 64 bits.\n";
const NO_SUCH_PAGE = "There is no such page: ask for /add/A/B.\n";

/** Digits, and a minus before them for a negative number. */
const isNumber = (text) => /^-?[0-9]+$/.test(text);

/** Whether an integer has 64 bits at most. */
const fits = (number) => BigInt.asIntN(64, number) === number;

const app = express();
app.set("case sensitive routing", true);
app.set("strict routing", true);
app.set("etag", false);
app.set("x-powered-by", false);

app.get(/^\/add\/[^/]*\/[^/]*$/, (request, response) => {
    // Express would decode %31 to 1.
    const words = request.path.split("/").slice(2);
    if (request.url.includes("?") || !words.every(isNumber)) {
        return refuse(response, 400, NO_NUMBER);
    }
    const [a, b] = words.map(BigInt);
    if (![a, b, a + b].every(fits)) {
        return refuse(response, 400, TOO_LARGE);
    }
    response.type("text/plain").send(`${a} + ${b} = ${a + b}\n`);
});

// Any other path, and what is no path. Without this, Express answers in HTML.
const answer = (request, response) => app(request, response, () => refuse(response, 404, NO_SUCH_PAGE));

function refuse(response, status, sentence) {
    response.status(status).type("text/plain").send(sentence);
}

await main("adder", (options) => serve("adder", answer, options));
