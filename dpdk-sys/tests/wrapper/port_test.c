/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Ports: their configuration, links, rules and interrupts, on a device that has few of these.
 */

#include "eal.h"

#include "check.h"

static void
test_configuration(void)
{
	const uint32_t none = 0, lsc = RTE_ETH_DEV_INTR_LSC;
	struct rte_eth_dev_info info = {0};
	struct rte_eth_conf conf = {0};
	uint8_t key[255] = {1};

	dpdk_sys_eth_conf_tx_offloads(&conf, UINT64_MAX);
	CHECK_NUMBER(conf.txmode.offloads, UINT64_MAX);
	dpdk_sys_eth_conf_rss(&conf, UINT64_MAX);
	CHECK_NUMBER(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
	CHECK_NUMBER(conf.rx_adv_conf.rss_conf.rss_hf, UINT64_MAX);
	dpdk_sys_eth_conf_rss_key(&conf, key, 255);
	CHECK(conf.rx_adv_conf.rss_conf.rss_key == key);
	CHECK_NUMBER(conf.rx_adv_conf.rss_conf.rss_key_len, 255);
	dpdk_sys_eth_conf_rss(&conf, 0);
	CHECK_NUMBER(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_NONE);
	dpdk_sys_eth_conf_rss_key(&conf, NULL, 0);
	CHECK(conf.rx_adv_conf.rss_conf.rss_key == NULL);
	dpdk_sys_eth_conf_rxq(&conf);
	CHECK_NUMBER(conf.intr_conf.rxq, 1);

	CHECK_NUMBER(dpdk_sys_eth_conf_lsc(&conf, &info), 0);
	info.dev_flags = &none;
	CHECK_NUMBER(dpdk_sys_eth_conf_lsc(&conf, &info), 0);
	info.dev_flags = &lsc;
	CHECK_NUMBER(dpdk_sys_eth_conf_lsc(&conf, &info), 1);
	CHECK_NUMBER(conf.intr_conf.lsc, 1);
}

static void
test_link(void)
{
	struct dpdk_sys_link link = {1, 2, 3, 4};

	CHECK_NUMBER(dpdk_sys_eth_link_get(0, 0, &link), 0);
	CHECK_NUMBER(link.speed_mbps, RTE_ETH_SPEED_NUM_10G);
	CHECK_NUMBER(link.full_duplex, 1);
	/* What fails leaves no bytes unwritten. */
	memset(&link, 0xff, sizeof(link));
	CHECK_NUMBER(dpdk_sys_eth_link_get(1, 1, &link), -ENODEV);
	CHECK_NUMBER(link.speed_mbps, 0);
	CHECK_NUMBER(link.up, 0);
	CHECK_NUMBER(dpdk_sys_eth_link_get(UINT16_MAX, 0, &link), -ENODEV);
}

static void
test_arguments(void)
{
	struct rte_eth_dev_info info;

	CHECK_NUMBER(rte_eth_dev_info_get(0, &info), 0);
	CHECK_TEXT(dpdk_sys_dev_args(info.device), "size=64");
	CHECK_NUMBER(dpdk_sys_dev_is_virtual(info.device), 1);
	CHECK_NUMBER(dpdk_sys_device_known("net_null1"), 1);
	CHECK_NUMBER(dpdk_sys_device_known("net_null1,size=64"), 1);
	CHECK_NUMBER(dpdk_sys_device_known("0000:00:00.0"), 1);
	CHECK_NUMBER(dpdk_sys_device_known("net_nothing"), 0);
	CHECK(dpdk_sys_refused_vdev() == NULL);
	CHECK_NUMBER(dpdk_sys_has_interface(if_nametoindex("lo")), 1);
	CHECK_NUMBER(dpdk_sys_has_interface(0), 0);
	CHECK_NUMBER(dpdk_sys_has_interface(UINT32_MAX), 0);
}

static void
test_rules(void)
{
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH}, {.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP}, {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct dpdk_sys_flow_count count = {1, 2, 3, 4};
	struct rte_flow_error error;

	memset(&error, 0, sizeof(error));
	CHECK_NUMBER(dpdk_sys_flow_validate(0, UINT32_MAX, UINT32_MAX, pattern, actions, &error),
		-ENOSYS);
	CHECK(dpdk_sys_flow_create(0, 0, 0, pattern, actions, &error) == NULL);
	CHECK_NUMBER(rte_errno, ENOSYS);
	CHECK(dpdk_sys_flow_create(UINT16_MAX, 0, 0, pattern, actions, &error) == NULL);
	CHECK_NUMBER(rte_errno, ENODEV);
	CHECK(dpdk_sys_flow_query_count(0, NULL, &count, &error) < 0);
	CHECK_NUMBER(count.hits + count.bytes + count.hits_set + count.bytes_set, 0);
}

static void
test_interrupts(void)
{
	int epoll = dpdk_sys_epoll_create();

	CHECK(epoll >= 0);
	CHECK_NUMBER(fcntl(epoll, F_GETFD), FD_CLOEXEC);
	CHECK_NUMBER(dpdk_sys_epoll_ready(epoll, 0), 0);
	CHECK_NUMBER(dpdk_sys_epoll_reported(epoll), 0);
	CHECK(dpdk_sys_eth_rx_intr_watch(0, 0, epoll, 1) < 0);
	CHECK(dpdk_sys_eth_rx_intr_watch(0, UINT16_MAX, epoll, 0) < 0);
	CHECK(dpdk_sys_eth_rx_intr_watch(UINT16_MAX, 0, epoll, 1) < 0);
	close(epoll);
	/* A file that is not there is reported by poll() itself. */
	CHECK_NUMBER(dpdk_sys_epoll_ready(epoll, 0), 1);
	CHECK_NUMBER(dpdk_sys_close_on_exec(epoll), -1);
	CHECK_NUMBER(dpdk_sys_close_on_exec(STDERR_FILENO), 0);
}

static void
test_bonding(void)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	const char *args = "mode=1,member=net_null0";
#else
	const char *args = "mode=1,slave=net_null0";
#endif
	const struct rte_eth_conf conf = {0};
	struct dpdk_sys_bonding bonding;
	struct rte_eth_dev_info info;

	CHECK_NUMBER(rte_eth_dev_info_get(0, &info), 0);
	CHECK(dpdk_sys_bonding_get(&info, 0, &bonding) < 0);
	/* A name that is in no file. */
	info.driver_name = (const char *)&bonding;
	CHECK(dpdk_sys_bonding_get(&info, 0, &bonding) < 0);
	CHECK_NUMBER(rte_eal_hotplug_add("vdev", "net_bonding0", args), 0);
	CHECK_NUMBER(rte_eth_dev_info_get(1, &info), 0);
	CHECK_NUMBER(dpdk_sys_bonding_get(&info, 1, &bonding), 0);
	CHECK_NUMBER(bonding.mode, 1);
	CHECK_NUMBER(rte_eth_dev_configure(1, 1, 1, &conf), 0);
	CHECK_NUMBER(dpdk_sys_bonding_get(&info, 1, &bonding), 1);
	CHECK_NUMBER(bonding.members[0], 0);
	CHECK_NUMBER(bonding.primary, 0);
	CHECK_NUMBER(rte_eth_dev_info_get(0, &info), 0);
	CHECK((*info.dev_flags & DPDK_SYS_ETH_DEV_MEMBER) != 0);
	/* Another port than the driver's. */
	CHECK_NUMBER(rte_eth_dev_info_get(1, &info), 0);
	CHECK(dpdk_sys_bonding_get(&info, UINT16_MAX, &bonding) < 0);
}

int
main(void)
{
	start_eal("port", "--vdev=net_null0,size=64");
	test_configuration();
	test_link();
	test_arguments();
	test_rules();
	test_interrupts();
	test_bonding();
	rte_eal_cleanup();
	return check_result();
}
