/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#include "stats_json.h"

int
open_stats_json(struct stats_json *json, const char *path, struct error *error)
{
	*json = (struct stats_json){.path = path};
	if (path == NULL)
		return 0;
	json->out = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
	if (json->out == NULL)
		return set_error(error, STATUS_FAILED, "cannot open '%s' for statistics: %s", path,
			rte_strerror(errno));
	return 0;
}

bool
is_stdout(const struct stats_json *json)
{
	return json->out == stdout;
}

/* End the line of an object. A failure is reported once, and does not stop the forwarding. */
static void
end_line(struct stats_json *json)
{
	const bool ok =
		fputc('\n', json->out) != EOF && fflush(json->out) == 0 && !ferror(json->out);

	if (!ok && !json->failed) {
		warn("cannot write statistics to '%s': %s", json->path, rte_strerror(errno));
		json->failed = true;
	}
	clearerr(json->out);
}

static void
write_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

/* The names of a set of offloads, or null if ret says that the driver does not report it. */
static void
write_offloads(FILE *out, int ret, uint64_t offloads, const char *(*name)(uint64_t))
{
	const char *before = "[";

	if (ret != 0) {
		fputs("null", out);
		return;
	}
	for (unsigned int bit = 0; bit < 64; bit++) {
		if ((offloads & RTE_BIT64(bit)) != 0) {
			fputs(before, out);
			write_string(out, name(RTE_BIT64(bit)));
			before = ",";
		}
	}
	fputs(offloads == 0 ? "[]" : "]", out);
}

/* What the driver reports of a port; null where it reports nothing. The offloads are those of the
 * first queue: all queues of a port are set up alike.
 */
