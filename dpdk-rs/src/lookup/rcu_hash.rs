// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash tables that one thread changes while others hold references into them, without locks (read-copy-update).
//!
//! DPDK's RCU counts quiescent states: each reader says from time to time that it holds nothing. Here that call needs the
//! reader exclusively, so the compiler sees to it that no reference is left. What was removed before every reader has said so
//! is nobody's any more, and is dropped.

use super::{
    HashBuilder, HashKey,
    hash::{BULK, Entries, HASH},
};
use crate::{CreateError, Eal, Errno, Full, memory::DpdkBox};
use core::{cell::UnsafeCell, fmt, marker::PhantomData, ptr::NonNull};
use dpdk_sys as sys;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// DPDK's alignment of the counters, a cache line.
const ALIGN: usize = sys::RTE_CACHE_LINE_SIZE as usize;

/// The end of a hash table that changes it. There is one, and it cannot be cloned.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
/// use dpdk_rs::lookup::HashTable;
///
/// let mut routes = HashTable::<u32, String>::builder("routes").build_rcu(&eal, 8)?;
/// let mut reader = routes.reader().ok_or("there are 8 readers already")?;
/// routes.insert(7, "to the left".to_owned()).map_err(|_| "the table is full")?;
/// let worker = std::thread::spawn(move || {
///     for address in 0..1000 {
///         if let Some(route) = reader.get(&address) {
///             println!("{address} goes {route}"); // for a while, also if it was removed meanwhile
///         }
///         reader.quiescent();
///     }
/// });
/// routes.remove(&7);
/// # worker.join().unwrap();
/// # Ok(())
/// # }
/// ```
#[doc(alias = "RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF")]
#[doc(alias = "rte_hash_rcu_qsbr_add")]
pub struct RcuWriter<K: HashKey, V: Send + Sync> {
    table: Arc<Table<K, V>>,
}

/// An end of such a table that looks up, for as long as it likes: what it has found stays until [`Self::quiescent`].
#[doc(alias = "rte_rcu_qsbr_thread_register")]
pub struct RcuReader<K: HashKey, V: Send + Sync> {
    table: Arc<Table<K, V>>,
    /// Its number in the counters.
    number: u32,
}

struct Table<K: HashKey, V> {
    entries: Entries<K>,
    counters: DpdkBox<[UnsafeCell<u8>]>,
    state: Mutex<State<V>>,
    /// Each entry's data is a box, which the table owns.
    values: PhantomData<V>,
}

struct State<V> {
    /// By number, whether there is a reader.
    readers: Vec<bool>,
    /// What was removed, the oldest first.
    retired: VecDeque<Retired<V>>,
}

/// What readers may still refer to.
struct Retired<V> {
    /// Once all readers have come as far, they do not.
    token: u64,
    /// The place of a key that was removed; a value that was replaced has left none.
    position: Option<i32>,
    value: NonNull<V>,
}

// SAFETY: the pointer is a box of a `V` whose owner is the table, and whoever has the table exclusively, or its state locked
// and every reader quiescent, drops it.
unsafe impl<V: Send> Send for Retired<V> {}

// SAFETY: threads share the table for looking up, which DPDK allows without a lock while one writer changes it, and for its
// counters, which are atomic; they get `&V`, and the last one drops the values.
unsafe impl<K: HashKey, V: Send + Sync> Sync for Table<K, V> {}
// SAFETY: the table and the counters are DPDK's, bound to no thread, and whoever drops the table drops values that are `Send`.
unsafe impl<K: HashKey, V: Send + Sync> Send for Table<K, V> {}

impl<K: HashKey, V: Send + Sync> HashBuilder<K, V> {
    /// Makes a table that one thread changes while up to `readers` ends look up without locks and hold what they found.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, a number of entries that is not allowed, a child made by `fork`.
    #[doc(alias = "rte_hash_create")]
    #[doc(alias = "rte_rcu_qsbr_init")]
    pub fn build_rcu(self, eal: &Eal, readers: u32) -> Result<RcuWriter<K, V>, CreateError> {
        let entries = Entries::create(eal, &self, sys::RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF)?;
        let lacks =
            |call| CreateError::Create { kind: HASH.name, name: self.name.clone(), call, errno: Errno::NO_MEMORY };
        let readers = readers.max(1);
        // SAFETY: the call works out a number.
        let len = unsafe { sys::rte_rcu_qsbr_get_memsize(readers) };
        let heap = eal.heap().socket(self.socket).align(ALIGN);
        let counters = heap.boxed_slice(len, |_| UnsafeCell::new(0)).map_err(|_| lacks("rte_malloc_socket"))?;
        let state = State { readers: vec![false; readers as usize], retired: VecDeque::new() };
        let table = Table { entries, counters, state: Mutex::new(state), values: PhantomData };
        // SAFETY: the memory is as large as DPDK wants it for so many readers, aligned to a cache line, and nobody else's yet.
        let result = unsafe { sys::rte_rcu_qsbr_init(table.counters(), readers) };
        if result != 0 {
            return Err(lacks("rte_rcu_qsbr_init"));
        }
        Ok(RcuWriter { table: Arc::new(table) })
    }
}

