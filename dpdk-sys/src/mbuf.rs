// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The fields of `struct rte_mbuf`, by offset.
//!
//! DPDK 24.11 wraps the fields in anonymous unions that 22.11 does not have, so bindgen's paths to them differ. The
//! offsets come from the C compiler (`src/wrapper.h`) and are those of the installed version.

use crate::bindings::*;
use core::ffi::c_void;

/// Declares one accessor: a pointer to the field `$field` of an mbuf.
macro_rules! field {
    ($name:ident, $field:literal, $offset:ident, $type:ty) => {
        #[doc = concat!("A pointer to `rte_mbuf.", $field, "`.")]
        ///
        /// # Safety
        /// `mbuf` points to a live mbuf. The pointer may be used as long as the mbuf is live, under the usual rules of
        /// exclusive writing.
        #[inline(always)]
        #[must_use]
        pub const unsafe fn $name(mbuf: *mut rte_mbuf) -> *mut $type {
            // SAFETY: the caller promises a live mbuf, and the offset is inside that struct, as the C compiler laid it
            // out.
            unsafe { mbuf.byte_add($offset as usize).cast() }
        }
    };
}

field!(mbuf_buf_addr, "buf_addr", DPDK_SYS_MBUF_BUF_ADDR, *mut c_void);
field!(mbuf_data_off, "data_off", DPDK_SYS_MBUF_DATA_OFF, u16);
field!(mbuf_refcnt, "refcnt", DPDK_SYS_MBUF_REFCNT, u16);
field!(mbuf_nb_segs, "nb_segs", DPDK_SYS_MBUF_NB_SEGS, u16);
field!(mbuf_port, "port", DPDK_SYS_MBUF_PORT, u16);
field!(mbuf_ol_flags, "ol_flags", DPDK_SYS_MBUF_OL_FLAGS, u64);
field!(mbuf_pkt_len, "pkt_len", DPDK_SYS_MBUF_PKT_LEN, u32);
field!(mbuf_data_len, "data_len", DPDK_SYS_MBUF_DATA_LEN, u16);
field!(mbuf_buf_len, "buf_len", DPDK_SYS_MBUF_BUF_LEN, u16);
field!(mbuf_pool, "pool", DPDK_SYS_MBUF_POOL, *mut rte_mempool);
field!(mbuf_next, "next", DPDK_SYS_MBUF_NEXT, *mut rte_mbuf);
field!(mbuf_priv_size, "priv_size", DPDK_SYS_MBUF_PRIV_SIZE, u16);
field!(mbuf_packet_type, "packet_type", DPDK_SYS_MBUF_PACKET_TYPE, u32);
field!(mbuf_vlan_tci, "vlan_tci", DPDK_SYS_MBUF_VLAN_TCI, u16);
field!(mbuf_hash_rss, "hash.rss", DPDK_SYS_MBUF_HASH_RSS, u32);
field!(mbuf_tx_offload, "tx_offload", DPDK_SYS_MBUF_TX_OFFLOAD, u64);
field!(mbuf_shinfo, "shinfo", DPDK_SYS_MBUF_SHINFO, *mut rte_mbuf_ext_shared_info);

const _: () = {
    assert!(size_of::<rte_mbuf>() == DPDK_SYS_MBUF_SIZE as usize);
    // Data, segments and reference count share the first cache line; the receive loop relies on it for speed.
    assert!(DPDK_SYS_MBUF_DATA_OFF < 64 && DPDK_SYS_MBUF_REFCNT < 64 && DPDK_SYS_MBUF_POOL < 64);
};
