// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Sums of two numbers of 64 bits.

#pragma once

#include <string>
#include <string_view>

namespace services {

// What a page is, or why there is none.
struct Page {
  int status;  // Of HTTP.
  std::string content;
};

// The page at a path: "1 + 2 = 3" at /add/1/2.
Page Sum(std::string_view path);

}  // namespace services
