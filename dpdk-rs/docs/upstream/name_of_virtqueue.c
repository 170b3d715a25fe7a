/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * virtio takes a memory zone of the program for its ring, clears it, and frees it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_memzone.h>

int
main(void)
{
	static char vhost[64], virtio[64];
	char *args[] = {"name_of_virtqueue", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry",
		"--no-shconf", vhost};
	const struct rte_eth_conf conf = {0};
	const struct rte_memzone *zone;
	char *bytes;

	snprintf(vhost, sizeof(vhost), "--vdev=net_vhost0,iface=/tmp/name_of_virtqueue-%d",
		getpid());
	snprintf(virtio, sizeof(virtio), "path=/tmp/name_of_virtqueue-%d", getpid());
	/* The other end of virtio-user listens from here on. */
	if (rte_eal_init(8, args) < 0 || rte_eth_dev_configure(0, 1, 1, &conf) != 0)
		return 1;
	zone = rte_memzone_reserve_aligned("port1_vq0", 65536, SOCKET_ID_ANY, 0, 4096);
	if (zone == NULL) {
		puts("refused");
		return 77;
	}
	bytes = zone->addr;
	memset(bytes, 0x55, zone->len);
	if (rte_eal_hotplug_add("vdev", "net_virtio_user0", virtio) != 0) {
		puts("the device was not made");
		return 77;
	}
	printf("byte 0 of the program's zone: 0x%02x instead of 0x55\n", bytes[0]);
	rte_eth_dev_close(1);
	remove(virtio + strlen("path="));
	printf("after the device was closed, the zone is %s\n",
		rte_memzone_lookup("port1_vq0") == NULL ? "freed" : "there");
	return rte_memzone_lookup("port1_vq0") == NULL ? 0 : 77;
}
