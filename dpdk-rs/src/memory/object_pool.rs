// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools of values that are created once and lent repeatedly.

use crate::{
    CreateError, Eal, SocketId,
    callback::discard,
    mempool::MOST_OBJECTS,
    object::{Handle, Kind, refuse},
};
use core::{
    any::Any,
    ffi::c_void,
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread,
};

/// `RTE_MEMPOOL_NAMESIZE` less the NUL byte.
const POOL: Kind = Kind { name: "object pool", call: "rte_mempool_create", longest_name: 25 };

/// The payload of a panic.
type Payload = Box<dyn Any + Send>;

/// A pool of values of type `T`, for values that are needed often and are costly to create. The pool creates all values
/// when it is built, and drops them when it is dropped. In between it lends them; a returned value keeps the state in
/// which it was returned.
///
/// The pool is `Sync` if its values are `Send`: any thread may take a value, and only one thread has it at a time. Each
/// lcore caches some values for itself ([`ObjectPoolBuilder::cache`]); other threads cannot take these.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::memory::ObjectPool;
///
/// let buffers = ObjectPool::builder("buffers").size(255).cache(0).build(&eal, |_| Vec::<u8>::with_capacity(2048))?;
/// let mut buffer = buffers.get()?;
/// buffer.clear();
/// buffer.extend_from_slice(b"hello");
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_mempool")]
pub struct ObjectPool<T> {
    pool: Handle<sys::rte_mempool>,
    size: u32,
    /// The values, which the pool owns.
    values: PhantomData<T>,
    /// A user may leave a reference in a value for the next user, so `T` must not shrink to a type with a shorter
    /// lifetime.
    users: PhantomData<fn(T) -> T>,
}

// SAFETY: through a shared pool a thread reaches only the values that it has taken, each of which then belongs to it
// alone. So values cross threads, but are not shared.
unsafe impl<T: Send> Sync for ObjectPool<T> {}

/// All values of the pool are lent, or in the caches of other lcores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pool is exhausted: return values first, or make the pool larger")]
pub struct Exhausted;

impl<T> ObjectPool<T> {
    /// The size of a value in bytes, at least 1: DPDK has no objects of 0 bytes.
    const LEN: u32 = {
        assert!(
            align_of::<T>() <= sys::RTE_CACHE_LINE_SIZE as usize,
            "a pool's values are aligned to a cache line at most"
        );
        assert!(size_of::<T>() <= 1 << 30, "a pool's values are at most 1 GiB long");
        if size_of::<T>() == 0 { 1 } else { size_of::<T>() as u32 }
    };

    /// Starts the description of a pool. `name` has at most 22 bytes and is unique among the pools of the process.
    pub fn builder(name: impl Into<String>) -> ObjectPoolBuilder<T> {
        ObjectPoolBuilder { name: name.into(), size: 1023, cache: 0, socket: SocketId::ANY, values: PhantomData }
    }

    /// Takes a value until the result is dropped. It has the state in which its last user left it.
    ///
    /// # Errors
    /// [`Exhausted`] if no value is available.
    #[doc(alias = "rte_mempool_get")]
    #[inline]
    pub fn get(&self) -> Result<Object<'_, T>, Exhausted> {
        let mut object = ptr::null_mut();
        // SAFETY: the pool lives as long as its handle, and DPDK lets any thread take an object.
        let result = unsafe { sys::rte_mempool_get(self.pool.as_ptr(), &raw mut object) };
        match NonNull::new(object) {
            Some(value) if result == 0 => Ok(Object { value: value.cast(), pool: self }),
            _ => Err(Exhausted),
        }
    }

    /// The number of values in the pool, lent or not.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size as usize
    }

    /// The number of values that are not lent, including those in caches of lcores. Slow: for tests and statistics.
    #[doc(alias = "rte_mempool_avail_count")]
    #[must_use]
    pub fn available(&self) -> usize {
        // SAFETY: the pool is live as long as its handle; the call only counts.
        unsafe { sys::rte_mempool_avail_count(self.pool.as_ptr()) as usize }
    }
}

