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

/// DPDK puts `HT_EXT_` before the name of a ring, which has at most 28 bytes.
pub(super) const HASH: Kind = Kind { name: "hash table", call: "rte_hash_create", longest_name: 21 };

/// The number of keys of one `rte_hash_lookup_bulk_data` call.
pub(super) const BULK: usize = sys::RTE_HASH_LOOKUP_BULK_MAX as usize;

/// The longest key, in bytes.
const LONGEST_KEY: u32 = 1 << 16;

/// DPDK stores a key's data, which has the size of a pointer, before the key.
const DATA: u64 = 8;

/// The size of an entry is a multiple of this (`KEY_ALIGNMENT`).
const ENTRY_ALIGN: u64 = 16;

/// What can be a key: plain bytes without padding (`bytemuck::NoUninit`), at most 65,536 of them. Keys are compared
/// byte by byte.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a hash table",
    label = "not plain bytes",
    note = "a key is `bytemuck::NoUninit`: its bytes are compared, so it has no padding and no pointers",
    note = "for a struct of your own: `#[derive(Clone, Copy, bytemuck::NoUninit)]` and `#[repr(C)]`, \
            and a field for each gap, as in `reserved: [u8; 2]`",
    note = "for an `Ipv4Addr` or `Ipv6Addr` take its `to_bits()` or `octets()`"
)]
pub trait HashKey: bytemuck::NoUninit + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<K: bytemuck::NoUninit + Send + Sync> HashKey for K {}

/// A hash table from `K` to `V`, of fixed size. Two keys are equal if all their bytes are.
///
/// The table always has room for as many entries as it was built for: full buckets are extended. Any number of threads
/// may look up in a shared table; inserting and removing borrow it exclusively. [`HashBuilder::build_shared`] and
/// [`HashBuilder::build_rcu`] build tables that change during look-ups.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use bytemuck::NoUninit; // cargo add bytemuck --features derive
/// use dpdk_rs::{MacAddr, lookup::HashTable};
///
/// let mut ports = HashTable::<MacAddr, u16>::builder("macs").entries(1024).build(&eal)?;
/// ports.insert(MacAddr([2, 0, 0, 0, 0, 1]), 1)?;
/// assert_eq!(ports.get(&MacAddr([2, 0, 0, 0, 0, 1])), Some(&1));
///
/// /// A key of your own: without padding, so the padding byte becomes a field.
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
    /// The data of each entry is a box that the table owns.
    values: PhantomData<V>,
}

impl<K: HashKey, V> HashTable<K, V> {
    /// Starts the description of a table. `name` has at most 18 bytes and is unique among the hash tables of the
    /// process.
    pub fn builder(name: impl Into<String>) -> HashBuilder<K, V> {
        HashBuilder { name: name.into(), entries: 1024, socket: SocketId::ANY, types: PhantomData }
    }

    /// The value of a key.
    #[doc(alias = "rte_hash_lookup")]
    #[doc(alias = "rte_hash_lookup_data")]
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        let value = self.find(key)?;
        // SAFETY: the table's data are boxes of values, which live until they are removed. Removing borrows the table
        // exclusively, and the result borrows it.
        Some(unsafe { value.as_ref() })
    }

    /// A mutable reference to the value of a key.
    #[doc(alias = "rte_hash_lookup_data")]
    #[must_use]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let mut value = self.find(key)?;
        // SAFETY: the table's data are boxes of values, which live until they are removed. The result borrows the table
        // exclusively.
        Some(unsafe { value.as_mut() })
    }

    /// Looks up all `keys`. Writes the value of `keys[i]`, or `None`, to `values[i]`. If the slices differ in length,
    /// the rest of the longer one is ignored.
    ///
    /// Returns how many keys were found.
    #[doc(alias = "rte_hash_lookup_bulk")]
    #[doc(alias = "rte_hash_lookup_bulk_data")]
    pub fn get_bulk<'table>(&'table self, keys: &[K], values: &mut [Option<&'table V>]) -> usize {
        let mut hits = 0;
        for (keys, values) in keys.chunks(BULK).zip(values.chunks_mut(BULK)) {
            self.entries.find_bulk(keys, values, |data| {
                hits += 1;
                // SAFETY: the table's data are boxes of values, which live until they are removed. Removing borrows the
                // table exclusively, and the result borrows it.
                unsafe { &*data.cast::<V>() }
            });
        }
        hits
    }

    /// Sets the value of a key. Returns the previous value, if there was one.
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
        // SAFETY: the table did not take the box that was created a few lines above, so this function still owns it.
        Err(Full(*unsafe { Box::from_raw(value) }))
    }

    /// Removes a key. Returns its value, if the key was in the table.
    #[doc(alias = "rte_hash_del_key")]
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let value = self.find(key)?;
        // SAFETY: the table is borrowed exclusively.
        if !unsafe { self.entries.take(key) } {
            return None;
        }
        // SAFETY: the table's data are boxes of values, and the table has just given up this one.
        Some(*unsafe { Box::from_raw(value.as_ptr()) })
    }

    /// Removes the entries for which `keep` returns false, as [`std::collections::HashMap::retain`] does, for example
    /// expired ones. The keys of these entries are first collected in memory of the process.
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
            // SAFETY: the table's data are boxes of values, which live until they are removed. The table is borrowed
            // exclusively, and this reference ends before the next step.
            if !keep(&key, unsafe { &mut *value.cast::<V>() }) {
                others.push(key);
            }
        }
        // Not in the loop above: DPDK moves entries to the position of a removed one, so the iteration would miss some.
        for key in others {
            self.remove(&key);
        }
    }

    /// Iterates over every key with its value, in no particular order.
    #[doc(alias = "rte_hash_iterate")]
    #[must_use]
    pub const fn iter(&self) -> HashIter<'_, K, V> {
        HashIter { table: self, next: 0 }
    }

    /// The number of keys.
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
            // SAFETY: the table's data are boxes of values. The loop reaches each box once, and nobody looks them up
            // any more.
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

