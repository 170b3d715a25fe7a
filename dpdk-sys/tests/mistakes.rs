// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Mistakes on purpose, to see that the tools that look for them find them: in Rust, in the wrappers of DPDK's inline
//! functions, and in DPDK. Only `./x test --asan` and `./x test --valgrind` run these, each its own module.

use dpdk_sys::{rte_mbuf, rte_mempool};
use std::{
    alloc::{self, Layout},
    env,
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    fs,
    hint::black_box,
    path::Path,
    process::{self, Command, Stdio},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Set for the process that makes the mistake.
const VARIABLE: &str = "DPDK_SYS_TEST_MISTAKE";

unsafe extern "C" {
    fn rte_malloc(kind: *const c_char, size: usize, align: c_uint) -> *mut c_void;
    fn rte_free(block: *mut c_void);
}

/// Runs `body` in a process of its own, in the tool if it is one that programs run in. Returns what it wrote to stderr.
fn in_a_process(test: &str, body: impl FnOnce()) -> (process::ExitStatus, String) {
    if env::var_os(VARIABLE).is_some() {
        body();
        process::exit(0);
    }
    let tool = env::var("DPDK_RS_TEST_TOOL").unwrap_or_default();
    let program = env::current_exe().expect("a process has a program");
    let mut words: Vec<_> = tool.split_whitespace().map(Into::into).collect();
    words.push(program.into_os_string());
    let child = Command::new(&words[0])
        .args(&words[1..])
        .args(["--exact", test, "--nocapture"])
        .env(VARIABLE, process::id().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program that runs can be run again");
    let prefix = file_prefix(child.id());
    let output = child.wait_with_output().expect("the child is ours");
    for root in ["/var/run/dpdk", "/tmp/dpdk"] {
        // What DPDK has left is below one of them, if the process has started it.
        let _ = fs::remove_dir_all(Path::new(root).join(&prefix));
    }
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Runs `body`, which makes a mistake, and expects the process to fail with these words.
fn mistake(test: &str, words: &str, body: impl FnOnce()) {
    let (status, stderr) = in_a_process(test, body);
    assert!(!status.success(), "nothing was found; the output:\n{stderr}");
    assert!(stderr.contains(words), "{status}, without the words '{words}'; the output:\n{stderr}");
}

/// As `mistake`, with an EAL that needs neither root nor hugepages, and a port.
fn mistake_in_dpdk(test: &str, words: &str, body: impl FnOnce()) {
    mistake(test, words, || {
        start_eal();
        body();
    });
}

/// The EAL's file prefix in a process.
fn file_prefix(process: u32) -> String {
    format!("mistakes-{process}")
}

fn start_eal() {
    let prefix = format!("--file-prefix={}", file_prefix(process::id()));
    let words =
        ["test", &prefix, "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf", "--vdev=net_null0"];
    let more = env::var("DPDK_RS_TEST_EAL_ARGS").unwrap_or_default();
    let words = words.into_iter().chain(more.split_whitespace());
    // The EAL keeps pointers into them. It overwrites one, so there are two lists; neither is to be called a leak.
    static ARGS: AtomicPtr<*mut c_char> = AtomicPtr::new(ptr::null_mut());
    let mut args: Vec<*mut c_char> =
        words.map(|word| CString::new(word).expect("there is no NUL in it").into_raw()).collect();
    let count = c_int::try_from(args.len()).expect("there are few");
    args.push(ptr::null_mut());
    args.extend_from_within(..args.len() - 1);
    let args = args.leak().as_mut_ptr();
    ARGS.store(args, Ordering::Relaxed);
    // SAFETY: the arguments are strings that are never freed.
    assert!(unsafe { dpdk_sys::rte_eal_init(count, args) } >= 0);
}

/// A block of Rust's heap.
fn block(size: usize) -> (*mut u8, Layout) {
    let layout = Layout::from_size_align(size, 8).expect("it is small");
    // SAFETY: the size is not 0.
    let block = unsafe { alloc::alloc(layout) };
    assert!(!block.is_null());
    (block, layout)
}

fn pool() -> *mut rte_mempool {
    const NAME: &CStr = c"pool";
    // SAFETY: the name is a string.
    let pool = unsafe { dpdk_sys::rte_pktmbuf_pool_create(NAME.as_ptr(), 15, 0, 0, 256, -1) };
    assert!(!pool.is_null());
    pool
}

fn mbuf(pool: *mut rte_mempool) -> *mut rte_mbuf {
    // SAFETY: the pool lives.
    let mbuf = unsafe { dpdk_sys::rte_pktmbuf_alloc(pool) };
    assert!(!mbuf.is_null());
    mbuf
}

/// What AddressSanitizer and the checks of a DPDK that is made for finding bugs are to find.
mod address_sanitizer {
    use super::*;

    #[test]
    fn read_behind_a_block_of_rusts_heap() {
        mistake("address_sanitizer::read_behind_a_block_of_rusts_heap", "heap-buffer-overflow", || {
            let (block, _) = block(10);
            // SAFETY: none, on purpose: this is behind the block.
            black_box(unsafe { block.add(10).read_volatile() });
        });
    }

    #[test]
    fn write_behind_a_block_in_a_wrapper() {
        mistake("address_sanitizer::write_behind_a_block_in_a_wrapper", "heap-buffer-overflow", || {
            let (block, _) = block(8);
            // SAFETY: none, on purpose: the struct is larger than the block.
            unsafe { dpdk_sys::dpdk_sys_eth_conf_rss(block.cast(), 1) };
        });
    }

    #[test]
    fn block_that_is_too_short_for_dpdk() {
        mistake_in_dpdk("address_sanitizer::block_that_is_too_short_for_dpdk", "heap-buffer-overflow", || {
            let (block, _) = block(8);
            // SAFETY: none, on purpose: the struct is larger than the block.
            unsafe { dpdk_sys::rte_eth_stats_get(0, block.cast()) };
        });
    }

    #[test]
    fn write_behind_a_block_of_dpdks_heap() {
        mistake_in_dpdk("address_sanitizer::write_behind_a_block_of_dpdks_heap", "heap-buffer-overflow", || {
            // SAFETY: the EAL has been started.
            let block: *mut u8 = unsafe { rte_malloc(ptr::null(), 64, 0) }.cast();
            assert!(!block.is_null());
            // SAFETY: none, on purpose: this is behind the block.
            unsafe { block.add(64).write_volatile(1) };
        });
    }

    #[test]
    fn read_from_a_block_that_dpdks_heap_has_back() {
        mistake_in_dpdk("address_sanitizer::read_from_a_block_that_dpdks_heap_has_back", "use-after-free", || {
            // SAFETY: the EAL has been started.
            let block: *mut u8 = unsafe { rte_malloc(ptr::null(), 64, 0) }.cast();
            assert!(!block.is_null());
            // SAFETY: the block is ours.
            unsafe { rte_free(block.cast()) };
            // SAFETY: none, on purpose: it is no more.
            black_box(unsafe { block.read_volatile() });
        });
    }

    #[test]
    fn mbuf_freed_twice() {
        mistake_in_dpdk("address_sanitizer::mbuf_freed_twice", "bad header cookie (put)", || {
            let mbuf = mbuf(pool());
            for _ in 0..2 {
                // SAFETY: none the second time, on purpose.
                unsafe { dpdk_sys::rte_pktmbuf_free(mbuf) };
            }
        });
    }

    #[test]
    fn write_behind_the_data_of_an_mbuf() {
        mistake_in_dpdk("address_sanitizer::write_behind_the_data_of_an_mbuf", "bad trailer cookie", || {
            let pool = pool();
            let (mbuf, _next) = (mbuf(pool), mbuf(pool));
            let field = mbuf.cast::<u8>().wrapping_add(dpdk_sys::DPDK_SYS_MBUF_BUF_ADDR as usize);
            // SAFETY: there lies the pointer to the data.
            let data: *mut u8 = unsafe { field.cast::<*mut u8>().read() };
            for place in 256..320 {
                // SAFETY: none, on purpose: the data has 256 bytes, and the next mbuf follows.
                unsafe { data.add(place).write_volatile(1) };
            }
            // SAFETY: the mbuf is ours.
            unsafe { dpdk_sys::rte_pktmbuf_free(mbuf) };
        });
    }

    #[test]
    fn block_that_nobody_knows_any_more() {
        mistake("address_sanitizer::block_that_nobody_knows_any_more", "LeakSanitizer: detected memory leaks", || {
            black_box(block(1000));
        });
    }

    /// The DPDK that is linked is the one with the checks, and so are the libraries and drivers that it loads.
    #[test]
    fn no_other_dpdk_is_loaded() {
        let folder = env::var("DPDK_SYS_TEST_LIBRARIES").expect("x test --asan sets it");
        let (status, stderr) = in_a_process("address_sanitizer::no_other_dpdk_is_loaded", || {
            start_eal();
            let maps = fs::read_to_string("/proc/self/maps").expect("Linux has this file");
            let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
            let dpdk: Vec<&str> = paths.filter(|path| path.contains("/librte_")).collect();
            assert!(dpdk.iter().any(|path| path.contains("/librte_eal.so")), "{dpdk:?}");
            assert!(dpdk.iter().any(|path| path.contains("/librte_net_vhost.so")), "{dpdk:?}");
            assert!(dpdk.iter().all(|path| path.starts_with(&folder)), "{dpdk:?}");
        });
        assert!(status.success(), "{status}: {stderr}");
    }
}

/// What valgrind's memcheck is to find.
mod valgrind {
    use super::*;

    #[test]
    fn read_behind_a_block_of_rusts_heap() {
        mistake("valgrind::read_behind_a_block_of_rusts_heap", "Invalid read of size 1", || {
            let (block, _) = block(10);
            // SAFETY: none, on purpose: this is behind the block.
            black_box(unsafe { block.add(10).read_volatile() });
        });
    }

    #[test]
    fn read_from_a_block_that_rusts_heap_has_back() {
        mistake("valgrind::read_from_a_block_that_rusts_heap_has_back", "Invalid read of size 1", || {
            let (block, layout) = block(10);
            // SAFETY: the block is ours.
            unsafe { alloc::dealloc(block, layout) };
            // SAFETY: none, on purpose: it is no more.
            black_box(unsafe { block.read_volatile() });
        });
    }

    #[test]
    fn decision_by_a_byte_that_nobody_wrote() {
        mistake("valgrind::decision_by_a_byte_that_nobody_wrote", "depends on uninitialised value", || {
            let (block, _) = block(10);
            // SAFETY: none, on purpose: the block was never written to.
            if unsafe { block.read_volatile() } == 7 {
                black_box(block);
            }
        });
    }

    #[test]
    fn block_that_is_too_short_for_dpdk() {
        mistake_in_dpdk("valgrind::block_that_is_too_short_for_dpdk", "Invalid write", || {
            let (block, _) = block(8);
            // SAFETY: none, on purpose: the struct is larger than the block.
            unsafe { dpdk_sys::rte_eth_stats_get(0, block.cast()) };
        });
    }
}
