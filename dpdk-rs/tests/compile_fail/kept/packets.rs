// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about packets, kept.
#![allow(dead_code)]

use dpdk_rs::{
    Burst, DynField, Eal, Mempool, Packet, PacketError, Segments, Tsc, TxBuffer, TxQueue, TxRequest,
    fragment::{FragmentTable, Fragmenter},
    offload::Segmenter,
    reorder::Reorder,
};
use std::sync::Arc;

fn main() {}

fn packet_after_push(mut burst: Burst, packet: Packet) -> usize {
    burst.push(packet).unwrap();
    burst[0].len()
}

fn packet_after_buffer(buffer: &mut TxBuffer, packet: Packet) -> usize {
    let len = packet.len();
    buffer.push(packet);
    len
}

fn packet_after_prepare(tx: &mut TxQueue, mut packet: Packet) {
    let mut burst = tx.prepare::<_, 32>();
    packet.trim(20).unwrap();
    burst.push(packet, &TxRequest::ipv4(14, 20).ip_checksum()).unwrap();
    burst.send();
}

fn dynamic_field_with_pointer(eal: &Eal) {
    DynField::<u64>::register(eal, "example").unwrap();
}

fn packet_after_chain(head: &mut Packet, tail: Packet) -> usize {
    match head.chain(tail) {
        Ok(()) => head.len(),
        Err(tail) => tail.len(),
    }
}

fn packet_after_drop(packet: Packet) -> usize {
    let len = packet.len();
    drop(packet);
    len
}

fn hole_05_sent_data_is_written(tx: &mut TxQueue, mut burst: Burst) {
    let data = burst[0].data_mut().unwrap();
    data.fill(0);
    tx.tx(&mut burst);
}

fn hole_08_packet_cloned(packet: Packet, pool: &Mempool) -> [Packet; 2] {
    [packet.copy(pool).unwrap(), packet]
}

fn hole_08_packet_of_a_pointer(pool: &Mempool) -> Packet {
    pool.alloc().unwrap()
}

fn hole_12_raw_mbuf(packet: &Packet) -> (usize, bool) {
    (packet.segment_count(), packet.is_shared())
}

fn data_mutable_twice(packet: &mut Packet) {
    let (first, second) = packet.data_mut().unwrap().split_at_mut(32);
    first.swap_with_slice(second);
}

fn data_kept_over_write(packet: &mut Packet) -> u8 {
    let first = packet.data()[0];
    packet.data_mut().unwrap().fill(0);
    first
}

fn data_kept_over_drop(packet: Packet) -> u8 {
    let first = packet.data()[0];
    drop(packet);
    first
}

fn data_kept_over_append(packet: &mut Packet) -> usize {
    packet.append(4).unwrap().fill(0);
    packet.data().len()
}

fn data_kept_over_adj(packet: &mut Packet) -> u8 {
    packet.adj(14).unwrap();
    packet.data()[0]
}

fn data_outlives_packet<'a>(pool: &'a Mempool) -> Vec<u8> {
    let packet = pool.alloc().unwrap();
    packet.data().to_vec()
}

fn data_written_through_shared_reference(packet: &mut Packet) {
    packet.data_mut().unwrap().fill(0);
}

fn segments_kept_over_trim(packet: &mut Packet) -> usize {
    packet.trim(4).unwrap();
    packet.segments().count()
}

fn segments_kept_over_chain(packet: &mut Packet, tail: Packet) -> usize {
    packet.chain(tail).unwrap();
    packet.segments().count()
}

fn segments_outlive_packet<'a>(packet: &'a Packet) -> Segments<'a> {
    packet.segments()
}

fn segments_mut_cloned(packet: &mut Packet) {
    let mut segments = packet.segments_mut().unwrap();
    let (first, second) = (segments.next().unwrap(), segments.next().unwrap());
    first.swap_with_slice(second);
}

fn segment_kept_over_share(packet: &mut Packet, pool: &Mempool) {
    let segment = packet.segments_mut().unwrap().next().unwrap();
    segment.fill(0);
    let _share = packet.share(pool);
}

fn shared_through_shared_reference(packet: &mut Packet, pool: &Mempool) -> Option<Packet> {
    packet.share(pool)
}

fn share_of_another_type(packet: &mut Packet<u64>, pool: &Mempool<u32>) -> Option<Packet<u32>> {
    packet.share(pool)
}

fn private_data_outlives_packet(packet: Packet<u64>) -> u64 {
    let private = *packet.private();
    drop(packet);
    private
}

fn private_data_mutable_twice(first: &mut Packet<u64>, second: &mut Packet<u64>) {
    let first = first.private_mut();
    let second = second.private_mut();
    core::mem::swap(first, second);
}

fn packet_error_ignored(packet: &mut Packet) -> Result<(), PacketError> {
    packet.trim(4)
}

struct Buffer(Vec<u8>, Arc<()>);

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

fn attached_buffer_borrows(pool: &Mempool) -> Packet {
    let bytes = [0; 60];
    Packet::attach(pool, bytes).map_err(|(error, _)| error).unwrap()
}

fn attached_buffer_not_send(pool: &Mempool, buffer: Buffer) -> bool {
    Packet::attach(pool, buffer).is_ok()
}

fn attached_buffer_kept(pool: &Mempool, buffer: Vec<u8>) -> usize {
    match Packet::attach(pool, buffer) {
        Ok(packet) => packet.len(),
        Err((_, buffer)) => buffer.len(),
    }
}

fn data_kept_over_split(packet: &mut Packet, pool: &Mempool) -> u8 {
    let rest = packet.split_off(14, pool).unwrap();
    rest.data()[6]
}

fn fragment_after_reassembly(table: &mut FragmentTable, packet: Packet, now: Tsc) -> usize {
    table.ipv4(packet, 14, now).map_or_else(|(_, packet)| packet.len(), |whole| whole.map_or(0, |whole| whole.len()))
}

fn packet_after_insert(reorder: &mut Reorder, packet: Packet) -> usize {
    reorder.insert(packet, 1).map_or_else(|(_, packet)| packet.len(), |()| reorder.len())
}

fn fragments_of_another_type(fragmenter: &Fragmenter<u64>, packet: &mut Packet) -> usize {
    let mut fragments = Burst::<u64, 32>::new();
    fragmenter.ipv4(packet, 14, 576, &mut fragments).unwrap()
}

fn packet_after_segmentation(segmenter: &Segmenter, packet: Packet, request: &TxRequest) -> usize {
    let mut segments = Burst::<(), 32>::new();
    let count = segmenter.segment(packet, request, &mut segments);
    count.map_or_else(|(_, packet)| packet.len(), |_| segments.iter().map(Packet::len).sum())
}

fn segments_kept_over_linearize(packet: &mut Packet) -> usize {
    packet.linearize().unwrap();
    packet.segments().count()
}
