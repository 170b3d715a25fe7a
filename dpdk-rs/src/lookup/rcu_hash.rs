// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash tables that one thread changes while other threads hold references into them, without locks (read-copy-update).
//!
//! DPDK's RCU library counts quiescent states: each reader reports from time to time that it holds no reference. Here
//! the reporting call borrows the reader exclusively, so the compiler ensures that no reference is left. A removed
//! entry is dropped once every reader has reported a quiescent state after its removal, when no thread can refer to it.

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
    vec,
};

/// The counters are aligned to a cache line, as DPDK requires.
const ALIGN: usize = sys::RTE_CACHE_LINE_SIZE as usize;

/// DPDK computes the bytes of a bit for each reader in 32 bits, and finds no reader if their number is close to 2^32.
const MOST_READERS: u32 = 1 << 16;

/// The writing end of a hash table. A table has one writer, which cannot be cloned.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::lookup::HashTable;
///
/// let mut routes = HashTable::<u32, String>::builder("routes").build_rcu(&eal, 8)?;
/// let mut reader = routes.reader().ok_or("there are 8 readers already")?;
/// routes.insert(7, "to the left".to_owned()).map_err(|_| "the table is full")?;
/// let worker = std::thread::spawn(move || {
///     for address in 0..1000 {
///         if let Some(route) = reader.get(&address) {
///             println!("{address} goes {route}"); // valid even if the route was just removed
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

/// A reading end of such a table. References that it returns stay valid until it calls [`Self::quiescent`].
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
    /// Held during a change of the entries, and while they are listed: otherwise the list could miss an entry that DPDK
    /// moves, or contain it twice.
    unchanged: Mutex<()>,
    /// The data of each entry is a box that the table owns.
    values: PhantomData<V>,
}

struct State<V> {
    /// For each number, whether it belongs to a reader.
    readers: Vec<bool>,
    /// What was removed, oldest first.
    retired: VecDeque<Retired<V>>,
}

/// A removed value to which readers may still refer.
struct Retired<V> {
    /// Once all readers have reached this token, none of them refers to the value.
    token: u64,
    /// The position of a removed key; `None` for a replaced value.
    position: Option<i32>,
    value: NonNull<V>,
}

// SAFETY: the pointer is a box of a `V` that the table owns. It is dropped only by whoever has the table exclusively,
// or has its state locked after every reader has been quiescent.
unsafe impl<V: Send> Send for Retired<V> {}

// SAFETY: threads share the table for look-ups, which DPDK allows without a lock while one writer changes it, and for
// its counters, which are atomic. Threads get `&V`, and the last one drops the values.
unsafe impl<K: HashKey, V: Send + Sync> Sync for Table<K, V> {}
// SAFETY: the table and the counters are DPDK's and bound to no thread, and whoever drops the table drops values that
// are `Send`.
unsafe impl<K: HashKey, V: Send + Sync> Send for Table<K, V> {}