/// An iterator over every key of a table with its value, from [`HashTable::iter`].
pub struct HashIter<'table, K: HashKey, V> {
    table: &'table HashTable<K, V>,
    next: u32,
}

impl<'table, K: HashKey, V> Iterator for HashIter<'table, K, V> {
    type Item = (K, &'table V);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.table.entries.step(&mut self.next)?;
        // SAFETY: the table's data are boxes of values, which live until they are removed. Removing borrows the table
        // exclusively, and the result borrows it.
        Some((key, unsafe { &*value.cast::<V>() }))
    }
}

impl<K: HashKey, V> fmt::Debug for HashIter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashIter").field("next", &self.next).finish_non_exhaustive()
    }
}

/// The description of a [`HashTable`], from [`HashTable::builder`].
#[must_use = "a table is made by `build` or `build_shared`"]
pub struct HashBuilder<K: HashKey, V> {
    pub(super) name: String,
    pub(super) entries: u32,
    pub(super) socket: SocketId,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K: HashKey, V> HashBuilder<K, V> {
    /// The maximum number of entries, 8 or more. Default: 1,024. An entry takes the bytes of a key plus 8, rounded up
    /// to a multiple of 16, and all entries together take less than 4 GiB: for keys of up to 8 bytes the largest number
    /// is 268,435,455.
    pub const fn entries(mut self, entries: u32) -> Self {
        self.entries = entries;
        self
    }

    /// The NUMA node for the table's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Creates the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, a number of entries that is not allowed, or a child
    /// process created by `fork`.
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

/// Whether DPDK can address the last entry. It multiplies an entry's number, from 1 on, by its size in 32 bits: past
/// that limit two entries would be stored at the same address.
fn fits(entries: u32, key_len: u32) -> bool {
    let entry = (DATA + u64::from(key_len)).next_multiple_of(ENTRY_ALIGN);
    u64::from(entries).saturating_mul(entry) <= u64::from(u32::MAX)
}

/// DPDK's table from keys to data of the size of a pointer.
pub(super) struct Entries<K: HashKey> {
    table: Handle<sys::rte_hash>,
    keys: PhantomData<fn(K)>,
}

impl<K: HashKey> Entries<K> {
    /// Creates a table that extends full buckets, with `flags` in addition.
    pub(super) fn create<V>(eal: &Eal, builder: &HashBuilder<K, V>, flags: u32) -> Result<Self, CreateError> {
        let len = size_of::<K>();
        // DPDK computes the size of an entry in 32 bits. Nobody needs longer keys.
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
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies its arguments.
            let table = unsafe { sys::rte_hash_create(&raw const parameters) };
            // The call first searches for a table of this name, and leaves `ENOENT` of that search in `rte_errno`.
            if table.is_null() && Errno::last().get() == sys::ENOENT.cast_signed() {
                return refuse(sys::ENOMEM);
            }
            table
        })?;
        // SAFETY: the table is new, so nobody else frees it. Any thread may call `free`, since DPDK locks its list of
        // tables.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        Ok(Self { table, keys: PhantomData })
    }

