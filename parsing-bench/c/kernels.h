/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#ifndef PARSING_BENCH_KERNELS_H
#define PARSING_BENCH_KERNELS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each compiler's kernels have names of their own: c_gcc_w1 and c_clang_w1. */
#define JOINED(compiler, name) compiler##_##name
#define NAMED(compiler, name) JOINED(compiler, name)
#define KERNEL(name) NAMED(COMPILER, name)

/* Linked as bitcode, they are to become part of the functions in Rust that call them, as kernels in
 * Rust do by `#[inline(always)]`: the linker alone takes over small functions only. */
#ifdef ACROSS_LANGUAGES
#define INLINED __attribute__((always_inline))
#else
#define INLINED
#endif

/* What is written; the same as contract::Rule. */
struct rule {
	uint8_t destination[6];
	uint8_t source[6];
	uint8_t address[4];
};

_Static_assert(sizeof(struct rule) == 16, "the size of contract::Rule");

/* Addresses of IPv4 take the first four bytes; ports are in the machine's order. */
struct five_tuple {
	uint8_t source[16];
	uint8_t destination[16];
	uint16_t source_port;
	uint16_t destination_port;
	uint8_t protocol;
	uint8_t version;
};

_Static_assert(sizeof(struct five_tuple) == 38, "the size of ffi::Tuple");

/*
 * The kernels return true if they reject the frame, which is then as it was: so the call from Rust
 * needs nothing but a jump. `restrict` says what Rust's references say.
 */
INLINED bool KERNEL(w1)(uint8_t *restrict frame, size_t length, const struct rule *restrict rule);
INLINED bool KERNEL(w2)(uint8_t *restrict frame, size_t length, const struct rule *restrict rule);
INLINED bool KERNEL(w3)(uint8_t *restrict frame, size_t length, const struct rule *restrict rule);
INLINED bool KERNEL(w4)(
	const uint8_t *restrict frame, size_t length, struct five_tuple *restrict tuple);

#endif