impl<K: HashKey, V: Send + Sync> HashBuilder<K, V> {
    /// Creates a table that one thread changes while up to `readers` readers, at most 2^16, look up without locks and hold
    /// what they found.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, a number of entries or readers that is not allowed, or a
    /// child process created by `fork`.
    #[doc(alias = "rte_hash_create")]
    #[doc(alias = "rte_rcu_qsbr_init")]
    pub fn build_rcu(self, eal: &Eal, readers: u32) -> Result<RcuWriter<K, V>, CreateError> {
        if readers > MOST_READERS {
            return Err(HASH.too_large(&self.name, readers as usize, ALIGN));
        }
        let entries = Entries::create(eal, &self, sys::RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF)?;
        let lacks =
            |call| CreateError::Create { kind: HASH.name, name: self.name.clone(), call, errno: Errno::NO_MEMORY };
        let readers = readers.max(1);
        // SAFETY: the call only computes a number.
        let len = unsafe { sys::rte_rcu_qsbr_get_memsize(readers) };
        let heap = eal.heap().socket(self.socket).align(ALIGN);
        let counters = heap.boxed_slice(len, |_| UnsafeCell::new(0)).map_err(|_| lacks("rte_malloc_socket"))?;
        let state = State { readers: vec![false; readers as usize], retired: VecDeque::new() };
        let table =
            Table { entries, counters, state: Mutex::new(state), unchanged: Mutex::default(), values: PhantomData };
        // SAFETY: the memory has the size that DPDK requires for `readers` readers, is aligned to a cache line, and
        // nobody else uses it yet.
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

    fn unchanged(&self) -> MutexGuard<'_, ()> {
        self.unchanged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a key.
    fn find(&self, key: &K) -> Option<NonNull<V>> {
        NonNull::new(self.entries.find(key)?.cast())
    }

    /// Keeps a removed value until no reader can refer to it.
    fn retire(&self, value: NonNull<V>, position: Option<i32>) {
        // SAFETY: the counters were initialised when the table was created.
        let token = unsafe { sys::rte_rcu_qsbr_start(self.counters()) };
        self.state().retired.push_back(Retired { token, position, value });
    }

    /// Takes the oldest retired value, if no reader can refer to it.
    fn take_unused(&self) -> Option<Retired<V>> {
        let mut state = self.state();
        let oldest = state.retired.front()?;
        // SAFETY: the counters were initialised when the table was created. Without waiting the call only reads them.
        let unused = unsafe { sys::rte_rcu_qsbr_check(self.counters(), oldest.token, false) } == 1;
        if unused { state.retired.pop_front() } else { None }
    }
}

impl<K: HashKey, V: Send + Sync> RcuWriter<K, V> {
    /// Sets the value of a key, whether or not it already has one. A key whose bytes are all zero is first removed: for
    /// a moment readers do not find it.
    ///
    /// # Errors
    /// [`Full`], with the value, if the key is new and the table has no room for it. Removed keys count until every
    /// reader has been quiescent. A key of zeros always counts as new, and stays removed after this error.
    #[doc(alias = "rte_hash_add_key_data")]
    pub fn insert(&mut self, key: K, value: V) -> Result<(), Full<V>> {
        self.reclaim();
        // DPDK mistakes its empty positions for entries of such a key, stops searching there, and would add a second
        // entry.
        if bytemuck::bytes_of(&key).iter().all(|byte| *byte == 0) && self.remove(&key) {
            self.reclaim();
        }
        let former = self.table.find(&key);
        let value = Box::into_raw(Box::new(value));
        let held = self.table.unchanged();
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was created for concurrent readers.
        let inserted = unsafe { self.table.entries.put(&key, value.cast()) };
        drop(held);
        if inserted {
            if let Some(former) = former {
                self.table.retire(former, None);
            }
            return Ok(());
        }
        // SAFETY: the table did not take the box that was created a few lines above, so this function still owns it.
        Err(Full(*unsafe { Box::from_raw(value) }))
    }

    /// Removes a key. Returns whether it was in the table. Its value is dropped once every reader has been quiescent,
    /// by a later call on this writer or with the table.
    #[doc(alias = "rte_hash_del_key")]
    pub fn remove(&mut self, key: &K) -> bool {
        let Some(value) = self.table.find(key) else { return false };
        let held = self.table.unchanged();
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was created for concurrent readers.
        let position = unsafe { self.table.entries.take_position(key) };
        drop(held);
        if position.is_some() {
            self.table.retire(value, position);
        }
        position.is_some()
    }

    /// Drops the values that were removed before every reader was last quiescent. Inserting does this too.
    ///
    /// Returns how many values were dropped.
    #[doc(alias = "rte_rcu_qsbr_check")]
    #[doc(alias = "rte_hash_free_key_with_position")]
    pub fn reclaim(&mut self) -> usize {
        let mut dropped = 0;
        while let Some(Retired { position, value, .. }) = self.table.take_unused() {
            if let Some(position) = position {
                let _held = self.table.unchanged();
                // SAFETY: the key at this position was removed, every reader has been quiescent since, and the position
                // is freed once.
                unsafe { self.table.entries.free_position(position) };
            }
            dropped += 1;
            // SAFETY: the value is a box that the table has given up, and every reader has been quiescent since.
            drop(unsafe { Box::from_raw(value.as_ptr()) });
        }
        dropped
    }

