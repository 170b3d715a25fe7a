// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools whose buffers are in memory of the program.

use super::{Mempool, MempoolBuilder, MempoolError, PrivateData};
use crate::{Eal, environment::Environment, memory::Owned};
use core::{ffi::c_void, ptr::NonNull};
use dpdk_sys as sys;

/// Buffers begin at a cache line where that is possible.
const LINE: usize = sys::RTE_CACHE_LINE_SIZE as usize;

impl<P: PrivateData> MempoolBuilder<P> {
    /// Creates the pool with the buffers of its mbufs in `memory`, such as a mapped file. Devices write received frames
    /// there. Each buffer begins at a multiple of 64 bytes ([`Self::data_room`] is rounded up to one, unless it is
    /// above 65,472) and has the usual headroom. The mbufs themselves are in DPDK's memory.
    ///
    /// The pool owns the memory. The memory is dropped after the pool has been freed, which is when no handle and no
    /// packet is left (see [`Mempool`]). A leaked packet keeps the memory for ever. A panic in the memory's drop is
    /// caught. Memory of DPDK keeps the EAL alive until it is dropped.
    ///
    /// Memory of DPDK ([`Heap::boxed_slice`](crate::memory::Heap::boxed_slice), [`Memzone`](crate::memory::Memzone))
    /// always works. Other memory works if every port of the process accesses memory through the processor, as virtual
    /// devices do. NICs reach such memory once it is registered ([`ExternalMemory`](crate::memory::ExternalMemory));
    /// `net_virtio_user` never does.
    ///
    /// Packets of the pool can be changed, chained, shared, split, copied and sent like others. But they cannot refer
    /// to other data: [`Packet::attach`](crate::Packet::attach), [`Packet::share`](crate::Packet::share) and
    /// [`Packet::split_off`](crate::Packet::split_off) cannot take mbufs from such a pool. A port receives into the
    /// pool only if its driver is known to leave the buffers to the mbufs
    /// ([`Port::configure`](crate::Port::configure)).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
    /// use dpdk_rs::{Mempool, memory::Memzone};
    ///
    /// let zone = Memzone::builder("frames", 1024 * 2176).build(&eal)?;
    /// let pool = Mempool::<()>::builder("pool").size(1023).build_in(&eal, zone).map_err(|(error, _zone)| error)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The memory, and why no pool was created in it: [`MempoolError::NoRoom`], [`MempoolError::Unreachable`],
    /// [`MempoolError::DriverInMemory`], or an error of [`Self::build`].
    ///
    /// # Panics
    /// If `as_mut` of the memory panics. The memory is dropped then.
    #[doc(alias = "rte_pktmbuf_pool_create_extbuf")]
    #[doc(alias = "RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF")]
    pub fn build_in<M>(self, eal: &Eal, memory: M) -> Result<Mempool<P>, (MempoolError, M)>
    where
        M: AsMut<[u8]> + Send + 'static,
    {
        let mut memory = Owned::new(memory);
        let bytes = memory.bytes();
        let environment = eal.environment();
        let private_len = Mempool::<P>::PRIVATE_LEN;
        let pool = self.areas(environment, bytes).and_then(|(areas, outside)| {
            let pool = self.create(environment, |name| {
                // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
                // call copies the name and reads as many areas as it is given. They lie in the memory, do not overlap,
                // and have room for one buffer or more for each mbuf of the pool.
                unsafe {
                    sys::dpdk_sys_pktmbuf_pool_create_extbuf(
                        name,
                        self.size,
                        self.cache_of_size(),
                        private_len,
                        self.data_room,
                        self.socket.get(),
                        areas.as_ptr(),
                        areas.len() as u32,
                    )
                }
            })?;
            Ok((pool, outside))
        });
        match pool {
            // SAFETY: the pool is new and was created with these numbers.
            Ok((pool, outside)) => Ok(unsafe {
                Mempool::of_own(pool, (self.size, self.data_room), Some(Box::new(memory)), outside, environment)
            }),
            Err(error) => Err((error, memory.into_inner())),
        }
    }

    /// The areas of the memory for the pool's buffers, each contiguous for devices, and whether any of them is not
    /// DPDK's.
    fn areas(
        &self,
        environment: &Environment,
        bytes: NonNull<[u8]>,
    ) -> Result<(Vec<sys::rte_pktmbuf_extmem>, bool), MempoolError> {
        if environment.is_forked() {
            return Err(MempoolError::Forked(self.name.clone()));
        }
        if self.driver.is_some() {
            return Err(MempoolError::DriverInMemory(self.name.clone()));
        }
        // At most 65,535, the largest value of DPDK's 16-bit length.
        let stride = usize::from(self.data_room).max(1).next_multiple_of(LINE).min(usize::from(u16::MAX));
        let start = bytes.cast::<u8>();
        let first = start.as_ptr().align_offset(LINE);
        let mut areas: Vec<sys::rte_pktmbuf_extmem> = Vec::new();
        let mut fits = 0;
        let mut outside = false;
        for number in 0.. {
            let at = first.saturating_add(stride.saturating_mul(number));
            if fits == self.size || at.saturating_add(stride) > bytes.len() {
                break;
            }
            // SAFETY: the buffer lies in the memory, as the comparison ensures.
            let buffer = unsafe { start.byte_add(at) }.as_ptr().cast::<c_void>();
            // SAFETY: the EAL is initialised, since there is an `Environment`. The call looks up addresses in a table
            // and does not dereference them.
            let iova = match unsafe { sys::dpdk_sys_mem_iova(buffer, stride) } {
                sys::DPDK_SYS_NOT_IN_A_ROW => continue,
                sys::DPDK_SYS_BAD_IOVA => {
                    outside = true;
                    // The device reads through the processor, so nobody uses the IOVA.
                    buffer.addr() as u64
                }
                iova => iova,
            };
            fits += 1;
            match areas.last_mut() {
                Some(area) if continues(area, buffer, iova) => area.buf_len += stride,
                _ => areas.push(sys::rte_pktmbuf_extmem {
                    buf_ptr: buffer,
                    buf_iova: iova,
                    buf_len: stride,
                    elt_size: stride as u16,
                }),
            }
        }
        if fits < self.size {
            let (name, size, data_room) = (self.name.clone(), self.size, self.data_room);
            return Err(MempoolError::NoRoom { name, size, data_room, fits });
        }
        let unreachable = if outside { environment.reads_only_dpdk_memory() } else { None };
        match unreachable {
            Some(port) => Err(MempoolError::Unreachable { name: self.name.clone(), port }),
            None => Ok((areas, outside)),
        }
    }
}

/// Whether a buffer directly follows an area.
fn continues(area: &sys::rte_pktmbuf_extmem, buffer: *mut c_void, iova: u64) -> bool {
    let end = area.buf_ptr.addr().wrapping_add(area.buf_len);
    end == buffer.addr() && area.buf_iova.wrapping_add(area.buf_len as u64) == iova
}
