// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the safe API does not offer, by direct calls of DPDK: attaching devices at run time, looking into rings, and
//! counting memory. Called on the main lcore's thread while no other thread is at work, and while the EAL is initialised.

use dpdk_sys as sys;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    ffi::{CString, c_int, c_uint, c_void},
    fmt,
    ptr::{self, NonNull},
    sync::atomic::{AtomicUsize, Ordering},
};

/// A ring of the test's own.
#[derive(Clone, Copy)]
pub(crate) struct Ring(NonNull<sys::rte_ring>);

// SAFETY: DPDK's rings may be used from any thread; these are made without the flags that forbid it.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ring")
    }
}

impl Ring {
    /// A ring for one object less than `count`, a power of two.
    pub(crate) fn new(name: &str, count: u32) -> Self {
        let name = c_string(name);
        // SAFETY: the EAL is initialised; the name is a string, which the call copies.
        let ring = unsafe { sys::rte_ring_create(name.as_ptr(), count, 0, 0) };
        Self(NonNull::new(ring).expect("a ring can be made"))
    }

    /// The ring of this name, if there is one.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let name = c_string(name);
        // SAFETY: the EAL is initialised; the name is a string.
        NonNull::new(unsafe { sys::rte_ring_lookup(name.as_ptr()) }).map(Self)
    }

    pub(crate) fn len(self) -> usize {
        // SAFETY: the ring is live until `free`, which the test calls last.
        unsafe { sys::rte_ring_count(self.0.as_ptr()) as usize }
    }

    /// Takes the first frame out of the ring, copies the bytes of its segments, and frees it.
    pub(crate) fn take(self) -> Option<Vec<Vec<u8>>> {
        let mut object: *mut c_void = ptr::null_mut();
        // SAFETY: the ring is live, and there is room for one pointer.
        if unsafe { sys::rte_ring_dequeue(self.0.as_ptr(), &raw mut object) } != 0 {
            return None;
        }
        let head = object.cast::<sys::rte_mbuf>();
        let mut segments = Vec::new();
        let mut next = head;
        while !next.is_null() {
            segments.push(bytes(next));
            // SAFETY: the mbuf is live: it was in the ring, which owned its whole chain.
            let field = unsafe { sys::mbuf_next(next) };
            // SAFETY: as above.
            next = unsafe { field.read() };
        }
        // SAFETY: the ring owned the chain, and gave it up.
        unsafe { sys::rte_pktmbuf_free(head) };
        Some(segments)
    }

    /// Frees the ring, which must be empty.
    pub(crate) fn free(self) {
        assert_eq!(self.len(), 0, "a ring is freed with frames in it");
        // SAFETY: no device uses the ring any more, and the test does not either.
        unsafe { sys::rte_ring_free(self.0.as_ptr()) };
    }
}

/// The data of a live mbuf.
fn bytes(mbuf: *mut sys::rte_mbuf) -> Vec<u8> {
    macro_rules! read {
        ($field:path) => {{
            // SAFETY: the caller's mbuf is live.
            let field = unsafe { $field(mbuf) };
            // SAFETY: as above.
            unsafe { field.read() }
        }};
    }
    let buffer = read!(sys::mbuf_buf_addr).cast::<u8>();
    let offset = usize::from(read!(sys::mbuf_data_off));
    let len = usize::from(read!(sys::mbuf_data_len));
    assert!(offset + len <= usize::from(read!(sys::mbuf_buf_len)), "the data ends behind the buffer");
    // SAFETY: the data lies in the buffer.
    let start = unsafe { buffer.add(offset) };
    // SAFETY: as above, and nobody writes to it.
    unsafe { std::slice::from_raw_parts(start, len) }.to_vec()
}

/// Attaches a virtual device.
pub(crate) fn attach(name: &str, arguments: &str) {
    let (bus, device, args) = (c_string("vdev"), c_string(name), c_string(arguments));
    // SAFETY: the EAL is initialised; the strings outlive the call, which copies them.
    let result = unsafe { sys::rte_eal_hotplug_add(bus.as_ptr(), device.as_ptr(), args.as_ptr()) };
    assert_eq!(result, 0, "{name},{arguments} can be attached");
}

/// How the driver net_ring is told which rings to use: `rte_eth_from_rings` passes the address of such a struct, too.
#[repr(C)]
struct RingArguments {
    rx: *const Ring,
    rx_count: c_uint,
    tx: *const Ring,
    tx_count: c_uint,
    node: c_uint,
    /// The struct's own address, by which the driver checks what it was given.
    this: *const RingArguments,
}

/// Attaches a device net_ring that receives from the rings `rx` and sends to the rings `tx`. The function made for this is
/// part of the driver, which is a plug-in: the test cannot be linked with it.
pub(crate) fn attach_rings(name: &str, rx: &[Ring], tx: &[Ring]) {
    let mut arguments = RingArguments {
        rx: rx.as_ptr(),
        rx_count: rx.len() as c_uint,
        tx: tx.as_ptr(),
        tx_count: tx.len() as c_uint,
        node: 0,
        this: ptr::null(),
    };
    arguments.this = &raw const arguments;
    attach(name, &format!("internal={:p}", arguments.this));
}

/// Detaches a virtual device, closed or not.
pub(crate) fn detach(name: &str) {
    let (bus, device) = (c_string("vdev"), c_string(name));
    // SAFETY: the EAL is initialised; the strings outlive the call.
    let result = unsafe { sys::rte_eal_hotplug_remove(bus.as_ptr(), device.as_ptr()) };
    assert_eq!(result, 0, "{name} can be detached");
}

