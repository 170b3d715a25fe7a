/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Every input of the corpora, whole and cut to each shorter length, through the kernels of a
 * compiler under its own sanitizers: for gcc, which no fuzzer can instrument. That the kernels come
 * to what is right is shown elsewhere. Arguments: the corpora of the targets parsing_rewrite and
 * parsing_read, two folders.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../c/kernels.h"

/* More than a frame has. */
#define INPUT_MAX 4096
/* Headers and the beginning of the data: cut behind them, one frame is like another. */
#define CUTS_MAX 256

typedef bool (*writer)(uint8_t *restrict, size_t, const struct rule *restrict);

/* What is given to a kernel: its own memory, of just that length. Sanitizers see what is beyond. */
static void *
copied(const uint8_t *bytes, size_t length)
{
	void *copy = malloc(length);

	if (copy == NULL && length != 0)
		abort();
	if (length != 0)
		memcpy(copy, bytes, length);
	return copy;
}

/* W1 to W3: the first bytes are the rule. True if a frame was accepted. */
static bool
rewrite(const uint8_t *input, size_t length)
{
	static const writer writers[] = {KERNEL(w1), KERNEL(w2), KERNEL(w3)};
	bool accepted = false;

	if (length < sizeof(struct rule))
		return false;
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		const size_t frame_len = length - sizeof(struct rule);
		struct rule *rule = copied(input, sizeof(*rule));
		uint8_t *frame = copied(input + sizeof(*rule), frame_len);

		accepted |= !writers[i](frame, frame_len, rule);
		free(frame);
		free(rule);
	}
	return accepted;
}

/* W4: all bytes are the frame. */
static bool
read_tuple(const uint8_t *input, size_t length)
{
	struct five_tuple tuple;
	uint8_t *frame = copied(input, length);
	const bool accepted = !KERNEL(w4)(frame, length, &tuple);

	free(frame);
	return accepted;
}

/* Counts the inputs, and those of them that were accepted as they are. */
static int
replay(const char *folder, bool (*target)(const uint8_t *, size_t))
{
	int inputs = 0, accepted = 0;
	DIR *corpus = opendir(folder);
	struct dirent *entry;

	while (corpus != NULL && (entry = readdir(corpus)) != NULL) {
		uint8_t data[INPUT_MAX];
		char path[4096];
		size_t length;
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		file = fopen(path, "rb");
		if (file == NULL) {
			fprintf(stderr, "cannot read %s\n", path);
			return -1;
		}
		length = fread(data, 1, sizeof(data), file);
		fclose(file);
		for (size_t cut = 0; cut < length && cut < CUTS_MAX; cut++)
			target(data, cut);
		accepted += target(data, length);
		inputs++;
	}
	if (corpus != NULL)
		closedir(corpus);
	printf("%d of %d accepted\n", accepted, inputs);
	return accepted;
}

int
main(int argc, char *argv[])
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s CORPUS-OF-REWRITE CORPUS-OF-READ\n", argv[0]);
		return EXIT_FAILURE;
	}
	/* Without one that is accepted, most of a kernel has not been seen. */
	return replay(argv[1], rewrite) > 0 && replay(argv[2], read_tuple) > 0 ? EXIT_SUCCESS
									       : EXIT_FAILURE;
}