static void
write_device(FILE *out, uint16_t port)
{
	const int socket =
		rte_eth_dev_is_valid_port(port) != 0 ? rte_eth_dev_socket_id(port) : SOCKET_ID_ANY;
	struct rte_eth_rxq_info rx = {0};
	struct rte_eth_txq_info tx = {0};
	struct rte_eth_link link = {0};
	struct rte_eth_dev_info info;
	char firmware[256];
	uint16_t mtu;
	int ret;

	fputs("{\"driver\":", out);
	if (rte_eth_dev_info_get(port, &info) == 0)
		write_string(out, info.driver_name);
	else
		fputs("null", out);
	if (socket >= 0)
		fprintf(out, ",\"socket\":%d", socket);
	else
		fputs(",\"socket\":null", out);
	if (rte_eth_dev_get_mtu(port, &mtu) == 0)
		fprintf(out, ",\"mtu\":%u", mtu);
	else
		fputs(",\"mtu\":null", out);
	/* Only the speed of a link that is already up is known. */
	if (rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP &&
		link.link_speed != RTE_ETH_SPEED_NUM_NONE &&
		link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		fprintf(out, ",\"link_mbps\":%" PRIu32, link.link_speed);
	else
		fputs(",\"link_mbps\":null", out);
	fputs(",\"firmware\":", out);
	if (rte_eth_dev_fw_version_get(port, firmware, sizeof(firmware)) == 0)
		write_string(out, firmware);
	else
		fputs("null", out);
	ret = rte_eth_rx_queue_info_get(port, 0, &rx);
	fputs(",\"rx_offloads\":", out);
	write_offloads(out, ret, rx.conf.offloads, rte_eth_dev_rx_offload_name);
	ret = rte_eth_tx_queue_info_get(port, 0, &tx);
	fputs(",\"tx_offloads\":", out);
	write_offloads(out, ret, tx.conf.offloads, rte_eth_dev_tx_offload_name);
	fputc('}', out);
}

void
write_start(struct stats_json *json, const struct options *options, const struct port *ports,
	unsigned int nb_ports, const struct queue_assignment *assignments,
	unsigned int nb_assignments)
{
	const char *dpdk = rte_version();
	FILE *out = json->out;

	if (out == NULL)
		return;
	if (strncmp(dpdk, "DPDK ", 5) == 0)
		dpdk += 5;

	fprintf(out,
		"{\"type\":\"start\",\"program\":\"" PROGRAM "\",\"version\":\"" VERSION
		"\",\"dpdk\":\"%s\",\"ports\":[",
		dpdk);
	for (unsigned int i = 0; i < nb_ports; i++) {
		char mac[RTE_ETHER_ADDR_FMT_SIZE];

		fprintf(out, "%s{\"port\":%u,\"name\":", i == 0 ? "" : ",", ports[i].id);
		write_string(out, ports[i].name);
		fprintf(out,
			",\"mac\":\"%s\",\"peer\":%u,\"queues\":%u,\"rxd\":%u,\"txd\":%u,\"device\":",
			format_mac(&ports[i].mac, mac), ports[i].peer, options->queues_per_port,
			options->rx_descriptors, options->tx_descriptors);
		write_device(out, ports[i].id);
		fputc('}', out);
	}
	fputs("],\"lcores\":[", out);
	for (unsigned int i = 0; i < nb_assignments; i++) {
		const struct queue_assignment *assignment = &assignments[i];

		if (i > 0 && assignment->lcore == assignments[i - 1].lcore)
			fputc(',', out);
		else
			fprintf(out, "%s{\"lcore\":%u,\"queues\":[", i == 0 ? "" : "]},",
				assignment->lcore);
		fprintf(out, "[%u,%u]", assignment->port, assignment->queue);
	}
	fputs("]}]}", out);
	end_line(json);
}

void
write_reset(struct stats_json *json, double time_s, double seconds)
{
	if (json->out == NULL)
		return;
	fprintf(json->out, "{\"type\":\"reset\",\"time_s\":%.3f,\"down_s\":%.6f}", time_s, seconds);
	end_line(json);
}

/* The members of an object, without its braces. */
static void
write_totals(FILE *out, const struct totals *now, const struct totals *before, double seconds)
{
	fprintf(out,
		"\"rx_packets\":%" PRIu64 ",\"tx_packets\":%" PRIu64 ",\"tx_dropped\":%" PRIu64
		",\"rx_short\":%" PRIu64 ",\"rx_polls\":%" PRIu64 ",\"rx_empty_polls\":%" PRIu64
		",\"rx_burst_avg\":%.2f,\"rx_pps\":%.0f,\"tx_pps\":%.0f",
		now->rx_packets, now->tx_packets, now->tx_dropped, now->rx_short, now->rx_polls,
		now->rx_empty_polls, burst_average(now, before),
		rate_pps(now->rx_packets, before->rx_packets, seconds),
		rate_pps(now->tx_packets, before->tx_packets, seconds));
}

static void
write_gaps(FILE *out, const struct gap_totals *gaps)
{
	fprintf(out,
		"\"gaps\":{\"longest_s\":%.6f,\"above_100us\":%" PRIu64 ",\"above_1ms\":%" PRIu64
		",\"above_3ms\":%" PRIu64 ",\"above_10ms\":%" PRIu64 "}",
		(double)gaps->longest_ns / 1e9, gaps->above[0], gaps->above[1], gaps->above[2],
		gaps->above[3]);
}

void
write_stats(struct stats_json *json, const struct snapshot *now, const struct snapshot *before)
{
	const double seconds = now->time_s - before->time_s;
	FILE *out = json->out;

	if (out == NULL)
		return;

	fprintf(out, "{\"type\":\"%s\",\"time_s\":%.3f,\"ports\":[",
		now->final ? "final" : "period", now->time_s);
	for (unsigned int i = 0; i < now->nb_ports; i++) {
		const struct port_stats *stats = &now->ports[i];
		const struct rte_eth_stats *device = &stats->device;

		fprintf(out, "%s{\"port\":%u,", i == 0 ? "" : ",", stats->port);
		write_totals(out, &stats->totals, &before->ports[i].totals, seconds);
		fprintf(out,
			",\"device\":{\"ipackets\":%" PRIu64 ",\"opackets\":%" PRIu64
			",\"ibytes\":%" PRIu64 ",\"obytes\":%" PRIu64 ",\"imissed\":%" PRIu64
			",\"ierrors\":%" PRIu64 ",\"oerrors\":%" PRIu64 ",\"rx_nombuf\":%" PRIu64
			"}}",
			device->ipackets, device->opackets, device->ibytes, device->obytes,
			device->imissed, device->ierrors, device->oerrors, device->rx_nombuf);
	}
	fputs("],\"total\":{", out);
	write_totals(out, &now->total, &before->total, seconds);
	fprintf(out, ",\"in_flight\":%" PRIu64 ",", now->in_flight);
	write_gaps(out, &now->gaps);
	fputc('}', out);
	if (now->final)
		fprintf(out, ",\"balanced\":%s", is_balanced(now) ? "true" : "false");
	fputc('}', out);
	end_line(json);
}
