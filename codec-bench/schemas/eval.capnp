# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
#
# Nested structures: compute an expression.

@0x9c47e02b5d13fa86;

enum Operation {
  add @0;
  subtract @1;
  multiply @2;
  divide @3;
  modulus @4;
}

struct Expression {
  operation @0 :Operation;
  left :union {
    value @1 :Int32;
    expression @2 :Expression;
  }
  right :union {
    value @3 :Int32;
    expression @4 :Expression;
  }
}

struct Value {
  value @0 :Int32;
}
