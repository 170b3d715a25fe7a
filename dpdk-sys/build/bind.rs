// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Runs bindgen over `src/wrapper.h`, from an allow-list, and compiles the wrappers of static inline functions.

use crate::probe::Dpdk;
use std::{fs, panic, path::Path};

const HEADER: &str = "src/wrapper.h";
const BUNDLED: &str = "bindings/dpdk-22.11.rs";

const FUNCTIONS: &[&str] = &[
    "dpdk_sys_.*",
    "rte_acl_(add_rules|build|classify|create|find_existing|free)",
    "rte_dev_name",
    "rte_eal_(init|cleanup|remote_launch|wait_lcore|process_type|has_hugepages|primary_proc_alive)",
    "rte_eal_hotplug_(add|remove)",
    "rte_eal_lcore_role",
    "rte_eth_(allmulticast|promiscuous)_(enable|disable|get)",
    "rte_eth_call_(rx|tx)_callbacks",
    "rte_eth_dev_(callback_register|callback_unregister|default_mac_addr_set|flow_ctrl_get|flow_ctrl_set)",
    "rte_eth_dev_(get_vlan_offload|mac_addr_add|mac_addr_remove|set_vlan_offload|vlan_filter)",
    "rte_eth_dev_rss_(hash_conf_get|hash_update|reta_query|reta_update)",
    "rte_eth_dev_(fw_version_get|get_module_eeprom|get_module_info|get_supported_ptypes|reset|set_mc_addr_list)",
    "rte_eth_dev_(rx|tx)_offload_name",
    "rte_eth_dev_rx_intr_(disable|enable)",
    "rte_eth_dev_set_link_(down|up)",
    "rte_eth_dev_(adjust_nb_rx_tx_desc|close|configure|count_avail|get_mtu|get_name_by_port|info_get|is_valid_port)",
    "rte_eth_dev_(owner_delete|owner_new|set_mtu|socket_id|start|stop)",
    "rte_eth_find_next",
    "rte_eth_led_(off|on)",
    "rte_eth_macaddr_get",
    "rte_eth_(rx|tx)_(burst_mode_get|descriptor_status|queue_info_get)",
    "rte_eth_rx_queue_count",
    "rte_eth_(rx|tx)_queue_setup",
    "rte_eth_dev_(rx|tx)_queue_(start|stop)",
    "rte_eth_stats_(get|reset)",
    "rte_eth_tx_(done_cleanup|prepare)",
    "rte_eth_xstats_(get|get_by_id|get_names|reset)",
    "rte_fib6_free",
    "rte_fib_(add|delete|free|lookup_bulk)",
    "rte_flow_destroy",
    "rte_free",
    "rte_get_(main_lcore|timer_hz|tsc_hz)",
    "rte_get_next_lcore",
    "rte_gro_(ctx_create|ctx_destroy|get_pkt_count|reassemble|reassemble_burst|timeout_flush)",
    "rte_gso_segment",
    "rte_hash_(add_key_data|count|create|del_key|free|free_key_with_position|iterate|lookup_bulk_data|lookup_data)",
    "rte_ip_frag_(free_death_row|table_create|table_del_expired_entries|table_destroy)",
    "rte_ipv[46]_fragment_packet",
    "rte_lcore_(count|id|to_socket_id)",
    "rte_latencystats_(get|get_names|init)",
    "rte_log_(can_log|set_global_level|set_level_pattern)",
    "rte_lpm6_(create|delete_all|free)",
    "rte_lpm_(add|create|delete|delete_all|free|is_rule_present|lookup|lookup_bulk_func)",
    "rte_malloc_get_socket_stats",
    "rte_malloc_socket",
    "rte_mbuf_dyn(field|flag)_register",
    "rte_mbuf_dyn_rx_timestamp_register",
    "rte_mbuf_ext_refcnt_read",
    "rte_mcfg_mempool_write_(lock|unlock)",
    "rte_mcfg_tailq_read_(lock|unlock)",
    "rte_pdump_init",
    "rte_mempool_(avail_count|cache_create|cache_free|create|free|get|in_use_count|lookup|obj_iter|put)",
    "rte_meter_(srtcm|trtcm|trtcm_rfc4115)_(color_aware_check|config|profile_config)",
    "rte_metrics_init",
    "rte_mp_(action_register|action_unregister|reply|request_sync|sendmsg)",
    "rte_memzone_(free|lookup|reserve_aligned|walk)",
    "rte_net_get_ptype",
    "rte_pktmbuf_(alloc|alloc_bulk|attach|clone|copy|data_room_size|free|free_bulk|linearize|pool_create|priv_size)",
    "rte_rcu_qsbr_(check|get_memsize|init|quiescent|start)",
    "rte_rcu_qsbr_thread_(offline|online|register|unregister)",
    "rte_rdtsc",
    "rte_realloc_socket",
    "rte_reorder_drain",
    "rte_reorder_reset",
    "rte_ring_(count|create|create_elem|dequeue|free|lookup)",
    "rte_ring_(dequeue|enqueue)_(bulk|burst)_elem",
    "rte_service_(attr_get|component_register|component_runstate_set|get_by_name|map_lcore_set)",
    "rte_service_(runstate_set|set_stats_enable)",
    "rte_service_lcore_(add|attr_get|count_services|del|list|start|stop)",
    "rte_socket_id",
    "rte_strerror",
    "rte_tel_data_(add_array_string|add_dict_container|add_dict_string|alloc|free|start_array|start_dict)",
    "rte_tel_data_string",
    "rte_telemetry_register_cmd",
    "rte_thread_(register|unregister)",
    "rte_timer_(init|manage|pending|reset|stop|subsystem_init)",
    "rte_version",
];

