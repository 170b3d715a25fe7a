/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <inttypes.h>
#include <stddef.h>

#include "topology.h"

bool
in_mask(uint64_t port_mask, unsigned int port)
{
	return port < MASK_PORTS && (port_mask >> port & 1) != 0;
}

static bool
read_port(const char **cursor, uint16_t *port)
{
	const char *start = *cursor;
	uint32_t value = 0;

	for (; **cursor >= '0' && **cursor <= '9'; (*cursor)++) {
		value = value * 10 + (uint32_t)(**cursor - '0');
		if (value > UINT16_MAX)
			return false;
	}
	*port = (uint16_t)value;
	return *cursor != start;
}

/* Read "(a,b)" and move past it. */
static bool
read_pair(const char **cursor, uint16_t pair[2])
{
	if (*(*cursor)++ != '(' || !read_port(cursor, &pair[0]))
		return false;
	if (*(*cursor)++ != ',' || !read_port(cursor, &pair[1]))
		return false;
	return *(*cursor)++ == ')';
}

int
parse_port_map(const char *text, struct port_map *map, struct error *error)
{
	const char *cursor = text;
	uint16_t pair[2];

	while (read_pair(&cursor, pair)) {
		if (*cursor == '\0') {
			map->text = text;
			return 0;
		}
		if (*cursor++ != ',')
			break;
	}
	return set_error(error, STATUS_USAGE,
		"invalid port map '%s': give pairs of port numbers, for example (0,1),(2,3)", text);
}

int
check_port_map(struct port_map *map, uint64_t port_mask, struct error *error)
{
	uint8_t seen[(UINT16_MAX + 1) / 8] = {0};
	const char *cursor;
	uint16_t pair[2];

	for (cursor = map->text; *cursor != '\0'; cursor += *cursor == ',') {
		read_pair(&cursor, pair);
		for (int i = 0; i < (pair[0] == pair[1] ? 1 : 2); i++) {
			uint8_t bit = (uint8_t)(1u << pair[i] % 8);

			if (seen[pair[i] / 8] & bit)
				return set_error(error, STATUS_USAGE,
					"port map '%s' uses port %u twice", map->text, pair[i]);
			seen[pair[i] / 8] |= bit;
		}
	}

	for (cursor = map->text; *cursor != '\0'; cursor += *cursor == ',') {
		read_pair(&cursor, pair);
		for (int i = 0; i < 2; i++) {
			if (!in_mask(port_mask, pair[i]))
				return set_error(error, STATUS_USAGE,
					"port map '%s' names port %u, which is not in port mask "
					"%#" PRIx64,
					map->text, pair[i], port_mask);
			map->ports |= UINT64_C(1) << pair[i];
			map->peer[pair[i]] = (uint8_t)pair[1 - i];
		}
	}
	return 0;
}

unsigned int
pair_ports(uint64_t port_mask, const struct port_map *map, struct port_pair pairs[MASK_PORTS])
{
	const bool mapped = map->text != NULL;
	const uint64_t ports = mapped ? map->ports : port_mask;
	unsigned int nb_pairs = 0;

	for (uint16_t port = 0; port < MASK_PORTS; port++) {
		if (!in_mask(ports, port))
			continue;
		pairs[nb_pairs] = (struct port_pair){port, mapped ? map->peer[port] : port};
		if (!mapped && nb_pairs % 2 == 1) {
			pairs[nb_pairs].peer = pairs[nb_pairs - 1].port;
			pairs[nb_pairs - 1].peer = port;
		}
		nb_pairs++;
	}
	if (!mapped && nb_pairs % 2 == 1)
		warn("odd number of ports, port %u forwards to itself", pairs[nb_pairs - 1].port);
	return nb_pairs;
}

int
assign_queues(const struct port_pair *pairs, unsigned int nb_pairs, uint16_t queues,
	const unsigned int *lcores, unsigned int nb_lcores, uint16_t per_lcore,
	struct queue_assignment *assignments, struct error *error)
{
	const unsigned int nb_assignments = nb_pairs * queues;
	const unsigned int nb_needed = (nb_assignments + per_lcore - 1) / per_lcore;

	if (nb_needed > nb_lcores)
		return set_error(error, STATUS_FAILED,
			"too few lcores: %u queue pairs at %u per lcore need %u lcores (available: %u): "
			"give more with -l, or raise -q",
			nb_assignments, per_lcore, nb_needed, nb_lcores);

	for (unsigned int i = 0; i < nb_assignments; i++) {
		const struct port_pair *pair = &pairs[i / queues];

		assignments[i] = (struct queue_assignment){
			.lcore = lcores[i / per_lcore],
			.port = pair->port,
			.peer = pair->peer,
			.queue = (uint16_t)(i % queues),
		};
	}
	return (int)nb_needed;
}
