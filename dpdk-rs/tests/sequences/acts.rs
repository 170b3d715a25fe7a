// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Carries out what any thread may do.

use crate::{
    context::Context,
    operation::{Act, Deed},
    packets::Change,
    shelf::{Hands, KINDS, Kind, with_kind},
};

impl Hands {
    /// Does it with the objects of one kind or, if there are none, with those of the next.
    pub(crate) fn act(&mut self, context: &Context, act: &Act) {
        let mut kinds = act.on..act.on + KINDS;
        if kinds.any(|kind| with_kind!(kind, P => self.deed::<P>(context, &act.deed)).is_some()) {
            context.done(&act.deed);
        }
    }

    /// Does what is to be done; `None` if there is no object to do it with.
    fn deed<P: Kind>(&mut self, context: &Context, deed: &Deed) -> Option<()> {
        let shelf = P::shelf(self);
        match *deed {
            Deed::CloneHandle { pool } => shelf.clone_handle(pool),
            Deed::EndHandle { pool, end } => shelf.end_handle(context, pool, end),
            Deed::Alloc { pool } => shelf.alloc(context, pool),
            Deed::Append { packet, len } => shelf.change(context, packet, Change::Append(len)),
            Deed::Prepend { packet, len } => shelf.change(context, packet, Change::Prepend(len)),
            Deed::Adj { packet, len } => shelf.change(context, packet, Change::Adj(len)),
            Deed::Trim { packet, len } => shelf.change(context, packet, Change::Trim(len)),
            Deed::Write { packet } => shelf.change(context, packet, Change::Write),
            Deed::WriteSegments { packet } => shelf.change(context, packet, Change::WriteSegments),
            Deed::WritePrivate { packet } => shelf.change(context, packet, Change::WritePrivate),
            Deed::Mark { packet, mark } => shelf.mark(packet, mark),
            Deed::Share { packet, to, pool } => with_kind!(to, Q => self.share::<P, Q>(context, packet, pool)),
            Deed::Copy { packet, to, pool } => with_kind!(to, Q => self.copy::<P, Q>(context, packet, pool)),
            Deed::Chain { packet, from, tail } => with_kind!(from, Q => self.chain::<P, Q>(packet, tail)),
            Deed::Split { packet, to, pool, at } => with_kind!(to, Q => self.split::<P, Q>(context, packet, pool, at)),
            Deed::Linearize { packet } => shelf.linearize(context, packet),
            Deed::Attach { pool, len } => shelf.attach(context, pool, len),
            Deed::EndPacket { packet, end } => shelf.end_packet(context, packet, end),
            Deed::Burst { capacity } => shelf.new_burst(capacity),
            Deed::AllocBulk { pool, burst, most } => shelf.alloc_bulk(context, pool, burst, most),
            Deed::Push { packet, burst } => shelf.push(packet, burst),
            Deed::Pop { burst } => shelf.pop(burst),
            Deed::SwapRemove { burst, index } => shelf.swap_remove(burst, index),
            Deed::Replace { packet, burst, index } => shelf.replace(packet, burst, index),
            Deed::Reverse { burst } => shelf.reverse(burst),
            Deed::Drain { burst, take, end } => shelf.drain(context, burst, take, end),
            Deed::Retain { burst, keep, grow, panic_at } => shelf.retain(context, burst, keep, grow, panic_at),
            Deed::Move { from, to } => shelf.append_burst(from, to),
            Deed::Clear { burst } => shelf.clear(burst),
            Deed::EndBurst { burst, end } => shelf.end_burst(context, burst, end),
            Deed::Rx { queue, burst, most } => shelf.rx(context, queue, burst, most),
            Deed::Tx { queue, burst } => shelf.tx(queue, burst),
            Deed::EndRx { queue, end } => shelf.end_rx(context, queue, end),
            Deed::EndTx { queue, end } => shelf.end_tx(context, queue, end),
            Deed::HandTx { queue, to } => with_kind!(to, Q => self.hand_tx::<P, Q>(queue)),
            Deed::StopRx { queue } => shelf.stop_rx(queue),
            Deed::StopTx { queue } => shelf.stop_tx(queue),
            Deed::StartRx { queue } => shelf.start_rx(queue),
            Deed::StartTx { queue } => shelf.start_tx(queue),
            Deed::EndStoppedRx { queue, end } => shelf.end_stopped_rx(context, queue, end),
            Deed::EndStoppedTx { queue, end } => shelf.end_stopped_tx(context, queue, end),
            Deed::Prepare(ref plan) => shelf.prepare(plan),
            Deed::Buffer { queue, capacity, burst, hours } => shelf.new_buffer(context, queue, capacity, burst, hours),
            Deed::BufferPush { buffer, packet } => shelf.buffer_push(buffer, packet),
            Deed::BufferAppend { buffer, burst } => shelf.buffer_append(buffer, burst),
            Deed::BufferFlush { buffer } => shelf.buffer_flush(buffer),
            Deed::BufferDrain { buffer } => shelf.buffer_drain(context, buffer),
            Deed::BufferIntoQueue { buffer } => shelf.buffer_into_queue(buffer),
            Deed::EndBuffer { buffer, end } => shelf.end_buffer(context, buffer, end),
            Deed::Configure(ref plan) => self.configure::<P>(plan),
            Deed::Start { port, to } => with_kind!(to, Q => self.start::<P, Q>(port)),
            Deed::StartStopped { port, to } => with_kind!(to, Q => self.start_stopped::<P, Q>(port)),
            Deed::Rule { port, ref rule } => shelf.rule(port, rule),
            Deed::Stop { port, queues } => self.stop::<P>(port, queues),
            Deed::SetMtu { port, mtu } => shelf.set_mtu(port, mtu),
            Deed::Look { port } => shelf.look(context, port),
            Deed::Ask { port, ref ask } => shelf.ask(context, port, ask),
            Deed::AskRx { queue, offset } => shelf.ask_rx(queue, offset),
            Deed::AskTx { queue, offset } => shelf.ask_tx(queue, offset),
            Deed::Reset { port } => self.reset::<P>(port),
            Deed::EndSelection { selection, end } => shelf.end_selection(context, selection, end),
            Deed::EndWatch { watch, end } => shelf.end_watch(context, watch, end),
            Deed::EndUnconfigured { port, end } => self.end_unconfigured(context, port, end),
            Deed::EndConfigured { port, end, close } => shelf.end_configured(context, port, end, close),
            Deed::EndStarted { port, end } => shelf.end_started(context, port, end),
        }
    }
}
