// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The table from DPDK's functions to this crate's, and the lists of drivers.

use crate::chapters::{rows, text};
use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

const TABLE: &str = "docs/from-c.md";

/// The functions that DPDK's examples l2fwd, skeleton and l3fwd call, as of DPDK 26.03.
const EXAMPLES: &str = "
    rte_acl_add_rules rte_acl_build rte_acl_classify rte_acl_create rte_be_to_cpu_32 rte_bswap16 rte_cpu_to_be_16 rte_delay_ms
    rte_eal_cleanup rte_eal_init rte_eal_mp_remote_launch rte_eal_mp_wait_lcore rte_eal_wait_lcore rte_eth_add_rx_callback
    rte_eth_dev_adjust_nb_rx_tx_desc rte_eth_dev_close rte_eth_dev_conf_get rte_eth_dev_configure rte_eth_dev_count_avail
    rte_eth_dev_get_supported_ptypes rte_eth_dev_info_get rte_eth_dev_is_valid_port rte_eth_dev_set_ptypes
    rte_eth_dev_socket_id rte_eth_dev_start rte_eth_dev_stop rte_eth_link_get_nowait rte_eth_link_to_str rte_eth_macaddr_get
    rte_eth_promiscuous_enable rte_eth_rx_burst rte_eth_rx_queue_setup rte_eth_speed_bitflag rte_eth_tx_buffer
    rte_eth_tx_buffer_flush rte_eth_tx_buffer_init rte_eth_tx_buffer_set_err_callback rte_eth_tx_burst rte_eth_tx_queue_setup
    rte_ether_addr_copy rte_ether_format_addr rte_event_dequeue_burst rte_event_enqueue_burst rte_exit rte_fib6_lookup_bulk
    rte_fib_lookup_bulk rte_free rte_get_main_lcore rte_get_timer_hz rte_get_tsc_hz rte_hash_crc_4byte rte_hash_create
    rte_hash_lookup_bulk rte_ipv4_cksum rte_ipv4_hdr_len rte_jhash rte_jhash_1word rte_lcore_count rte_lcore_id
    rte_lcore_is_enabled rte_lcore_to_socket_id rte_lpm6_lookup rte_lpm_create rte_lpm_lookup rte_mempool_from_obj
    rte_mempool_put rte_panic rte_pause rte_pktmbuf_free rte_pktmbuf_free_bulk rte_pktmbuf_mtod rte_pktmbuf_mtod_offset
    rte_pktmbuf_pool_create rte_prefetch0 rte_rdtsc rte_service_lcore_start rte_socket_id rte_spinlock_init
    rte_spinlock_lock rte_spinlock_unlock rte_strerror rte_strsplit rte_zmalloc rte_zmalloc_socket";

/// Words that begin with `rte_` or `RTE_`, in backquotes.
fn names(cell: &str) -> Vec<&str> {
    let quoted = cell.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    quoted.filter(|word| word.starts_with("rte_") || word.starts_with("RTE_")).collect()
}

fn table() -> Vec<Vec<String>> {
    let rows: Vec<_> = rows(&text(TABLE), "").into_iter().filter(|row| row.len() == 3).collect();
    assert!(rows.len() > 100, "{} rows", rows.len());
    rows
}

#[test]
fn every_function_of_the_basic_examples_is_in_the_table() {
    let table = table();
    let listed: BTreeSet<&str> = table.iter().flat_map(|row| names(&row[0])).collect();
    let covered = |name: &str| {
        listed
            .iter()
            .any(|entry| *entry == name || entry.strip_suffix('*').is_some_and(|start| name.starts_with(start)))
    };
    let missing: Vec<&str> = EXAMPLES.split_whitespace().filter(|name| !covered(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn no_function_is_in_the_table_twice() {
    let mut seen = BTreeSet::new();
    for row in table() {
        for name in names(&row[0]) {
            assert!(seen.insert(name.to_owned()), "{name} is there twice");
        }
    }
}

#[test]
fn every_row_says_where() {
    let words =
        ["not yet", "not needed", "drop", "return an `Err`", "look through", "variables of", "`=`", "a crate for"];
    for row in table() {
        let place = &row[1];
        let known = place.contains("[`") || words.iter().any(|words| place.starts_with(words));
        assert!(known, "{} is {place:?}: name an item as a link, or say that it is not there yet", row[0]);
    }
}

#[test]
fn the_names_are_those_of_the_headers() {
    let output = Command::new("pkg-config").args(["--cflags-only-I", "libdpdk"]).output().unwrap();
    let flags = String::from_utf8(output.stdout).unwrap();
    let folders: Vec<PathBuf> =
        flags.split_whitespace().filter_map(|flag| flag.strip_prefix("-I")).map(PathBuf::from).collect();
    // Some functions are declared in the headers of this folder, the same for all architectures.
    let generic = folders.iter().map(|folder| folder.join("generic"));
    let files = folders.iter().cloned().chain(generic).filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let headers = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "h"));
    let mut known = BTreeSet::new();
    for path in headers {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        known.extend(words.filter(|word| word.starts_with("rte_") || word.starts_with("RTE_")).map(str::to_owned));
    }
    assert!(known.contains("rte_eal_init"), "the headers were not found with {flags:?}");
    for row in table() {
        for name in names(&row[0]) {
            let there = match name.strip_suffix('*') {
                Some(start) => known.range(start.to_owned()..).next().is_some_and(|first| first.starts_with(start)),
                None => known.contains(name),
            };
            // Newer than the oldest supported version, or gone from a newer one.
            let fleeting = [
                "rte_eth_speed_bitflag",
                "rte_ctrl_thread_create",
                "rte_reorder_drain_up_to_seqn",
                "rte_reorder_min_seqn_set",
            ]
            .contains(&name);
            assert!(there || fleeting, "DPDK's headers have no {name}");
        }
    }
}

#[test]
fn the_drivers_of_static_linking_are_those_that_are_linked() {
    let source = text("../dpdk-sys/build/link.rs");
    let linked: BTreeSet<&str> =
        source.split('"').skip(1).step_by(2).filter_map(|name| name.strip_prefix("net_")).collect();
    assert!(linked.contains("virtio"));
    for (file, start) in
        [("README.md", "With `static` it has "), ("../dpdk-sys/README.md", "The drivers of the feature `static`: ")]
    {
        let text = text(file);
        let (_, list) = text.split_once(start).unwrap_or_else(|| panic!("{file} lacks {start:?}"));
        let list = list.split(['.', ';']).next().unwrap();
        let listed: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, linked, "{file}");
    }
}

/// These words are bytemuck's own: its derive fails before any trait of this crate is looked at.
#[test]
fn what_the_derives_say_about_padding_is_in_the_guide() {
    for (derive, case) in [("NoUninit", "hash_key_derived_with_padding"), ("Pod", "private_data_with_padding")] {
        let words = format!("derive({derive}) was ");
        let compiler = text(&format!("tests/compile_fail/{case}.stderr"));
        assert!(compiler.contains(&format!("{words}applied to a type with padding")), "{compiler}");
        assert!(text("docs/structure.md").contains(&words), "{words:?} is not in the guide");
    }
}
