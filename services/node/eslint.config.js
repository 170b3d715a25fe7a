// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

import js from "@eslint/js";

export default [js.configs.recommended];
