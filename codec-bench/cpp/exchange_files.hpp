// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Messages for the gate: what one program writes, the other one reads.
//
// A request and its response follow each other, each in a frame.

#pragma once

#include <array>
#include <iosfwd>

#include "contract.hpp"

// Writes the messages of so many rounds. Throws a `Failure`.
void write_messages(Exchange& exchange, std::uint64_t rounds, std::ostream& output);

// Reads each value of all messages, by `Part`. The server's work is done once more: each response
// must be the one that is there. Throws a `Failure`.
std::array<Digest, 2> read_messages(Exchange& exchange, int input);
