// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash tables that own their values.

use crate::{
    CreateError, Eal, Errno, Full, SocketId,
    object::{Handle, Kind, refuse},
};
use core::{
    array,
    ffi::c_void,
    fmt,
    marker::PhantomData,
    mem,
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::sync::Arc;

/// DPDK puts `HT_EXT_` before the name of a ring, of 28 bytes.
pub(super) const HASH: Kind = Kind { name: "hash table", call: "rte_hash_create", longest_name: 21 };

/// Keys of one call of `rte_hash_lookup_bulk_data`.
pub(super) const BULK: usize = sys::RTE_HASH_LOOKUP_BULK_MAX as usize;

/// The longest key, in bytes.
const LONGEST_KEY: u32 = 1 << 16;

/// In front of each key DPDK keeps its data, of a pointer's size.
const DATA: u64 = 8;

/// What the size of an entry is a multiple of, `KEY_ALIGNMENT`.
const ENTRY_ALIGN: u64 = 16;

/// What can be a key: plain bytes without padding (`bytemuck::NoUninit`), which are compared one by one; at most
/// 65,536 of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a hash table",
    label = "not plain bytes",
    note = "a key is `bytemuck::NoUninit`: its bytes are compared, so it has no padding and no pointers",
    note = "for a struct of your own: `#[derive(Clone, Copy, bytemuck::NoUninit)]` and `#[repr(C)]`",
    note = "for an `Ipv4Addr` or `Ipv6Addr` take its `to_bits()` or `octets()`"
)]
pub trait HashKey: bytemuck::NoUninit + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<K: bytemuck::NoUninit + Send + Sync> HashKey for K {}

/// A hash table from `K` to `V`, of fixed size. Keys are equal if all their bytes are.
///
/// It holds as many entries as it was made for: buckets that are full get more room. Whoever looks up may do so on any
/// number of threads; inserting and removing need the table for themselves. For changes while others look up there is
/// [`HashBuilder::build_shared`].
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
/// use bytemuck::NoUninit; // cargo add bytemuck --features derive
/// use dpdk_rs::{MacAddr, lookup::HashTable};
///
/// let mut ports = HashTable::<MacAddr, u16>::builder("macs").entries(1024).build(&eal)?;
/// ports.insert(MacAddr([2, 0, 0, 0, 0, 1]), 1)?;
/// assert_eq!(ports.get(&MacAddr([2, 0, 0, 0, 0, 1])), Some(&1));
///
/// /// A key of your own: no padding, so a byte that is one otherwise gets a name.
/// #[derive(Clone, Copy, NoUninit)]
/// #[repr(C)]
/// struct Flow {
///     addresses: [u32; 2],
///     ports: [u16; 2],
///     protocol: u16,
///     unused: u16,
/// }
/// let flows = HashTable::<Flow, String>::builder("flows").build(&eal)?; // values are of any type
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_hash")]
pub struct HashTable<K: HashKey, V> {
    entries: Entries<K>,
    /// Each entry's data is a box, which the table owns.
    values: PhantomData<V>,
}

impl<K: HashKey, V> HashTable<K, V> {
    /// Starts to describe a table. The name is the process's own, of at most 21 bytes: two tables cannot share one.
    pub fn builder(name: impl Into<String>) -> HashBuilder<K, V> {
        HashBuilder { name: name.into(), entries: 1024, socket: SocketId::ANY, types: PhantomData }
    }