    /// The data of a key.
    pub(super) fn find(&self, key: &K) -> Option<*mut c_void> {
        let mut data = ptr::null_mut();
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table lives as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. Whoever changes the table borrows it exclusively, or it was created with a lock.
        let position = unsafe { sys::rte_hash_lookup_data(self.table.as_ptr(), key, &raw mut data) };
        (position >= 0).then_some(data)
    }

    /// Looks up `keys`, at most [`BULK`] of them. Writes `value` of the data of `keys[i]` to `values[i]`. If the slices
    /// differ in length, the rest of the longer one is ignored.
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
        // SAFETY: the table lives as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. There are `count` pointers to keys, and room for `count` data. Whoever changes the table borrows
        // it exclusively, or it was created with a lock.
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

    /// Sets the data of a key. Returns false if the table is full.
    ///
    /// # Safety
    /// Nobody else changes the table at the same time. If somebody reads it, it was created with a lock.
    pub(super) unsafe fn put(&self, key: &K, data: *mut c_void) -> bool {
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table lives as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. The caller ensures that nobody else changes the table.
        unsafe { sys::rte_hash_add_key_data(self.table.as_ptr(), key, data) == 0 }
    }

    /// Removes a key. Returns whether it was in the table.
    ///
    /// # Safety
    /// Nobody else changes the table at the same time. If somebody reads it, it was created with a lock.
    pub(super) unsafe fn take(&self, key: &K) -> bool {
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table lives as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. The caller ensures that nobody else changes the table.
        unsafe { sys::rte_hash_del_key(self.table.as_ptr(), key) >= 0 }
    }

    /// Removes a key from a table whose readers use no lock. Returns its position, which stays in use until
    /// [`Self::free_position`].
    ///
    /// # Safety
    /// Nobody else changes the table at the same time, and it was created for readers without a lock.
    pub(super) unsafe fn take_position(&self, key: &K) -> Option<i32> {
        let key = ptr::from_ref(key).cast();
        // SAFETY: the table lives as long as its handle, and its keys are as long as a `K`, whose bytes are all
        // initialised. The caller ensures that nobody else changes the table.
        let position = unsafe { sys::rte_hash_del_key(self.table.as_ptr(), key) };
        (position >= 0).then_some(position)
    }

    /// Frees the position of a removed key.
    ///
    /// # Safety
    /// `position` is from [`Self::take_position`] and was not freed since, and no reader can still refer to it. Nobody
    /// else changes the table at the same time.
    pub(super) unsafe fn free_position(&self, position: i32) {
        // SAFETY: the table lives as long as its handle, and the caller passes the position of a removed key.
        unsafe { sys::rte_hash_free_key_with_position(self.table.as_ptr(), position) };
    }

    /// Whether this process is a child created by `fork`, which owns nothing in DPDK's memory.
    pub(super) fn is_forked(&self) -> bool {
        self.table.is_forked()
    }

    /// The entry at `next`, which then advances. Call it only while nobody changes the table: it reads the key from the
    /// table.
    pub(super) fn step(&self, next: &mut u32) -> Option<(K, *mut c_void)> {
        let (mut key, mut data) = (ptr::null(), ptr::null_mut());
        let next = ptr::from_mut(next);
        // SAFETY: the table lives as long as its handle, and the call writes to three variables that nobody else
        // uses.
        let position = unsafe { sys::rte_hash_iterate(self.table.as_ptr(), &raw mut key, &raw mut data, next) };
        if position < 0 {
            return None;
        }
        // SAFETY: the key was a `K` when it was inserted, and the table has kept its bytes, aligned or not.
        Some((unsafe { key.cast::<K>().read_unaligned() }, data))
    }

    /// Every key with `value` of its data. Call it only while nobody changes the table.
    pub(super) fn list<T>(&self, value: impl Fn(*mut c_void) -> T) -> Vec<(K, T)> {
        let mut next = 0;
        core::iter::from_fn(|| self.step(&mut next)).map(|(key, data)| (key, value(data))).collect()
    }

    pub(super) fn len(&self) -> usize {
        // SAFETY: the table lives as long as its handle, and the call reads the number of free positions.
        usize::try_from(unsafe { sys::rte_hash_count(self.table.as_ptr()) }).unwrap_or(0)
    }
}

/// # Safety
/// The table is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(table: NonNull<sys::rte_hash>) {
    // SAFETY: the caller promises a live table that nobody uses.
    unsafe { sys::rte_hash_free(table.as_ptr()) };
}
