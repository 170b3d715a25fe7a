// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

// Nested structures: a client has an expression, and the server computes it.

#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../random.hpp"

namespace eval {

// An operand at this depth is always a value.
inline constexpr std::uint32_t DEPTH = 8;

// What is done with two operands.
enum class Operation : std::uint16_t { add, subtract, multiply, divide, modulus };
inline constexpr std::uint32_t OPERATIONS = 5;

// Overflow wraps around, and what is divided by zero becomes the largest number.
inline std::int32_t apply(Operation operation, std::int32_t left, std::int32_t right) {
  auto a = static_cast<std::uint32_t>(left);
  auto b = static_cast<std::uint32_t>(right);
  switch (operation) {
    case Operation::add:
      return static_cast<std::int32_t>(a + b);
    case Operation::subtract:
      return static_cast<std::int32_t>(a - b);
    case Operation::multiply:
      return static_cast<std::int32_t>(a * b);
    case Operation::divide:
      if (right == 0) return std::numeric_limits<std::int32_t>::max();
      // The quotient of the lowest number and -1 does not fit.
      return right == -1 ? static_cast<std::int32_t>(0 - a) : left / right;
    case Operation::modulus:
      if (right == 0) return std::numeric_limits<std::int32_t>::max();
      return right == -1 ? 0 : left % right;
  }
  return 0;
}

// One side of an expression: a number, or the place of an expression in its `Tree`.
struct Operand {
  bool is_value;
  std::int32_t value;
  std::size_t place;
};

// An expression before it is in a message.
struct Expression {
  Operation operation;
  Operand left;
  Operand right;
};

// All expressions of a request; the root is the last one. Its buffer is used for all requests.
struct Tree {
  // Each after those that it contains.
  std::vector<Expression> expressions;

  // The next request. Returns the root, and its value.
  std::pair<Expression, std::int32_t> draw(Random& random) {
    expressions.clear();
    return expression(random, 0);
  }

 private:
  std::pair<Expression, std::int32_t> expression(Random& random, std::uint32_t depth) {
    auto operation = static_cast<Operation>(random.below(OPERATIONS));
    auto [left, left_value] = operand(random, depth);
    auto [right, right_value] = operand(random, depth);
    Expression made{operation, left, right};
    expressions.push_back(made);
    return {made, apply(operation, left_value, right_value)};
  }

  std::pair<Operand, std::int32_t> operand(Random& random, std::uint32_t depth) {
    if (random.below(DEPTH) < depth) {
      auto value = static_cast<std::int32_t>(random.below(128)) + 1;
      return {{true, value, 0}, value};
    }
    std::int32_t value = expression(random, depth + 1).second;
    return {{false, 0, expressions.size() - 1}, value};
  }
};

}  // namespace eval