    /// The value of a key.
    #[doc(alias = "rte_hash_lookup")]
    #[doc(alias = "rte_hash_lookup_data")]
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        let value = self.find(key)?;
        // SAFETY: the table's data are boxes of values, which live until they are removed; that needs the table, which is
        // borrowed as long as the result.
        Some(unsafe { value.as_ref() })
    }

    /// The value of a key, to be changed.
    #[doc(alias = "rte_hash_lookup_data")]
    #[must_use]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let mut value = self.find(key)?;
        // SAFETY: the table's data are boxes of values, which live until they are removed; that needs the table, which is
        // borrowed exclusively as long as the result.
        Some(unsafe { value.as_mut() })
    }

    /// Looks up all `keys`; the value of each is put in its place in `values`, as far as both are long.
    ///
    /// Returns how many were found.
    #[doc(alias = "rte_hash_lookup_bulk")]
    #[doc(alias = "rte_hash_lookup_bulk_data")]
    pub fn get_bulk<'table>(&'table self, keys: &[K], values: &mut [Option<&'table V>]) -> usize {
        let mut hits = 0;
        for (keys, values) in keys.chunks(BULK).zip(values.chunks_mut(BULK)) {
            self.entries.find_bulk(keys, values, |data| {
                hits += 1;
                // SAFETY: the table's data are boxes of values, which live until they are removed; that needs the table,
                // which is borrowed as long as the result.
                unsafe { &*data.cast::<V>() }
            });
        }
        hits
    }

    /// Gives a key a value; the former one, if it had one.
    ///
    /// # Errors
    /// [`Full`], with the value, if the key is new and the table has no room for it.
    #[doc(alias = "rte_hash_add_key_data")]
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<V>> {
        if let Some(former) = self.get_mut(&key) {
            return Ok(Some(mem::replace(former, value)));
        }
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the table is borrowed exclusively.
        if unsafe { self.entries.put(&key, value.cast()) } {
            return Ok(None);
        }
        // SAFETY: the table did not take the box of a few lines before, so it is still ours.
        Err(Full(*unsafe { Box::from_raw(value) }))
    }

    /// Removes a key; its value, if it was there.
    #[doc(alias = "rte_hash_del_key")]
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let value = self.find(key)?;
        // SAFETY: the table is borrowed exclusively.
        if !unsafe { self.entries.take(key) } {
            return None;
        }
        // SAFETY: the table's data are boxes of values, and it has just given this one up.
        Some(*unsafe { Box::from_raw(value.as_ptr()) })
    }

    /// Removes the entries for which `keep` is false, as [`std::collections::HashMap::retain`] does: those that have aged, for
    /// example. What it removes is listed first, in memory of the process.
    ///
    /// ```
    /// use dpdk_rs::{Tsc, lookup::HashTable};
    ///
    /// /// Ends the flows that had no packet for `limit` cycles, and gives their ports back.
    /// fn age(flows: &mut HashTable<u32, (Tsc, u16)>, now: Tsc, limit: u64, free_ports: &mut Vec<u16>) {
    ///     flows.retain(|_, (last, port)| {
    ///         let fresh = now.since(*last) <= limit;
    ///         if !fresh {
    ///             free_ports.push(*port);
    ///         }
    ///         fresh
    ///     });
    /// }
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let (mut next, mut others) = (0, Vec::new());
        while let Some((key, value)) = self.entries.step(&mut next) {
            // SAFETY: the table's data are boxes of values, which live until they are removed; the table is borrowed
            // exclusively, and this reference ends before the next step.
            if !keep(&key, unsafe { &mut *value.cast::<V>() }) {
                others.push(key);
            }
        }
        // Not in the loop above: DPDK moves entries into the place of one that is removed, so steps would miss some.
        for key in others {
            self.remove(&key);
        }
    }

    /// Every key with its value, in no order that would mean something.
    #[doc(alias = "rte_hash_iterate")]
    #[must_use]
    pub const fn iter(&self) -> HashIter<'_, K, V> {
        HashIter { table: self, next: 0 }
    }

    /// How many keys there are.
    #[doc(alias = "rte_hash_count")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn find(&self, key: &K) -> Option<NonNull<V>> {
        NonNull::new(self.entries.find(key)?.cast())
    }
}

impl<K: HashKey, V> Drop for HashTable<K, V> {
    fn drop(&mut self) {
        if self.entries.table.is_forked() {
            return;
        }
        let mut next = 0;
        while let Some((_, value)) = self.entries.step(&mut next) {
            // SAFETY: the table's data are boxes of values, each of which is come to once, and nobody looks them up any
            // more.
            drop(unsafe { Box::from_raw(value.cast::<V>()) });
        }
    }
}

impl<K: HashKey + fmt::Debug, V: fmt::Debug> fmt::Debug for HashTable<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<'table, K: HashKey, V> IntoIterator for &'table HashTable<K, V> {
    type Item = (K, &'table V);
    type IntoIter = HashIter<'table, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Every key of a table with its value; made by [`HashTable::iter`].
pub struct HashIter<'table, K: HashKey, V> {
    table: &'table HashTable<K, V>,
    next: u32,
}

impl<'table, K: HashKey, V> Iterator for HashIter<'table, K, V> {
    type Item = (K, &'table V);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.table.entries.step(&mut self.next)?;
        // SAFETY: the table's data are boxes of values, which live until they are removed; that needs the table, which is
        // borrowed as long as the result.
        Some((key, unsafe { &*value.cast::<V>() }))
    }
}

impl<K: HashKey, V> fmt::Debug for HashIter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashIter").field("next", &self.next).finish_non_exhaustive()
    }
}