impl<K: HashKey, V> Table<K, V> {
    fn counters(&self) -> *mut sys::rte_rcu_qsbr {
        UnsafeCell::raw_get(self.counters.as_ptr()).cast()
    }

    fn state(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a key.
    fn find(&self, key: &K) -> Option<NonNull<V>> {
        NonNull::new(self.entries.find(key)?.cast())
    }

    /// Keeps a value that is in the table no more until no reader can refer to it.
    fn retire(&self, value: NonNull<V>, position: Option<i32>) {
        // SAFETY: the counters were initialised when the table was made.
        let token = unsafe { sys::rte_rcu_qsbr_start(self.counters()) };
        self.state().retired.push_back(Retired { token, position, value });
    }

    /// Takes the oldest of what was retired, if no reader can refer to it.
    fn take_unused(&self) -> Option<Retired<V>> {
        let mut state = self.state();
        let oldest = state.retired.front()?;
        // SAFETY: the counters were initialised when the table was made; without waiting the call only reads them.
        let unused = unsafe { sys::rte_rcu_qsbr_check(self.counters(), oldest.token, false) } == 1;
        if unused { state.retired.pop_front() } else { None }
    }
}

impl<K: HashKey, V: Send + Sync> RcuWriter<K, V> {
    /// Gives a key a value, also if it had another. A key whose bytes are all zeros is removed before: for a moment readers
    /// do not find it.
    ///
    /// # Errors
    /// [`Full`], with the value, if the key is new and the table has no room for it: keys that were removed count until every
    /// reader has been quiescent. A key of zeros is new in any case, and stays removed.
    #[doc(alias = "rte_hash_add_key_data")]
    pub fn insert(&mut self, key: K, value: V) -> Result<(), Full<V>> {
        self.reclaim();
        // DPDK takes its empty places for entries of such a key, stops looking there, and would add a second one.
        if bytemuck::bytes_of(&key).iter().all(|byte| *byte == 0) && self.remove(&key) {
            self.reclaim();
        }
        let former = self.table.find(&key);
        let value = Box::into_raw(Box::new(value));
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was made for readers beside it.
        if unsafe { self.table.entries.put(&key, value.cast()) } {
            if let Some(former) = former {
                self.table.retire(former, None);
            }
            return Ok(());
        }
        // SAFETY: the table did not take the box of a few lines before, so it is still ours.
        Err(Full(*unsafe { Box::from_raw(value) }))
    }

    /// Removes a key; whether it was there. Its value is dropped once every reader has been quiescent, by a later call of
    /// this end, or with the table.
    #[doc(alias = "rte_hash_del_key")]
    pub fn remove(&mut self, key: &K) -> bool {
        let Some(value) = self.table.find(key) else { return false };
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was made for readers beside it.
        let position = unsafe { self.table.entries.take_position(key) };
        if position.is_some() {
            self.table.retire(value, position);
        }
        position.is_some()
    }

    /// Drops what was removed before every reader has been quiescent; inserting does this too.
    ///
    /// Returns how many values were dropped.
    #[doc(alias = "rte_rcu_qsbr_check")]
    #[doc(alias = "rte_hash_free_key_with_position")]
    pub fn reclaim(&mut self) -> usize {
        let mut dropped = 0;
        while let Some(Retired { position, value, .. }) = self.table.take_unused() {
            if let Some(position) = position {
                // SAFETY: the key at this place was removed, and every reader has been quiescent since; it is freed once.
                unsafe { self.table.entries.free_position(position) };
            }
            dropped += 1;
            // SAFETY: the value was a box of the table's, which has given it up, and every reader has been quiescent since.
            drop(unsafe { Box::from_raw(value.as_ptr()) });
        }
        dropped
    }

    /// Another end that looks up; `None` if there are as many as the table was made for.
    #[doc(alias = "rte_rcu_qsbr_thread_online")]
    #[must_use]
    pub fn reader(&self) -> Option<RcuReader<K, V>> {
        let mut state = self.table.state();
        let place = state.readers.iter().position(|used| !used)?;
        let number = u32::try_from(place).ok()?;
        // SAFETY: the counters are for more than `number` readers, and no other reader has this one.
        if unsafe { sys::rte_rcu_qsbr_thread_register(self.table.counters(), number) } != 0 {
            return None;
        }
        if let Some(used) = state.readers.get_mut(place) {
            *used = true;
        }
        drop(state);
        let reader = RcuReader { table: Arc::clone(&self.table), number };
        reader.online();
        Some(reader)
    }