const TYPES: &[&str] = &[
    "dpdk_sys_flow_count",
    "dpdk_sys_link",
    "dpdk_sys_memzone",
    "dpdk_sys_pool",
    "dpdk_sys_ring",
    "rte_acl_(config|field|field_def|param|rule|rule_data)",
    "rte_eth_(conf|dev_info|fp_ops|rxconf|stats|txconf)",
    "rte_eth_(event_type|fc_conf|rss_conf|rss_reta_entry64|xstat|xstat_name)",
    "rte_ether_addr",
    "rte_flow_(action|action_(count|jump|mark|queue|rss)|error|item)",
    "rte_gro_param",
    "rte_gso_ctx",
    "rte_ip_frag_death_row",
    "rte_mbuf",
    "rte_mbuf_dynfield",
    "rte_mbuf_dynflag",
    "rte_mbuf_ext_shared_info",
    "rte_mempool",
    "rte_mempool_cache",
    "rte_metric_(name|value)",
    "rte_mp_(msg|reply)",
    "rte_net_hdr_lens",
    "rte_pktmbuf_extmem",
    "rte_proc_type_t",
    "rte_service_spec",
    "rte_tel_value_type",
];

const VARIABLES: &[&str] = &[
    "DPDK_SYS_.*",
    "E(AGAIN|ALREADY|BUSY|CONNREFUSED|EXIST|FAULT|INVAL|NOENT|NOMEM|NOMSG|NOTSUP|PERM|TIMEDOUT)",
    "LCORE_ID_ANY",
    "RING_F_(EXACT_SZ|MC_HTS_DEQ|MC_RTS_DEQ|MP_HTS_ENQ|MP_RTS_ENQ|SC_DEQ|SP_ENQ)",
    "RTE_ACL_(FIELD_TYPE_.*|MAX_FIELDS|MAX_PRIORITY|MIN_PRIORITY)",
    "RTE_CACHE_LINE_SIZE",
    "RTE_ETHER_(ADDR_LEN|CRC_LEN|HDR_LEN|MTU)",
    "RTE_ETH_(DEV_FALLBACK_RX_RINGSIZE|NAME_MAX_LEN)",
    "RTE_ETH_(RX|TX)_DESC_.*",
    "RTE_ETH_MODULE_SFF_[0-9]*",
    "RTE_ETH_RETA_GROUP_SIZE",
    "RTE_ETH_VLAN_(FILTER|STRIP)_OFFLOAD",
    "RTE_HASH_(EXTRA_FLAGS_EXT_TABLE|EXTRA_FLAGS_RW_CONCURRENCY|EXTRA_FLAGS_RW_CONCURRENCY_LF|LOOKUP_BULK_MAX)",
    "RTE_LIBRTE_IP_FRAG_MAX_FRAG",
    "RTE_LPM_LOOKUP_SUCCESS",
    "RTE_LOG_(ALERT|CRIT|DEBUG|EMERG|ERR|INFO|NOTICE|WARNING)",
    "RTE_LOGTYPE_USER[1-8]",
    "RTE_MAX_(ETHPORTS|LCORE|QUEUES_PER_PORT)",
    "RTE_MBUF_DEFAULT_(BUF_SIZE|DATAROOM)",
    "RTE_MBUF_DYN_NAMESIZE",
    "RTE_MBUF_PRIV_ALIGN",
    "RTE_MEMPOOL_CACHE_MAX_SIZE",
    "RTE_MEMZONE_IOVA_CONTIG",
    "RTE_MP_MAX_(FD_NUM|NAME_LEN|PARAM_LEN)",
    "RTE_PKTMBUF_HEADROOM",
    "RTE_RING_SZ_MASK",
    "RTE_SERVICE_(ATTR_.*|LCORE_ATTR_LOOPS|NAME_MAX)",
    "RTE_TEL_MAX_.*",
    "SOCKET_ID_ANY",
    "rte_eth_fp_ops",
];