/// Describes a [`HashTable`]; made by [`HashTable::builder`].
#[must_use = "a table is made by `build` or `build_shared`"]
pub struct HashBuilder<K: HashKey, V> {
    pub(super) name: String,
    pub(super) entries: u32,
    pub(super) socket: SocketId,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K: HashKey, V> HashBuilder<K, V> {
    /// How many entries fit in, 8 or more; 1,024 unless set. All entries, of a key and 8 bytes each, rounded up to a multiple of
    /// 16 bytes, take less than 4 GiB: so at most 268,435,455 with keys of up to 8 bytes.
    pub const fn entries(mut self, entries: u32) -> Self {
        self.entries = entries;
        self
    }

    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Makes the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, a number of entries that is not allowed, a child made by `fork`.
    #[doc(alias = "rte_hash_create")]
    pub fn build(self, eal: &Eal) -> Result<HashTable<K, V>, CreateError> {
        Ok(HashTable { entries: Entries::create(eal, &self, 0)?, values: PhantomData })
    }
}

impl<K: HashKey, V> fmt::Debug for HashBuilder<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashBuilder").field("name", &self.name).field("entries", &self.entries).finish_non_exhaustive()
    }
}

/// Whether DPDK finds the last entry: it multiplies an entry's number, from 1 on, by its size in 32 bits. Behind that two entries
/// are in the same place.
fn fits(entries: u32, key_len: u32) -> bool {
    let entry = (DATA + u64::from(key_len)).next_multiple_of(ENTRY_ALIGN);
    u64::from(entries).saturating_mul(entry) <= u64::from(u32::MAX)
}

/// A table of DPDK's from keys to data of the size of a pointer.
pub(super) struct Entries<K: HashKey> {
    table: Handle<sys::rte_hash>,
    keys: PhantomData<fn(K)>,
}

impl<K: HashKey> Entries<K> {
    /// A table with extra buckets for those that are full, and with these flags besides.
    pub(super) fn create<V>(eal: &Eal, builder: &HashBuilder<K, V>, flags: u32) -> Result<Self, CreateError> {
        let len = size_of::<K>();
        // DPDK works out the size of an entry in 32 bits. Longer keys are no use case.
        let Some(key_len) = u32::try_from(len).ok().filter(|len| *len <= LONGEST_KEY && fits(builder.entries, *len))
        else {
            return Err(HASH.too_large(&builder.name, builder.entries as usize, len));
        };
        let environment = eal.environment();
        let table = HASH.create(environment, &builder.name, |name| {
            let parameters = sys::rte_hash_parameters {
                name,
                entries: builder.entries,
                key_len,
                socket_id: builder.socket.get(),
                extra_flag: (flags | sys::RTE_HASH_EXTRA_FLAGS_EXT_TABLE) as u8,
                ..sys::rte_hash_parameters::default()
            };
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies what it is given.
            let table = unsafe { sys::rte_hash_create(&raw const parameters) };
            // It leaves the answer to its own question whether there is one of this name.
            if table.is_null() && Errno::last().get() == sys::ENOENT.cast_signed() {
                return refuse(sys::ENOMEM);
            }
            table
        })?;
        // SAFETY: the table is new, so nobody else frees it; `free` may be called on any thread, since DPDK locks its list.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        Ok(Self { table, keys: PhantomData })
    }

    /// A key's data.
    pub(super) fn find(&self, key: &K) -> Option<*mut c_void> {
        let mut data = ptr::null_mut();
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table is live as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. Whoever changes it has it exclusively, or it was made with a lock.
        let position = unsafe { sys::rte_hash_lookup_data(self.table.as_ptr(), key, &raw mut data) };
        (position >= 0).then_some(data)
    }

