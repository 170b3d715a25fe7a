/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Every command line of a corpus, under the compiler's sanitizers. That both twins make the same of
 * them is what l2fwd-rs/fuzz shows. Argument: the corpus, a folder.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tests/check.h"
#include "command_line.h"

/* The most that the fuzzer makes. */
#define INPUT_MAX 4096

static void
replay(const char *folder, const char *name)
{
	uint8_t data[INPUT_MAX];
	char path[4096];
	size_t length, text_len;
	char *text;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (!CHECK(file != NULL))
		return;
	length = fread(data, 1, sizeof(data), file);
	fclose(file);
	text = describe_command_line(data, length, &text_len);
	if (!CHECK(text != NULL && text_len > 0 && text[text_len - 1] == '\n'))
		fprintf(stderr, "  %s\n", path);
	free(text);
}

int
main(int argc, char *argv[])
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	struct dirent *entry;

	if (CHECK(folder != NULL)) {
		while ((entry = readdir(folder)) != NULL)
			if (entry->d_name[0] != '.')
				replay(argv[1], entry->d_name);
		closedir(folder);
	}
	return check_result();
}
