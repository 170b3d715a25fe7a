// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Rounds as long as another program wants them.

#pragma once

#include "rounds.hpp"

// Each line of stdin is a word: `go` and `stop`, and `read`, after which the counters are printed.
// The end of stdin is the end.
void serve(Rounds& rounds);
