// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// The test program; BOOST_TEST_MODULE gives it its main function.

#define BOOST_TEST_MODULE services
#include <boost/test/included/unit_test.hpp>