impl<T> Drop for ObjectPool<T> {
    fn drop(&mut self) {
        if self.pool.is_forked() {
            return;
        }
        // Includes values that were never returned: whoever had them borrowed the pool.
        // SAFETY: `build` has filled all objects, and nobody has one any more.
        match unsafe { clear::<T>(&self.pool, self.size()) } {
            Some(payload) if !thread::panicking() => panic::resume_unwind(payload),
            payload => discard(payload),
        }
    }
}

impl<T> fmt::Debug for ObjectPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectPool").field("size", &self.size()).field("available", &self.available()).finish()
    }
}

/// Creates every value of a new pool, in order.
fn fill<T>(pool: &Handle<sys::rte_mempool>, make: &mut dyn FnMut(usize) -> T) {
    let mut making = Making { make, made: 0, panic: None };
    let state = (&raw mut making).cast();
    // SAFETY: the pool lives as long as its handle, and its objects have room for a `T`. `make_one` is called once for
    // each of them, with a pointer to `making`, which is of the type that it expects and outlives the call.
    unsafe { sys::rte_mempool_obj_iter(pool.as_ptr(), Some(make_one::<T>), state) };
    if let Some(payload) = making.panic.take() {
        let made = making.made;
        // SAFETY: `made` objects are filled, and nobody has one.
        discard(unsafe { clear::<T>(pool, made) });
        panic::resume_unwind(payload);
    }
}

/// Drops the values in the first `count` objects. Returns the payload of the first panic.
///
/// # Safety
/// The first `count` objects are filled, in the order of `fill`, and nobody else has or drops one of the values.
unsafe fn clear<T>(pool: &Handle<sys::rte_mempool>, count: usize) -> Option<Payload> {
    let mut dropping = Dropping { left: count, panic: None };
    let state = (&raw mut dropping).cast();
    // SAFETY: the pool lives as long as its handle, and the caller promises values in its first `count` objects.
    // `drop_one` is called once for each object, with a pointer to `dropping`, which is of the type that it expects and
    // outlives the call.
    unsafe { sys::rte_mempool_obj_iter(pool.as_ptr(), Some(drop_one::<T>), state) };
    dropping.panic
}

/// The state of [`fill`].
struct Making<'a, T> {
    make: &'a mut dyn FnMut(usize) -> T,
    made: usize,
    panic: Option<Payload>,
}

/// Writes a value into an object, unless an earlier value could not be created.
///
/// # Safety
/// `state` points to a `Making<T>`, and `object` to uninitialised room for a `T`.
unsafe extern "C" fn make_one<T>(_: *mut sys::rte_mempool, state: *mut c_void, object: *mut c_void, _: u32) {
    // SAFETY: the caller promises a pointer to this type, which it does not use during the call.
    let state = unsafe { &mut *state.cast::<Making<'_, T>>() };
    if state.panic.is_some() {
        return;
    }
    match panic::catch_unwind(AssertUnwindSafe(|| (state.make)(state.made))) {
        Ok(value) => {
            // SAFETY: the caller promises room for a `T`, and objects are aligned to a cache line, which `LEN` checks
            // to be enough for a `T`.
            unsafe { object.cast::<T>().write(value) };
            state.made += 1;
        }
        Err(payload) => state.panic = Some(payload),
    }
}

/// The state of [`clear`].
struct Dropping {
    left: usize,
    panic: Option<Payload>,
}

/// Drops the value in an object, unless the last value was already dropped.
///
/// # Safety
/// `state` points to a `Dropping`. If `left` is not 0, `object` is a `T` that nobody else drops.
unsafe extern "C" fn drop_one<T>(_: *mut sys::rte_mempool, state: *mut c_void, object: *mut c_void, _: u32) {
    // SAFETY: the caller promises a pointer to this type, which it does not use during the call.
    let state = unsafe { &mut *state.cast::<Dropping>() };
    if state.left == 0 {
        return;
    }
    state.left -= 1;
    // SAFETY: the caller promises a `T` that nobody else drops.
    let dropped = panic::catch_unwind(AssertUnwindSafe(|| unsafe { object.cast::<T>().drop_in_place() }));
    match dropped {
        Err(payload) if state.panic.is_none() => state.panic = Some(payload),
        Err(payload) => discard(payload),
        Ok(()) => (),
    }
}

/// A value of an [`ObjectPool`], lent until this object is dropped.
#[doc(alias = "rte_mempool_put")]
pub struct Object<'pool, T> {
    value: NonNull<T>,
    pool: &'pool ObjectPool<T>,
}