/// Whether the program has a pool of this name.
pub(crate) fn pool_exists(name: &str) -> bool {
    let name = c_string(&format!("rs.{name}"));
    // SAFETY: the EAL is initialised; the name is a string.
    !unsafe { sys::rte_mempool_lookup(name.as_ptr()) }.is_null()
}

/// The names of the ports that exist.
pub(crate) fn port_names() -> Vec<String> {
    ports().into_iter().map(|(_, name)| name).collect()
}

/// The number of the port with this name.
pub(crate) fn port_number(name: &str) -> Option<u64> {
    ports().into_iter().find(|(_, other)| other == name).map(|(port, _)| port.into())
}

/// The name of the owner of the port with this name, if it has one.
pub(crate) fn owner(name: &str) -> Option<String> {
    let port = u16::try_from(port_number(name)?).expect("ports have numbers of 16 bits");
    let mut owner = sys::rte_eth_dev_owner::default();
    // SAFETY: the EAL is initialised; the call checks the number, and fills a struct of ours.
    let result = unsafe { sys::rte_eth_dev_owner_get(port, &raw mut owner) };
    assert_eq!(result, 0, "port {port} has an owner or none");
    let name: Vec<u8> = owner.name.iter().map(|byte| byte.cast_unsigned()).take_while(|byte| *byte != 0).collect();
    (owner.id != 0).then(|| String::from_utf8_lossy(&name).into_owned())
}

fn ports() -> Vec<(u16, String)> {
    let name = |port| {
        let mut name = [0; sys::RTE_ETH_NAME_MAX_LEN as usize];
        // SAFETY: the array has the length that the call asks for.
        let found = unsafe { sys::rte_eth_dev_get_name_by_port(port, name.as_mut_ptr()) } == 0;
        // SAFETY: the call wrote a string.
        found.then(|| (port, unsafe { std::ffi::CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned()))
    };
    // SAFETY: any number is allowed.
    let exists = |port: &u16| unsafe { sys::rte_eth_dev_is_valid_port(*port) } != 0;
    (0..sys::RTE_MAX_ETHPORTS as u16).filter(exists).filter_map(name).collect()
}

/// Whether DPDK knows some of these bytes, as its own or as registered.
pub(crate) fn is_known(addr: usize, len: usize) -> bool {
    // SAFETY: the EAL is initialised; the call compares addresses, and looks at nothing there.
    unsafe { sys::dpdk_sys_mem_known(ptr::without_provenance(addr), len) != 0 }
}

fn c_string(text: &str) -> CString {
    CString::new(text).expect("names have no NUL byte")
}

/// DPDK's memory in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) bytes: isize,
    allocations: isize,
    zones: isize,
}

impl Usage {
    pub(crate) fn now() -> Self {
        release_ethdev();
        unsafe extern "C" fn count(_zone: *const sys::rte_memzone, zones: *mut c_void) {
            // SAFETY: this is the counter that the walk was started with.
            let zones = unsafe { zones.cast::<isize>().as_mut() };
            *zones.expect("the counter is there") += 1;
        }
        let mut zones = 0_isize;
        // SAFETY: the EAL is initialised; the counter outlives the walk.
        unsafe { sys::rte_memzone_walk(Some(count), (&raw mut zones).cast()) };
        let mut heap = sys::rte_malloc_socket_stats::default();
        // SAFETY: the EAL is initialised, and the struct is ours.
        let result: c_int = unsafe { sys::rte_malloc_get_socket_stats(0, &raw mut heap) };
        assert_eq!(result, 0, "the heap of socket 0 has statistics");
        Self { bytes: heap.heap_allocsz_bytes.cast_signed(), allocations: heap.alloc_count as isize, zones }
    }

    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            bytes: self.bytes - earlier.bytes,
            allocations: self.allocations - earlier.allocations,
            zones: self.zones - earlier.zones,
        }
    }

    pub(crate) const fn allocations(self) -> usize {
        self.allocations.unsigned_abs()
    }

    /// Whether this is `other` and so many allocations of any size.
    pub(crate) fn is(self, other: Self, more: usize) -> bool {
        let difference = self.since(other);
        (difference.allocations, difference.zones) == (more.cast_signed(), 0) && (more > 0 || difference.bytes == 0)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            allocations: self.allocations + other.allocations,
            zones: self.zones + other.zones,
        }
    }
}

/// From 24.11 on ethdev frees its own memory with the last port or owner of ports, and takes it again when a device is detached
/// that was closed before. Giving up an owner makes it free what no port needs.
fn release_ethdev() {
    let mut owner = 0;
    // SAFETY: the EAL is initialised; the call writes to a number of ours.
    let result = unsafe { sys::rte_eth_dev_owner_new(&raw mut owner) };
    assert_eq!(result, 0, "an owner can be made");
    // SAFETY: the owner has just been made, and owns nothing.
    let result = unsafe { sys::rte_eth_dev_owner_delete(owner) };
    assert_eq!(result, 0, "the owner can be given up");
}

/// An address in DPDK's heap.
pub(crate) fn heap_address() -> usize {
    let ring = Ring::new("address", 2);
    ring.free();
    ring.0.addr().get()
}

/// Counts what Rust code has on the heap.
pub(crate) struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// How many allocations of Rust code are live.
pub(crate) fn live_allocations() -> usize {
    LIVE.load(Ordering::SeqCst)
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller promises what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
