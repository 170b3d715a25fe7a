// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash tables that one thread changes while others look up.

use super::{
    HashBuilder, HashKey,
    hash::{BULK, Entries},
};
use crate::{CreateError, Eal, Full};
use core::{ffi::c_void, fmt, marker::PhantomData, ptr};
use dpdk_sys as sys;
use std::sync::Arc;

/// What a shared table can hold as values: plain bytes of any pattern (`bytemuck::Pod`), not longer than a pointer. They are
/// copied out, since an entry can go at any time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a shared hash table",
    label = "not plain bytes",
    note = "such a value is `bytemuck::Pod`, and not longer than a pointer: it is copied out while others change the table"
)]
pub trait SmallValue: bytemuck::Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<V: bytemuck::Pod + Send + Sync> SmallValue for V {}

/// The end of a shared hash table that changes it. There is one, and it cannot be cloned.
///
/// Readers are kept waiting by DPDK's lock for as long as one change takes.
#[doc(alias = "RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY")]
pub struct HashWriter<K: HashKey, V: SmallValue> {
    entries: Arc<Entries<K>>,
    values: PhantomData<V>,
}

/// An end of a shared hash table that looks up. A clone is another one, for another thread, and a reference serves as well.
#[doc(alias = "RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY")]
pub struct HashReader<K: HashKey, V: SmallValue> {
    entries: Arc<Entries<K>>,
    values: PhantomData<V>,
}

impl<K: HashKey, V: SmallValue> HashBuilder<K, V> {
    /// Makes a table that one thread changes while others look up.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, a number of entries that is not allowed, a child made by `fork`.
    #[doc(alias = "rte_hash_create")]
    #[allow(clippy::type_complexity, reason = "the two ends, as of a ring")]
    pub fn build_shared(self, eal: &Eal) -> Result<(HashWriter<K, V>, HashReader<K, V>), CreateError> {
        const { assert!(size_of::<V>() <= size_of::<*mut c_void>(), "a shared table's values fit in a pointer") };
        let entries = Arc::new(Entries::create(eal, &self, sys::RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY)?);
        let writer = HashWriter { entries: Arc::clone(&entries), values: PhantomData };
        Ok((writer, HashReader { entries, values: PhantomData }))
    }
}

impl<K: HashKey, V: SmallValue> HashWriter<K, V> {
    /// Gives a key a value, also if it had another. A key whose bytes are all zeros is removed before: for a moment readers
    /// do not find it.
    ///
    /// # Errors
    /// [`Full`], with the value, if the key is new and the table has no room for it.
    #[doc(alias = "rte_hash_add_key_data")]
    pub fn insert(&mut self, key: K, value: V) -> Result<(), Full<V>> {
        // DPDK takes its empty places for entries of such a key, stops looking there, and would add a second one.
        if bytemuck::bytes_of(&key).iter().all(|byte| *byte == 0) {
            self.remove(&key);
        }
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was made with a lock.
        if unsafe { self.entries.put(&key, pack(value)) } { Ok(()) } else { Err(Full(value)) }
    }

    /// Removes a key; whether it was there.
    #[doc(alias = "rte_hash_del_key")]
    pub fn remove(&mut self, key: &K) -> bool {
        // SAFETY: there is one writer, which is borrowed exclusively, and the table was made with a lock.
        unsafe { self.entries.take(key) }
    }

    /// Another end that looks up.
    #[must_use]
    pub fn reader(&self) -> HashReader<K, V> {
        HashReader { entries: Arc::clone(&self.entries), values: PhantomData }
    }
}

impl<K: HashKey, V: SmallValue> HashReader<K, V> {
    /// A copy of a key's value.
    #[doc(alias = "rte_hash_lookup_data")]
    #[must_use]
    pub fn get(&self, key: &K) -> Option<V> {
        self.entries.find(key).map(unpack)
    }

    /// Looks up all `keys`; a copy of the value of each is put in its place in `values`, as far as both are long.
    ///
    /// Returns how many were found.
    #[doc(alias = "rte_hash_lookup_bulk_data")]
    pub fn get_bulk(&self, keys: &[K], values: &mut [Option<V>]) -> usize {
        let mut hits = 0;
        for (keys, values) in keys.chunks(BULK).zip(values.chunks_mut(BULK)) {
            self.entries.find_bulk(keys, values, |data| {
                hits += 1;
                unpack(data)
            });
        }
        hits
    }

    /// How many keys there are, as far as the writer leaves that as it is.
    #[doc(alias = "rte_hash_count")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys, as far as the writer leaves that as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: HashKey, V: SmallValue> Clone for HashReader<K, V> {
    fn clone(&self) -> Self {
        Self { entries: Arc::clone(&self.entries), values: PhantomData }
    }
}

impl<K: HashKey, V: SmallValue> fmt::Debug for HashWriter<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashWriter").field("len", &self.entries.len()).finish()
    }
}

impl<K: HashKey, V: SmallValue> fmt::Debug for HashReader<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashReader").field("len", &self.len()).finish()
    }
}

/// A value as what the table holds for each key: a pointer that leads nowhere.
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