/// Writes `bindings.rs` into `out`, and links the wrappers' object code.
pub fn generate(dpdk: &Dpdk, out: &Path) -> Result<(), String> {
    let wrappers = out.join("static_inlines");
    let mut builder = bindgen::Builder::default()
        .header(HEADER)
        .clang_args(&dpdk.cflags)
        .rust_target(bindgen::RustTarget::stable(85, 0).map_err(|error| error.to_string())?)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .use_core()
        .wrap_static_fns(true)
        .wrap_static_fns_path(&wrappers)
        // dpdk-rs reaches an mbuf's fields by the offsets in wrapper.h, and a pool only by pointer.
        .opaque_type("rte_lpm")
        .opaque_type("rte_mbuf")
        .opaque_type("rte_mempool")
        .opaque_type("rte_mempool_cache")
        .opaque_type("rte_memzone.*")
        .opaque_type("rte_rcu_qsbr")
        .opaque_type("rte_ring.*")
        .opaque_type("rte_timer")
        .opaque_type("rte_eth_(fdir_conf|dcb_.*|vmdq_.*)")
        .derive_default(true)
        .prepend_enum_name(false)
        .generate_comments(false)
        .layout_tests(true);
    for name in FUNCTIONS {
        builder = builder.allowlist_function(name);
    }
    for name in TYPES {
        builder = builder.allowlist_type(name);
    }
    for name in VARIABLES {
        builder = builder.allowlist_var(name);
    }
    // bindgen panics when it cannot load libclang: turn that into our own sentence.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| builder.generate()));
    panic::set_hook(hook);
    let bindings = match result {
        Ok(Ok(bindings)) => bindings,
        Ok(Err(error)) => {
            return Err(one_line(&format!("bindgen cannot read DPDK's headers: {error}")));
        }
        Err(_) => return Err("libclang was not found: install the package libclang-dev, or set LIBCLANG_PATH".into()),
    };
    bindings.write_to_file(out.join("bindings.rs")).map_err(|error| format!("cannot write the bindings: {error}"))?;
    compile(dpdk, &wrappers.with_extension("c"))
}

fn compile(dpdk: &Dpdk, source: &Path) -> Result<(), String> {
    let mut build = cc::Build::new();
    for flag in &dpdk.cflags {
        build.flag(flag);
    }
    build
        .file(source)
        .include(".")
        .opt_level(3)
        .warnings(false)
        .try_compile("dpdk_sys_static_inlines")
        .map_err(|error| one_line(&format!("cannot compile the wrappers of DPDK's inline functions: {error}")))
}

/// Takes the checked-in bindings instead of generating them.
pub fn copy_bundled(out: &Path) -> Result<(), String> {
    println!("cargo:rerun-if-changed={BUNDLED}");
    fs::copy(BUNDLED, out.join("bindings.rs"))
        .map(|_| ())
        .map_err(|error| format!("cannot copy the checked-in bindings {BUNDLED}: {error}"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
