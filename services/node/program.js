// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// The command line, and how a program fails.

import { isIP } from "node:net";
import process from "node:process";
import { parseArgs } from "node:util";

const USAGE = `\
usage: NAME kernel ADDRESS PORT [--timeout SECONDS]

Serves a TCP port until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  -h, --help         print this text
`;

/** Runs a program with the words of its command line. */
export async function main(name, run) {
    try {
        const options = parse(process.argv.slice(2));
        if (options === null) {
            process.stdout.write(USAGE.replaceAll("NAME", name));
        } else {
            await run(options);
        }
    } catch (error) {
        process.stderr.write(`${name}: ${error.message}\n`);
        process.exitCode = 1;
    }
}

/** Reads the command line. Null: the usage is asked for. */
export function parse(words) {
    const { values, positionals } = split(words);
    if (values.help) {
        return null;
    }
    if (positionals.length !== 3) {
        throw new Error("give kernel, an address, and a port: see --help");
    }
    const [kind, address, port] = positionals;
    if (kind !== "kernel") {
        throw new Error(`'${kind}' is no kind of sockets: give kernel`);
    }
    if (!isIP(address)) {
        throw new Error(`'${address}' is no address: give one such as 127.0.0.1`);
    }
    if (!/^[0-9]{1,5}$/.test(port) || port < 1 || port > 65535) {
        throw new Error(`port '${port}': give 1 to 65535`);
    }
    const timeout = /^[0-9.]+$/.test(values.timeout) ? Number(values.timeout) : NaN;
    if (!(timeout > 0 && timeout < Infinity)) {
        throw new Error(`a timeout of ${values.timeout} s: give more than 0`);
    }
    return { address, port: Number(port), timeout };
}

function split(words) {
    const options = { timeout: { type: "string", default: "10" }, help: { type: "boolean", short: "h" } };
    try {
        return parseArgs({ args: words, options, allowPositionals: true });
    } catch (error) {
        // Its first sentence.
        throw new Error(`${error.message.split(/\.\s/)[0]}: see --help`, { cause: error });
    }
}