    /// Looks up `keys`, at most [`BULK`] of them; what `value` makes of the data of each is put in its place in `values`, as
    /// far as both are long.
    pub(super) fn find_bulk<T>(&self, keys: &[K], values: &mut [Option<T>], mut value: impl FnMut(*mut c_void) -> T) {
        let count = keys.len().min(values.len()).min(BULK);
        let mut pointers: [*const c_void; BULK] = array::from_fn(|place| match keys.get(place) {
            Some(key) => ptr::from_ref(key).cast(),
            None => ptr::null(),
        });
        let mut data = [ptr::null_mut(); BULK];
        let mut hits = 0_u64;
        if count == 0 {
            return;
        }
        // SAFETY: the table is live as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. There are `count` pointers to keys, and room for as many data. Whoever changes the table has it
        // exclusively, or it was made with a lock.
        unsafe {
            sys::rte_hash_lookup_bulk_data(
                self.table.as_ptr(),
                pointers.as_mut_ptr(),
                count as u32,
                &raw mut hits,
                data.as_mut_ptr(),
            )
        };
        for (place, (to, data)) in values.iter_mut().zip(data).take(count).enumerate() {
            *to = (hits >> place & 1 == 1).then(|| value(data));
        }
    }

    /// Gives a key its data; false if the table is full.
    ///
    /// # Safety
    /// Nobody else changes the table at the same time; if somebody reads it, it was made with a lock.
    pub(super) unsafe fn put(&self, key: &K, data: *mut c_void) -> bool {
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table is live as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. The caller sees to it that nobody else changes it.
        unsafe { sys::rte_hash_add_key_data(self.table.as_ptr(), key, data) == 0 }
    }

    /// Removes a key; whether it was there.
    ///
    /// # Safety
    /// Nobody else changes the table at the same time; if somebody reads it, it was made with a lock.
    pub(super) unsafe fn take(&self, key: &K) -> bool {
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table is live as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. The caller sees to it that nobody else changes it.
        unsafe { sys::rte_hash_del_key(self.table.as_ptr(), key) >= 0 }
    }

    /// Removes a key from a table whose readers have no lock; its place, which stays taken.
    ///
    /// # Safety
    /// Nobody else changes the table at the same time, and it was made for readers without a lock.
    pub(super) unsafe fn take_position(&self, key: &K) -> Option<i32> {
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table is live as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. The caller sees to it that nobody else changes it.
        let position = unsafe { sys::rte_hash_del_key(self.table.as_ptr(), key) };
        (position >= 0).then_some(position)
    }

    /// Frees the place of a key that was removed.
    ///
    /// # Safety
    /// `position` is from [`Self::take_position`], was not freed since, and no reader can be looking at it any more. Nobody else
    /// changes the table at the same time.
    pub(super) unsafe fn free_position(&self, position: i32) {
        // SAFETY: the table is live as long as its handle, and the caller promises a place that was given up.
        unsafe { sys::rte_hash_free_key_with_position(self.table.as_ptr(), position) };
    }

    /// Whether this is a child made by `fork`, to which nothing in DPDK's memory belongs.
    pub(super) fn is_forked(&self) -> bool {
        self.table.is_forked()
    }

    /// The entry at `next`, which goes on to the one behind. Only while nobody changes the table: the key is read from it.
    pub(super) fn step(&self, next: &mut u32) -> Option<(K, *mut c_void)> {
        let (mut key, mut data) = (ptr::null(), ptr::null_mut());
        let next = ptr::from_mut(next);
        // SAFETY: the table is live as long as its handle; the call writes to three variables of this function's callers.
        let position = unsafe { sys::rte_hash_iterate(self.table.as_ptr(), &raw mut key, &raw mut data, next) };
        if position < 0 {
            return None;
        }
        // SAFETY: the key was a `K` when it was inserted, and the table has kept its bytes, aligned or not.
        Some((unsafe { key.cast::<K>().read_unaligned() }, data))
    }

    pub(super) fn len(&self) -> usize {
        // SAFETY: the table is live as long as its handle; the call reads how many places are free.
        usize::try_from(unsafe { sys::rte_hash_count(self.table.as_ptr()) }).unwrap_or(0)
    }
}

/// # Safety
/// The table is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(table: NonNull<sys::rte_hash>) {
    // SAFETY: the caller promises a live table that nobody uses.
    unsafe { sys::rte_hash_free(table.as_ptr()) };
}