    /// How many keys there are.
    #[doc(alias = "rte_hash_count")]
    #[must_use]
    pub fn len(&self) -> usize {
        // Keys that were removed and not freed are counted by DPDK.
        let waiting = self.table.state().retired.iter().filter(|retired| retired.position.is_some()).count();
        self.table.entries.len().saturating_sub(waiting)
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: HashKey, V: Send + Sync> RcuReader<K, V> {
    /// The value of a key.
    #[doc(alias = "rte_hash_lookup_data")]
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        let value = self.table.find(key)?;
        // SAFETY: the table's data are boxes of values. One that is removed now is dropped when this reader has been quiescent,
        // or is gone: both need it exclusively, and it is borrowed as long as the result.
        Some(unsafe { value.as_ref() })
    }

    /// Looks up all `keys`; the value of each is put in its place in `values`, as far as both are long.
    ///
    /// Returns how many were found.
    #[doc(alias = "rte_hash_lookup_bulk_data")]
    pub fn get_bulk<'reader>(&'reader self, keys: &[K], values: &mut [Option<&'reader V>]) -> usize {
        let mut hits = 0;
        for (keys, values) in keys.chunks(BULK).zip(values.chunks_mut(BULK)) {
            self.table.entries.find_bulk(keys, values, |data| {
                hits += 1;
                // SAFETY: the table's data are boxes of values. One that is removed now is dropped when this reader has been
                // quiescent, or is gone: both need it exclusively, and it is borrowed as long as the result.
                unsafe { &*data.cast::<V>() }
            });
        }
        hits
    }

    /// Says that nothing of what this end has found is held any more. A reader that never does, and is not dropped, keeps
    /// everything that is removed.
    #[doc(alias = "rte_rcu_qsbr_quiescent")]
    pub fn quiescent(&mut self) {
        // SAFETY: the reader is registered under this number and online, and borrowed exclusively.
        unsafe { sys::rte_rcu_qsbr_quiescent(self.table.counters(), self.number) };
    }

    /// Runs `run`, which may take long, without keeping anything that is removed meanwhile.
    #[doc(alias = "rte_rcu_qsbr_thread_offline")]
    pub fn rest<T>(&mut self, run: impl FnOnce() -> T) -> T {
        /// Looks up again, also after a panic.
        struct Resting<'reader, K: HashKey, V: Send + Sync>(&'reader RcuReader<K, V>);
        impl<K: HashKey, V: Send + Sync> Drop for Resting<'_, K, V> {
            fn drop(&mut self) {
                self.0.online();
            }
        }
        self.offline();
        let _resting = Resting(self);
        run()
    }

    fn online(&self) {
        // SAFETY: the reader is registered under this number, and nobody uses it meanwhile: it is new, or borrowed exclusively
        // by `rest`.
        unsafe { sys::rte_rcu_qsbr_thread_online(self.table.counters(), self.number) };
    }

    fn offline(&mut self) {
        // SAFETY: the reader is registered under this number and online, and borrowed exclusively.
        unsafe { sys::rte_rcu_qsbr_thread_offline(self.table.counters(), self.number) };
    }
}

impl<K: HashKey, V: Send + Sync> Drop for RcuReader<K, V> {
    fn drop(&mut self) {
        if self.table.entries.is_forked() {
            return;
        }
        self.offline();
        let mut state = self.table.state();
        // SAFETY: the reader is registered under this number and offline, and at its end.
        unsafe { sys::rte_rcu_qsbr_thread_unregister(self.table.counters(), self.number) };
        if let Some(used) = state.readers.get_mut(self.number as usize) {
            *used = false;
        }
    }
}

impl<K: HashKey, V> Drop for Table<K, V> {
    fn drop(&mut self) {
        if self.entries.is_forked() {
            return;
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for retired in state.retired.drain(..) {
            // SAFETY: the value was a box of the table's, which has given it up, and no end is left that could refer to it.
            drop(unsafe { Box::from_raw(retired.value.as_ptr()) });
        }
        let mut next = 0;
        while let Some((_, value)) = self.entries.step(&mut next) {
            // SAFETY: the table's data are boxes of values, each of which is come to once, and no end is left that could refer
            // to them.
            drop(unsafe { Box::from_raw(value.cast::<V>()) });
        }
    }
}

impl<K: HashKey, V: Send + Sync> fmt::Debug for RcuWriter<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RcuWriter").field("len", &self.len()).finish()
    }
}

impl<K: HashKey, V: Send + Sync> fmt::Debug for RcuReader<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RcuReader").field("number", &self.number).finish_non_exhaustive()
    }
}
