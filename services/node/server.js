// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Serves on node:http. What could be read in two ways is refused, and peers that are too slow.

import { once } from "node:events";
import http from "node:http";
import { isIPv6 } from "node:net";
import process from "node:process";
import { getSystemErrorMap } from "node:util";

const LONGEST = 8_192;
const MOST_HEADERS = 64;
const BACKLOG = 4_096;
/** A connection without requests is closed after so many time-outs. */
const IDLE_TIMEOUTS = 6;
const CHECK_EVERY_MS = 100;

const MALFORMED = { status: 400, sentence: "This is no request of HTTP/1.1.\n" };
const HAS_BODY = { status: 400, sentence: "The request has a body: send none.\n" };
const NOT_GET = { status: 405, sentence: "Only GET is answered.\n", headers: "Allow: GET\r\n" };
// The answer to HEAD has no content (RFC 9110, section 9.3.2).
const NO_HEAD = { status: 405, sentence: "", headers: "Allow: GET\r\n" };
const TIMED_OUT = { status: 408, sentence: "The request did not come in time.\n" };
const TOO_LONG = { status: 431, sentence: "The head is too long: 8192 bytes, 64 fields.\n" };
const BY_CODE = { ERR_HTTP_REQUEST_TIMEOUT: TIMED_OUT, HPE_HEADER_OVERFLOW: TOO_LONG };

// Of a socket: the answer that comes last so far, and whether it is refused more.
const LAST = Symbol("last");
const IS_REFUSED = Symbol("is refused");

/** Serves until SIGINT or SIGTERM. */
export async function serve(name, answer, { address, port, timeout }) {
    const timeoutMs = 1_000 * timeout;
    let answered = 0;
    const server = http.createServer({
        maxHeaderSize: LONGEST,
        requireHostHeader: false,
        headersTimeout: timeoutMs,
        requestTimeout: timeoutMs,
        connectionsCheckingInterval: CHECK_EVERY_MS,
        keepAliveTimeout: timeoutMs * IDLE_TIMEOUTS,
        keepAliveTimeoutBuffer: 0,
    });
    // For a peer that does not take its answers, and later for one without a first request.
    server.timeout = timeoutMs;
    server.on("connection", (socket) => socket.setTimeout(timeoutMs * IDLE_TIMEOUTS));
    server.on("request", (request, response) => {
        const { socket } = request;
        if (socket[IS_REFUSED]) {
            return;
        }
        answered += 1;
        const refusal = whyNot(request);
        if (refusal) {
            refuse(socket, refusal);
        } else {
            socket[LAST] = response;
            response.sendDate = false;
            answer(request, response);
        }
    });
    server.on("clientError", ({ code }, socket) => {
        // The first is for what comes after "Connection: close", the second also for a connection without requests.
        if (code !== "HPE_CLOSED_CONNECTION" && !(code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0)) {
            refuse(socket, BY_CODE[code] ?? MALFORMED);
        }
    });
    server.on("connect", (request, socket) => refuse(socket, NOT_GET));
    const stop = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    try {
        await once(server.listen({ host: address, port, backlog: BACKLOG }), "listening");
    } catch (error) {
        const place = isIPv6(address) ? `[${address}]` : address;
        const [, what] = getSystemErrorMap().get(error.errno);
        throw new Error(`cannot listen at ${place}:${port}: ${what}`, { cause: error });
    }
    process.stdout.write(`${name}: kernel ${address} port ${port}\n`);
    await stop;
    process.stdout.write(`${name}: ${answered} requests answered\n`);
    process.exit();
}

function whyNot({ rawHeaders, httpVersion, method }) {
    let hosts = 0;
    let lengths = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
        const name = rawHeaders[at].toLowerCase();
        if (name === "host") {
            hosts += 1;
        } else if (name === "transfer-encoding") {
            return HAS_BODY;
        } else if (name === "content-length") {
            lengths += 1;
            if (lengths > 1 || rawHeaders[at + 1] !== "0") {
                return HAS_BODY;
            }
        }
    }
    if ((httpVersion !== "1.1" && httpVersion !== "1.0") || hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
        return MALFORMED;
    }
    if (rawHeaders.length > 2 * MOST_HEADERS) {
        return TOO_LONG;
    }
    if (method === "HEAD") {
        return NO_HEAD;
    }
    return method === "GET" ? null : NOT_GET;
}

/** Sends the last answer of a connection, after those that are still to be sent. */
function refuse(socket, { status, sentence, headers = "" }) {
    if (socket[IS_REFUSED]) {
        return;
    }
    socket[IS_REFUSED] = true;
    const content = sentence && `Content-Type: text/plain\r\nContent-Length: ${sentence.length}\r\n`;
    const end = () => {
        socket.end(
            `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${content}${headers}Connection: close\r\n\r\n${sentence}`,
        );
    };
    const last = socket[LAST];
    if (last && !last.writableFinished) {
        last.once("finish", end);
    } else {
        end();
    }
}
