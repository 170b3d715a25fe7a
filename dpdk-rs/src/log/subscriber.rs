// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! `tracing` events as lines of DPDK's log.

use super::{Level, LogType, events, is_enabled, write};
use core::{
    fmt::{self, Write as _},
    num::NonZeroU64,
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// A `tracing` subscriber that writes events to DPDK's log, for programs that log to DPDK's log: the message, then the
/// fields. The level of the log type filters them ([`set_level`](super::set_level)). Spans are ignored, and so are
/// events that come from DPDK's log itself.
///
/// ```no_run
/// use dpdk_rs::log::{LogSubscriber, LogType};
///
/// let (_eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// tracing::subscriber::set_global_default(LogSubscriber::new(LogType::User1))?;
/// tracing::warn!(port = 3, "the link is down"); // the link is down port=3
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LogSubscriber {
    log_type: LogType,
    spans: AtomicU64,
}

impl LogSubscriber {
    /// A subscriber that writes lines of this type.
    #[must_use]
    pub const fn new(log_type: LogType) -> Self {
        Self { log_type, spans: AtomicU64::new(1) }
    }
}

/// DPDK has no level below debug.
fn level(level: tracing::Level) -> Level {
    match level {
        tracing::Level::ERROR => Level::Error,
        tracing::Level::WARN => Level::Warning,
        tracing::Level::INFO => Level::Info,
        _ => Level::Debug,
    }
}

impl Subscriber for LogSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target() != events::TARGET
    }

    fn event_enabled(&self, event: &Event<'_>) -> bool {
        is_enabled(self.log_type, level(*event.metadata().level()))
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        write(self.log_type, level(*event.metadata().level()), &(line.message + &line.fields));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        let number = NonZeroU64::new(self.spans.fetch_add(1, Relaxed)).unwrap_or(NonZeroU64::MIN);
        span::Id::from_non_zero_u64(number)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
