// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Nested structures: a client has an expression, and the server computes it.

use serde::{Deserialize, Serialize};

use crate::random::Random;

// An operand at this depth is always a value.
const DEPTH: u32 = 8;

/// What is done with two operands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it, as those of the schema do")]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulus,
}

const OPERATIONS: [Operation; 5] =
    [Operation::Add, Operation::Subtract, Operation::Multiply, Operation::Divide, Operation::Modulus];

impl Operation {
    /// Overflow wraps around, and what is divided by zero becomes the largest number.
    pub fn apply(self, left: i32, right: i32) -> i32 {
        match self {
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::Multiply => left.wrapping_mul(right),
            Self::Divide if right == 0 => i32::MAX,
            Self::Divide => left.wrapping_div(right),
            Self::Modulus if right == 0 => i32::MAX,
            Self::Modulus => left.wrapping_rem(right),
        }
    }
}

/// One side of an expression.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operand {
    /// A number.
    Value(i32),
    /// The place of an expression in its [`Tree`].
    Expression(usize),
}

/// An expression before it is in a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(missing_docs, reason = "as above")]
pub struct Expression {
    pub operation: Operation,
    pub left: Operand,
    pub right: Operand,
}

/// All expressions of a request; the root is the last one. Its buffer is used for all requests.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Each after those that it contains.
    pub expressions: Vec<Expression>,
}

impl Tree {
    /// The next request. Returns the root, and its value.
    pub fn draw(&mut self, random: &mut Random) -> (Expression, i32) {
        self.expressions.clear();
        self.expression(random, 0)
    }

    fn expression(&mut self, random: &mut Random, depth: u32) -> (Expression, i32) {
        let operation = OPERATIONS[random.below(OPERATIONS.len() as u32) as usize];
        let (left, left_value) = self.operand(random, depth);
        let (right, right_value) = self.operand(random, depth);
        let expression = Expression { operation, left, right };
        self.expressions.push(expression);
        (expression, operation.apply(left_value, right_value))
    }

    fn operand(&mut self, random: &mut Random, depth: u32) -> (Operand, i32) {
        if random.below(DEPTH) < depth {
            let value = random.below(128) as i32 + 1;
            (Operand::Value(value), value)
        } else {
            let (_, value) = self.expression(random, depth + 1);
            (Operand::Expression(self.expressions.len() - 1), value)
        }
    }
}
