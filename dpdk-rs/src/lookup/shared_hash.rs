// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash tables that one thread changes while other threads look up.

use super::{
    HashBuilder, HashKey,
    hash::{BULK, Entries},
};
use crate::{CreateError, Eal, Full};
use core::{ffi::c_void, fmt, marker::PhantomData, ptr};
use dpdk_sys as sys;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    vec,
};

/// What can be a value of a shared table: plain bytes of any pattern (`bytemuck::Pod`), not longer than a pointer.
/// Look-ups copy the value, since its entry can be removed at any time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a shared hash table",
    label = "not plain bytes",
    note = "such a value is `bytemuck::Pod`, and not longer than a pointer: it is copied out while others change the table"
)]
pub trait SmallValue: bytemuck::Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<V: bytemuck::Pod + Send + Sync> SmallValue for V {}

/// The writing end of a shared hash table. A table has one writer, which cannot be cloned.
///
/// DPDK's lock makes readers wait during each change.
#[doc(alias = "RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY")]
pub struct HashWriter<K: HashKey, V: SmallValue> {
    table: Arc<Table<K>>,
    values: PhantomData<V>,
}

/// A reading end of a shared hash table. Another thread uses a clone, or a reference to this reader.
#[doc(alias = "RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY")]
pub struct HashReader<K: HashKey, V: SmallValue> {
    table: Arc<Table<K>>,
    values: PhantomData<V>,
}

struct Table<K: HashKey> {
    entries: Entries<K>,
    /// Held during a change, and while entries are listed: DPDK returns pointers to keys without holding its lock.
    unchanged: Mutex<()>,
}

impl<K: HashKey> Table<K> {
    fn unchanged(&self) -> MutexGuard<'_, ()> {
        self.unchanged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: HashKey, V: SmallValue> HashBuilder<K, V> {
    /// Creates a table that one thread changes while other threads look up.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, a number of entries that is not allowed, or a child
    /// process created by `fork`.
    #[doc(alias = "rte_hash_create")]
    #[allow(clippy::type_complexity, reason = "the two ends, as of a ring")]
    pub fn build_shared(self, eal: &Eal) -> Result<(HashWriter<K, V>, HashReader<K, V>), CreateError> {
        const { assert!(size_of::<V>() <= size_of::<*mut c_void>(), "a shared table's values fit in a pointer") };
        let entries = Entries::create(eal, &self, sys::RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY)?;
        let table = Arc::new(Table { entries, unchanged: Mutex::default() });
        let writer = HashWriter { table: Arc::clone(&table), values: PhantomData };
        Ok((writer, HashReader { table, values: PhantomData }))
    }
}

impl<K: HashKey, V: SmallValue> HashWriter<K, V> {
    /// Sets the value of a key, whether or not it already has one. A key whose bytes are all zero is first removed: for
    /// a moment readers do not find it.
    ///
    /// # Errors
    /// [`Full`], with the value, if the key is new and the table has no room for it.
    #[doc(alias = "rte_hash_add_key_data")]
    pub fn insert(&mut self, key: K, value: V) -> Result<(), Full<V>> {
        // DPDK mistakes its empty positions for entries of such a key, stops searching there, and would add a second
        // entry.
        if bytemuck::bytes_of(&key).iter().all(|byte| *byte == 0) {
            self.remove(&key);
        }
        let _held = self.table.unchanged();
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was created with a lock.
        if unsafe { self.table.entries.put(&key, pack(value)) } { Ok(()) } else { Err(Full(value)) }
    }

    /// Removes a key. Returns whether it was in the table.
    #[doc(alias = "rte_hash_del_key")]
    pub fn remove(&mut self, key: &K) -> bool {
        let _held = self.table.unchanged();
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was created with a lock.
        unsafe { self.table.entries.take(key) }
    }

    /// Another reader.
    #[must_use]
    pub fn reader(&self) -> HashReader<K, V> {
        HashReader { table: Arc::clone(&self.table), values: PhantomData }
    }
}

impl<K: HashKey, V: SmallValue> HashReader<K, V> {
    /// A copy of a key's value.
    #[doc(alias = "rte_hash_lookup_data")]
    #[must_use]
    pub fn get(&self, key: &K) -> Option<V> {
        self.table.entries.find(key).map(unpack)
    }

    /// Looks up all `keys`. Writes a copy of the value of `keys[i]`, or `None`, to `values[i]`. If the slices differ in
    /// length, the rest of the longer one is ignored.
    ///
    /// Returns how many keys were found.
    #[doc(alias = "rte_hash_lookup_bulk_data")]
    pub fn get_bulk(&self, keys: &[K], values: &mut [Option<V>]) -> usize {
        let mut hits = 0;
        for (keys, values) in keys.chunks(BULK).zip(values.chunks_mut(BULK)) {
            self.table.entries.find_bulk(keys, values, |data| {
                hits += 1;
                unpack(data)
            });
        }
        hits
    }

    /// Every key with a copy of its value at the time of this call, in no particular order. The call copies all entries
    /// before it returns, and the writer waits during that time: use it for statistics, not on the data path.
    #[doc(alias = "rte_hash_iterate")]
    #[must_use]
    pub fn iter(&self) -> vec::IntoIter<(K, V)> {
        let _held = self.table.unchanged();
        self.table.entries.list(unpack).into_iter()
    }

    /// The number of keys; the writer may change it at any time.
    #[doc(alias = "rte_hash_count")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.entries.len()
    }

    /// Whether there are no keys; the writer may change this at any time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: HashKey, V: SmallValue> IntoIterator for &HashReader<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: HashKey, V: SmallValue> Clone for HashReader<K, V> {
    fn clone(&self) -> Self {
        Self { table: Arc::clone(&self.table), values: PhantomData }
    }
}

impl<K: HashKey, V: SmallValue> fmt::Debug for HashWriter<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashWriter").field("len", &self.table.entries.len()).finish()
    }
}

impl<K: HashKey, V: SmallValue> fmt::Debug for HashReader<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashReader").field("len", &self.len()).finish()
    }
}

/// A value in the form that the table stores: a pointer that is never dereferenced.
fn pack<V: SmallValue>(value: V) -> *mut c_void {
    let mut word = [0; size_of::<usize>()];
    for (to, from) in word.iter_mut().zip(bytemuck::bytes_of(&value)) {
        *to = *from;
    }
    ptr::without_provenance_mut(usize::from_ne_bytes(word))
}

fn unpack<V: SmallValue>(data: *mut c_void) -> V {
    let word = data.addr().to_ne_bytes();
    let mut value = V::zeroed();
    for (to, from) in bytemuck::bytes_of_mut(&mut value).iter_mut().zip(word) {
        *to = from;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn values_are_unpacked_as_they_were_packed() {
        assert_eq!(unpack::<u64>(pack(0x0123_4567_89ab_cdef_u64)), 0x0123_4567_89ab_cdef);
        assert_eq!(unpack::<[u8; 3]>(pack([1_u8, 2, 255])), [1, 2, 255]);
        assert_eq!(unpack::<i16>(pack(-2_i16)), -2);
        unpack::<()>(pack(()));
    }
}