    /// Another reader; `None` if the table has as many readers as it was created for.
    #[doc(alias = "rte_rcu_qsbr_thread_online")]
    #[must_use]
    pub fn reader(&self) -> Option<RcuReader<K, V>> {
        let mut state = self.table.state();
        let place = state.readers.iter().position(|used| !used)?;
        let number = u32::try_from(place).ok()?;
        // SAFETY: the counters are for more than `number` readers, and no other reader has this number.
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

    /// The number of keys.
    #[doc(alias = "rte_hash_count")]
    #[must_use]
    pub fn len(&self) -> usize {
        // DPDK counts removed keys until their positions are freed.
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
        // SAFETY: the table's data are boxes of values. A box that is removed now is dropped after this reader has been
        // quiescent or dropped. Both need the reader exclusively, and the result borrows it.
        Some(unsafe { value.as_ref() })
    }

    /// Looks up all `keys`. Writes the value of `keys[i]`, or `None`, to `values[i]`. If the slices differ in length,
    /// the rest of the longer one is ignored.
    ///
    /// Returns how many keys were found.
    #[doc(alias = "rte_hash_lookup_bulk_data")]
    pub fn get_bulk<'reader>(&'reader self, keys: &[K], values: &mut [Option<&'reader V>]) -> usize {
        let mut hits = 0;
        for (keys, values) in keys.chunks(BULK).zip(values.chunks_mut(BULK)) {
            self.table.entries.find_bulk(keys, values, |data| {
                hits += 1;
                // SAFETY: the table's data are boxes of values. A box that is removed now is dropped after this reader
                // has been quiescent or dropped. Both need the reader exclusively, and the result borrows it.
                unsafe { &*data.cast::<V>() }
            });
        }
        hits
    }

    /// Every key with its value at the time of this call, in no particular order. The call lists all entries before it
    /// returns, and the writer waits during that time: use it for statistics, not on the data path.
    #[doc(alias = "rte_hash_iterate")]
    #[must_use]
    pub fn iter(&self) -> vec::IntoIter<(K, &V)> {
        let _held = self.table.unchanged();
        // SAFETY: the table's data are boxes of values. A box that is removed now is dropped after this reader has been
        // quiescent or dropped. Both need the reader exclusively, and the result borrows it.
        self.table.entries.list(|data| unsafe { &*data.cast::<V>() }).into_iter()
    }

    /// Reports that this reader holds no reference into the table. Until it does so, or is dropped, no value that the
    /// writer removes is dropped.
    #[doc(alias = "rte_rcu_qsbr_quiescent")]
    pub fn quiescent(&mut self) {
        // SAFETY: the reader is registered under this number and online, and borrowed exclusively.
        unsafe { sys::rte_rcu_qsbr_quiescent(self.table.counters(), self.number) };
    }

    /// Runs `run`, which may take long. During that time the reader does not delay the dropping of removed values.
    #[doc(alias = "rte_rcu_qsbr_thread_offline")]
    pub fn rest<T>(&mut self, run: impl FnOnce() -> T) -> T {
        /// Puts the reader online again, even after a panic.
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
        // SAFETY: the reader is registered under this number, and nobody uses it at the same time: it is new, or `rest`
        // borrows it exclusively.
        unsafe { sys::rte_rcu_qsbr_thread_online(self.table.counters(), self.number) };
    }

    fn offline(&mut self) {
        // SAFETY: the reader is registered under this number and online, and borrowed exclusively.
        unsafe { sys::rte_rcu_qsbr_thread_offline(self.table.counters(), self.number) };
    }
}

impl<'reader, K: HashKey, V: Send + Sync> IntoIterator for &'reader RcuReader<K, V> {
    type Item = (K, &'reader V);
    type IntoIter = vec::IntoIter<(K, &'reader V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: HashKey, V: Send + Sync> Drop for RcuReader<K, V> {
    fn drop(&mut self) {
        if self.table.entries.is_forked() {
            return;
        }
        self.offline();
        let mut state = self.table.state();
        // SAFETY: the reader is registered under this number, offline, and being dropped.
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
            // SAFETY: the value is a box that the table has given up, and no reader or writer is left that could refer
            // to it.
            drop(unsafe { Box::from_raw(retired.value.as_ptr()) });
        }
        let mut next = 0;
        while let Some((_, value)) = self.entries.step(&mut next) {
            // SAFETY: the table's data are boxes of values. The loop reaches each box once, and no reader or writer is
            // left that could refer to it.
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