// SAFETY: an object is the only one with access to its value, and any thread may return it.
unsafe impl<T: Send> Send for Object<'_, T> {}
// SAFETY: a shared object gives no more than a shared value.
unsafe impl<T: Sync> Sync for Object<'_, T> {}

impl<T> Deref for Object<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the pool created the value, and drops it only when no object borrows from the pool. Nobody else has
        // the value.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for Object<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the pool created the value, and drops it only when no object borrows from the pool. Nobody else has
        // the value, and this object is borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T> Drop for Object<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the object was taken from this pool, which lives as long as it is borrowed, and is not used after its
        // drop. DPDK lets any thread return it.
        unsafe { sys::rte_mempool_put(self.pool.pool.as_ptr(), self.value.as_ptr().cast()) };
    }
}

impl<T: fmt::Debug> fmt::Debug for Object<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The description of an [`ObjectPool`], from [`ObjectPool::builder`].
#[must_use = "a pool is made by `build`"]
pub struct ObjectPoolBuilder<T> {
    name: String,
    size: u32,
    cache: u32,
    socket: SocketId,
    values: PhantomData<fn() -> T>,
}

impl<T> ObjectPoolBuilder<T> {
    /// The number of values, at most 2^27. Default: 1,023. One less than a power of two uses memory best.
    pub const fn size(mut self, values: u32) -> Self {
        self.size = values;
        self
    }

    /// The number of values in each lcore's cache, at most 512 and at most two thirds of all values. Default: none.
    pub const fn cache(mut self, values: u32) -> Self {
        self.cache = values;
        self
    }

    /// The NUMA node for the pool's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Creates the pool and its values. Calls `make` with the index of each value, from 0.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, a cache that is too large, or a child process created by
    /// `fork`.
    ///
    /// # Panics
    /// If `make` panics. The values before are dropped, and the pool is freed.
    #[doc(alias = "rte_mempool_create")]
    #[doc(alias = "rte_mempool_obj_iter")]
    pub fn build(self, eal: &Eal, mut make: impl FnMut(usize) -> T) -> Result<ObjectPool<T>, CreateError> {
        let environment = eal.environment();
        let pool = POOL.create(environment, &self.name, |name| {
            if self.size > MOST_OBJECTS {
                return refuse(sys::EINVAL);
            }
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies the name, and calls nothing back.
            unsafe {
                sys::rte_mempool_create(
                    name,
                    self.size,
                    ObjectPool::<T>::LEN,
                    self.cache,
                    0,
                    None,
                    ptr::null_mut(),
                    None,
                    ptr::null_mut(),
                    self.socket.get(),
                    0,
                )
            }
        })?;
        // SAFETY: the pool is new, so nobody else frees it. Any thread may call `free`, since DPDK locks its list of
        // pools.
        let pool = unsafe { Handle::new(pool, free, Arc::clone(environment)) };
        // A panic frees the pool: no `ObjectPool` exists yet.
        fill(&pool, &mut make);
        Ok(ObjectPool { pool, size: self.size, values: PhantomData, users: PhantomData })
    }
}

impl<T> fmt::Debug for ObjectPoolBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectPoolBuilder").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

/// # Safety
/// The pool is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(pool: NonNull<sys::rte_mempool>) {
    // SAFETY: the caller promises a live pool that nobody uses.
    unsafe { sys::rte_mempool_free(pool.as_ptr()) };
}
